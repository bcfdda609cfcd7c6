"""Iterators of pipelines that are made again for each element that is taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from tfmemlint.model.values import Dataset, Function
from tfmemlint.query.calls import calls
from tfmemlint.query.facts import Fact
from tfmemlint.query.limits import FEW_STEPS, FOLLOWED_CALLS
from tfmemlint.query.pipelines.consumers import taker
from tfmemlint.query.pipelines.pipelines import pipelines_of
from tfmemlint.query.pipelines.small import is_small
from tfmemlint.query.repetition.batches import over_batches
from tfmemlint.query.repetition.invariance import unchanging
from tfmemlint.query.repetition.repeats import Repetition, repetitions
from tfmemlint.syntax.scopes import own_nodes
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

ITERATORS = ("builtins.iter", "tf.data.Dataset.as_numpy_iterator")

DRAWS = frozenset({"next", "get_next", "__next__"})
"""Methods of iterators that give the next element."""

WHOLE_RUNS = frozenset({"fit", "fit_generator", "evaluate", "predict"})
"""Methods of models that go through all of the data: what calls them is an epoch, not a step."""


class IteratorPerStep(NamedTuple):
    """An iterator that is made for each step: `made` is the call, `source` gives the `datasets` that it iterates, and
    `place` is the loop or comprehension."""

    made: Call
    source: cst.BaseExpression
    place: Node
    datasets: tuple[Dataset, ...]


def _per_step(file: File) -> Iterator[IteratorPerStep]:
    for made in file.calls(*ITERATORS):
        source = made.receiver_node if made.method == "as_numpy_iterator" else _first(made)
        datasets = pipelines_of(file.value(source)) if source is not None else ()
        draw = _draw(file, made.node) if datasets else None
        if source is None or draw is None or file.contexts.traced(made.node):
            continue
        if all(is_small(ds, peeks=False) for ds in datasets):
            continue
        found = next(repetitions(file, made.node, calls=1), None)
        if found is not None and _each_time(file, found) and _same(file, found, source) and _steps(file, found, draw):
            yield IteratorPerStep(made, source, found.place, datasets)


iterators_per_step = Fact(_per_step, "iter", "as_numpy_iterator")
"""Each iterator of a pipeline that certainly is made anew for each step of a loop, which takes its first element; not
those of epochs, of few steps, of small data, and of steps that a condition chooses."""


def _first(call: Call) -> cst.BaseExpression | None:
    return call.node.args[0].value if len(call.node.args) == 1 else None


def _draw(file: File, made: cst.Call) -> cst.Call | None:
    """The `next(...)` that takes an element of an iterator, where nothing else is done with it."""
    used: list[Node] = [made]
    above = file.tree.parent(made)
    target = above.targets[0].target if isinstance(above, cst.Assign) and len(above.targets) == 1 else None
    if isinstance(target, cst.Name):
        definition = file.definition(target)
        used = list(file.readers(definition)) if definition is not None else []
    drawn = [_next_of(file, use) for use in used]
    same = [call for call in drawn if call is not None and _innermost(file, call) is _innermost(file, made)]
    return same[0] if same and len(same) == len(used) else None


def _next_of(file: File, use: Node) -> cst.Call | None:
    """The call of `next(iterator)`, `iterator.next()` or `iterator.get_next()`."""
    argument = file.tree.parent(use)
    if isinstance(argument, cst.Attribute) and argument.attr.value in DRAWS:
        drawn = file.tree.parent(argument)
        return drawn if isinstance(drawn, cst.Call) and drawn.func is argument else None
    call = file.tree.parent(argument) if isinstance(argument, cst.Arg) else None
    return call if isinstance(call, cst.Call) and file.call(call).name == "builtins.next" else None


def _innermost(file: File, node: Node) -> Node | None:
    """The loop that runs a node again, or its function."""
    return file.contexts.loop(node) or file.contexts.function(node)


def _each_time(file: File, found: Repetition) -> bool:
    """Whether each of many iterations makes the iterator, whatever the data."""
    if found.handler or isinstance(found.place, cst.Call) or found.few(FEW_STEPS):
        return False
    return not any(file.contexts.conditional(node, within) for node, within in found.levels)


def _same(file: File, found: Repetition, source: cst.BaseExpression) -> bool:
    """Whether it is the same pipeline each time."""
    if isinstance(found.place, cst.BaseComp):
        return not any(isinstance(n, cst.Name) and n.value in found.items for n in walk(source, cst.Name))
    within = found.place if not found.calls else file.contexts.function(source)
    return isinstance(within, (cst.For, cst.While, cst.FunctionDef)) and unchanging(file, [source], within)


def _steps(file: File, found: Repetition, draw: cst.Call) -> bool:
    """Whether the iterations are steps: of a comprehension, over batches, or each trains a model on what is drawn."""
    if isinstance(found.place, cst.BaseComp) or found.over_data:
        return True
    code: Node | None = found.place if not found.calls else file.contexts.function(draw)
    if found.calls and isinstance(file.tree.parent(draw), cst.Return) and isinstance(found.inside, cst.Call):
        code, draw = found.place, found.inside  # the function only hands it on
    if not isinstance(code, (cst.For, cst.While, cst.FunctionDef)) or taker(file, code.body, draw) is None:
        return False
    inside = list(calls(file, code.body, through=FOLLOWED_CALLS))
    trains = any("tf.GradientTape" in call.names or call.method == "train_on_batch" for call in inside)
    return trains and not _is_epoch(file, code, inside)


def _is_epoch(file: File, code: cst.For | cst.While | cst.FunctionDef, inside: list[Call]) -> bool:
    """Whether code goes through data in loops of its own, or in functions of the module that it calls."""
    if any(call.method in WHOLE_RUNS for call in inside):
        return True
    functions = [target.node for call in inside for target in call.target.options if isinstance(target, Function)]
    own = [loop for function in functions for loop in own_nodes(function, cst.For, cst.While)]
    return any(over_batches(file, loop) for loop in (*own, *walk(code.body, cst.For, cst.While)))
