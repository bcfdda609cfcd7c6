"""Questions that several tf.data rules ask about a pipeline."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Array, Call, Const, Dataset, File, Mapping, Node, Sequence, Step, elements


def earlier_steps(call: Call) -> tuple[tuple[Step, ...], ...] | None:
    """For each pipeline that this step may be applied to, the steps before it; None where any is not a pipeline."""
    datasets = call.datasets()
    return tuple(ds.steps for ds in datasets) if datasets else None


def last_before(call: Call, name: str) -> Step | None:
    """The last step called `name` before this one, if every pipeline that may arrive here has one."""
    found = None
    for steps in earlier_steps(call) or ((),):
        matching = [step for step in steps if step.name == name]
        if not matching:
            return None
        found = matching[-1]
    return found


def on_a_path(step: Step, call: Call, file: File) -> bool:
    """Whether some run surely comes from a step to a later call: what decides about the call decides about both.

    So it is where only the step stands under a condition (`if training: ds = ds.repeat()`), in the same function.
    """
    if step.call is None or file.contexts.function(step.call.node) is not file.contexts.function(call.node):
        return False
    below: Node = call.node
    for above in file.tree.ancestors(call.node):
        if isinstance(above, (cst.FunctionDef, cst.Lambda)):
            break
        if isinstance(above, (cst.If, cst.IfExp, cst.Try, cst.Match)) and not file.tree.contains(below, step.call.node):
            return False
        below = above
    return True


def steps_between(call: Call, earlier: Step) -> list[Step]:
    """The steps between `earlier` and this call, over all pipelines."""
    found: list[Step] = []
    for steps in earlier_steps(call) or ():
        positions = [i for i, step in enumerate(steps) if step == earlier]
        if positions:
            found += [step for step in steps[positions[-1] + 1 :] if step not in found]
    return found


def pipelines(call: Call, *parameters: str | int) -> Iterator[Dataset]:
    """The pipelines that an argument of a call may be; nothing if any alternative is something else."""
    for parameter in parameters:
        argument = call.arg(parameter)
        if argument is not None:
            options = argument.value.options
            if all(isinstance(option, Dataset) for option in options):
                yield from (option for option in options if isinstance(option, Dataset))
            return


def in_memory(cache: Call) -> bool:
    """Whether a `cache` call certainly keeps the elements in memory, not in a file."""
    return not cache.open and (cache.arg("filename") is None or cache.value_of("filename") == Const(""))


def reshuffles(shuffle: Step) -> bool:
    """Whether a `shuffle` draws anew in each epoch, which it does unless it is told not to."""
    return (
        shuffle.call is not None
        and not shuffle.call.open
        and shuffle.call.given("reshuffle_each_iteration") != Const(False)
    )


def makes_sequences(batch: Step, after: tuple[Step, ...]) -> bool:
    """Whether a `batch` may make examples rather than batches of them: sequences of numbers, characters or records.

    It may where full groups are asked for or a map follows, unless the elements are known to be pairs or arrays of
    their own. Rows of numbers in full groups are sequences, single numbers in groups that nothing takes apart are not.
    """
    if batch.call is None:
        return True
    full = batch.call.arg("drop_remainder") is not None and batch.call.value_of("drop_remainder") != Const(False)
    mapped = any(step.name in ("map", "filter") for step in after)
    datasets = batch.call.datasets()
    leaves = [leaf for ds in datasets for leaf in elements(ds.element)]
    if len(leaves) == 1 and isinstance(leaves[0], Array) and leaves[0].shape == ():
        return full or mapped
    if all(isinstance(ds.element, (Sequence, Mapping)) for ds in datasets):
        return False
    shapes = [leaf.shape for leaf in leaves if isinstance(leaf, Array) and leaf.shape]
    if full and len(shapes) == len(leaves) == 1 and len(shapes[0]) == 1:
        return True
    known = bool(leaves) and len(shapes) == len(leaves)
    return not known and (full or mapped)
