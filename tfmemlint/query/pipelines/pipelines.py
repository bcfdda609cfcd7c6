"""What a tf.data pipeline is known to be: batched, drawn at random, in memory; which steps it took, what it weighs.

A pipeline that is not seen from its beginning (`source` is None) has no certain past: that a step is not among its
steps proves nothing. Questions that are answered with None know nothing of the pipeline.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.axes import has_scalar_part, may_group
from tfmemlint.model.mapped import body
from tfmemlint.model.transfer.datasets import inner_pipelines
from tfmemlint.model.transfer.table import elements, structure_bytes
from tfmemlint.model.values import Api, Array, Const, Dataset, Step, Value, integer
from tfmemlint.query.limits import FEW_BATCHES
from tfmemlint.syntax.scopes import FUNCTIONS
from tfmemlint.units import AtLeast

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

PIPELINES = ("tf.data.", "tensorflow_datasets", *sorted(knowledge.group("gives_batches")))
"""What no file lacks that holds a pipeline: the APIs that make one and its methods; for `Fact`."""

BATCHES = frozenset({"batch", "padded_batch", "ragged_batch"})
"""Steps that put a number of elements together into one."""

BATCHING = BATCHES | {"sparse_batch", "bucket_by_sequence_length", "group_by_window"}
"""Steps after which an element is a batch, whatever it was before."""

REGROUPING = frozenset({
    "unbatch", "window", "flat_map", "interleave", "apply", "scan", "rebatch", "group_by_window",
    "bucket_by_sequence_length",
})  # fmt: skip
"""Steps after which the elements are others than before: parts of them, several of them, or what is not seen."""

OPAQUE = frozenset({"apply", "flat_map", "interleave", "window", "scan", "rebatch"})
MAPPING = frozenset({"map", "interleave", "flat_map", "apply"})
"""Steps that make something else of each element by a function."""


# -- steps -----------------------------------------------------------------------------------------------------------


def pipelines_of(value: Value) -> tuple[Dataset, ...]:
    """The pipelines that a value may be; none if any alternative is something else."""
    found = tuple(option for option in value.options if isinstance(option, Dataset))
    return found if len(found) == len(value.options) else ()


def last_before(call: Call, *names: str) -> Step | None:
    """The last step of one of these names before a call of a pipeline's method, if every pipeline that may arrive
    there has one."""
    found = None
    for ds in call.datasets():
        found = next((step for step in reversed(ds.steps) if step.name in names), None)
        if found is None:
            return None
    return found


def surely_before(file: File, call: Call, *names: str) -> Step | None:
    """The last step of one of these names that some run surely takes before a call of a pipeline's method: one that
    every pipeline has which may arrive there, or one under a condition that does not decide about the call."""
    steps = [step for ds in call.datasets() for step in ds.steps if step.name in names]
    sometimes = (step for step in reversed(steps) if surely_together(file, step, call))
    return last_before(call, *names) or next(sometimes, None)


def steps_between(call: Call, earlier: Step | None) -> list[Step]:
    """The steps from `earlier` (None: from the source) to a call of a pipeline's method, both left out, over all
    pipelines that may arrive there; those without the earlier step have none."""
    found: dict[Step, None] = {}
    for ds in call.datasets():
        places = [i for i, step in enumerate(ds.steps) if step == earlier] if earlier is not None else [-1]
        found.update(dict.fromkeys(ds.steps[places[-1] + 1 :] if places else ()))
    return list(found)


def surely_together(file: File, step: Step, call: Call) -> bool:
    """Whether some run surely comes from a step to a later call: what decides about the call decides about both.

    So it is where only the step stands under a condition (`if training: ds = ds.repeat()`), in the same function. False
    where that is not seen.
    """
    if step.call is None or file.contexts.function(step.call.node) is not file.contexts.function(call.node):
        return False
    below: Node = call.node
    for above in file.tree.ancestors(call.node):
        if isinstance(above, FUNCTIONS):
            break
        if isinstance(above, (cst.If, cst.IfExp, cst.Try, cst.Match)) and not file.tree.contains(below, step.call.node):
            return False
        below = above
    return True


def caches_in_memory(cache: Call) -> bool:
    """Whether a `cache` certainly keeps the elements in memory, not in a file."""
    return not cache.open and (cache.arg("filename") is None or cache.value_of("filename") == Const(""))


def reshuffles(shuffle: Step) -> bool:
    """Whether a `shuffle` draws anew in each epoch, which it does unless it is told not to; False if it is not seen."""
    call = shuffle.call
    return call is not None and not call.open and call.given("reshuffle_each_iteration") != Const(False)


def buffers_few(prefetch: Call) -> bool:
    """Whether a `prefetch` certainly keeps few elements ready, so that they may be batches as well: it leaves their
    number to TensorFlow, or says a small one."""
    size = prefetch.value_of("buffer_size")
    count = integer(size)
    return size == Api("tf.data.AUTOTUNE") or (count is not None and count <= FEW_BATCHES)


# -- batches ---------------------------------------------------------------------------------------------------------


def batched(ds: Dataset) -> bool | None:
    """Whether the elements are batches; None where it cannot be known."""
    state = batched_source(ds)
    for step in ds.steps:
        if step.name in BATCHING:
            state = True
        elif step.name == "unbatch":
            state = False
        elif step.name in ("interleave", "flat_map"):
            state = _batched_inside(step)
        elif step.name in OPAQUE or (step.name == "map" and state is not True and may_group(step)):
            state = None
    return state


def batched_source(ds: Dataset) -> bool | None:
    """Whether the source itself gives batches; None where it cannot be known."""
    call = ds.call
    if knowledge.in_group(ds.source, "gives_batches"):
        if call is None or call.open:
            return None
        return not (call.arg("batch_size") is not None and call.value_of("batch_size") == Const(None))
    if ds.source == "tensorflow_datasets.load" and call is not None:
        size = call.arg("batch_size")
        return None if call.open else not (size is None or size.value == Const(None))
    if ds.source == "tf.data.Dataset.from_tensor_slices" and call is not None and _grouped(made_by_source(ds).element):
        return None
    if knowledge.in_group(ds.source, "gives_single_elements"):
        return False
    if ds.source == "tf.data.Dataset.from_generator" and call is not None:
        return False if has_scalar_part(made_by_source(ds).element) else None
    if ds.parents:
        states = {batched(p) if isinstance(p, Dataset) else None for p in ds.parents}
        return states.pop() if len(states) == 1 else None
    return None


def batched_before(call: Call) -> Call | None:
    """The call that makes the batches which a pipeline's method is certainly given: a step, or the source.

    None also where an element is not certainly one of these batches any more.
    """
    step = last_before(call, *BATCHES)
    datasets = call.datasets()
    if any(between.name in REGROUPING for between in steps_between(call, step)):
        return None
    if step is not None:
        return step.call
    return datasets[0].call if datasets and all(batched_source(ds) for ds in datasets) else None


def made_by_source(ds: Dataset) -> Dataset:
    """The pipeline as its source made it, before any step."""
    made = ds.call.value if ds.call is not None else ds
    return made if isinstance(made, Dataset) else ds


def _grouped(element: Value) -> bool:
    """Whether all parts of an element may be batches already: first axes of one length, with other axes that differ."""
    shapes = [leaf.shape if isinstance(leaf, Array) else None for leaf in elements(element)]
    known = [shape for shape in shapes if shape]
    if len(known) != len(shapes) or not known:
        return False
    if len(known) == 1:
        return known[0][0] == 1
    return len({shape[0] for shape in known}) == 1 and (known[0][0] == 1 or len({len(shape) for shape in known}) > 1)


def _batched_inside(step: Step) -> bool | None:
    """Whether the pipelines that an `interleave` or `flat_map` makes give batches."""
    if step.call is None:
        return None
    made = [one for ds in step.call.datasets() for one in inner_pipelines(step.call, ds.element)]
    states = {batched(one) for one in made}
    return states.pop() if len(states) == 1 else None


# -- what is drawn, what is read -------------------------------------------------------------------------------------


def draws_at_random(step: Step) -> bool | None:
    """Whether a step gives other elements each time it runs; None where its function is not seen."""
    if step.name == "shuffle":
        return True
    if step.name not in MAPPING | {"filter", "scan", "take_while", "group_by_window"}:
        return False
    found = body(step)
    return True if found.random else None if found.unseen or found.does("runs_python") else False


def source_draws(ds: Dataset) -> bool | None:
    """Whether the source gives another order or other elements each time it is run through; None if not known."""
    if ds.parents:
        drawn = [
            source_draws(p) or any(draws_at_random(s) for s in p.steps) for p in ds.parents if isinstance(p, Dataset)
        ]
        return True if any(drawn) or (ds.source or "").endswith("sample_from_datasets") else None
    if knowledge.in_group(ds.source, "lists_files") and ds.call is not None:
        return ds.call.open or ds.call.value_of("shuffle") != Const(False)
    in_order = any(knowledge.in_group(ds.source, group) for group in ("reads_records", "slices_memory"))
    return False if in_order else None


def reads_files(ds: Dataset) -> bool:
    """Whether the pipeline begins with files or their names; False where its source is not seen."""
    return any(knowledge.in_group(ds.source, group) for group in ("lists_files", "reads_records"))


def decoded_from_files(ds: Dataset) -> bool:
    """Whether the elements are certainly made of what files hold, decoded."""
    if knowledge.in_group(ds.source, "reads_folder"):
        return True
    bodies = [body(step) for step in ds.steps if step.name in ("map", "interleave", "flat_map")]
    if knowledge.in_group(ds.source, "reads_records") or any(found.reads for found in bodies):
        return any(found.decodes for found in bodies)
    return ds.source == "tensorflow_datasets.load"


# -- what it weighs --------------------------------------------------------------------------------------------------


def element_bytes(datasets: Iterable[Dataset]) -> int | None:
    """Bytes of one element, where they are known and the same in all of these pipelines; `AtLeast` where parts of it
    are not known."""
    return _same(structure_bytes(ds.element) for ds in datasets)


def element_count(datasets: Iterable[Dataset]) -> int | None:
    """The number of elements, where it is known and the same in all of these pipelines."""
    return _same(ds.count for ds in datasets)


def weight(ds: Dataset) -> int | None:
    """Bytes of all elements together, where their number and size are known; `AtLeast` as in `element_bytes`."""
    size = structure_bytes(ds.element)
    return size * ds.count if size is not None and ds.count is not None else None


def all_bytes(datasets: Iterable[Dataset]) -> int | None:
    """Bytes of all elements together, where they are known and the same in all of these pipelines; `AtLeast` where
    parts of an element are not known."""
    return _same(weight(ds) for ds in datasets)


def _same(numbers: Iterable[int | None]) -> int | None:
    found = list(numbers)
    if len(set(found)) != 1:
        return None
    return next((number for number in found if isinstance(number, AtLeast)), found[0])
