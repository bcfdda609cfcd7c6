"""Whether a loop goes over the data: each of its iterations computes something on the next batch or example."""

from __future__ import annotations

import re
from collections.abc import Iterator as Iterable
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.contexts import RUN_THROUGH
from tfmemlint.model.values import Array, Dataset, Iterator, Sequence, Value
from tfmemlint.syntax.tree import Node, called_word, walk

if TYPE_CHECKING:
    from tfmemlint.model.file import File

Iteration = cst.For | cst.While | cst.ListComp | cst.GeneratorExp
"""What may go over the data, in loops of training and evaluation."""

DATA_NAME = re.compile(r"(^|_)ds$|(dataset|datasets|loader|batches)$", re.IGNORECASE)
"""What people call data that they iterate, for what comes from other modules or is a parameter.

Of such a thing nothing else tells data from layers, time steps or the scales of one image: without the words, all
loops under a tape that give their items to a call would count, 41 findings more on 2800 files of real projects, of
solvers and tasks. The loop must still give what it iterates to a call.
"""

STEPS = frozenset({"take", "batch", "shuffle", "prefetch", "repeat", "skip", "map", "enumerate"})
"""Steps of a pipeline behind which its name stands."""

DRAWS = frozenset({"get_next", "__next__"})
PAIRS = frozenset({"builtins.zip", "builtins.enumerate"})


def batch_loops(file: File, code: Node) -> Iterable[Iteration]:
    """The loops and comprehensions in some code, in source order, that are `over_batches`."""
    for node in walk(code):
        if isinstance(node, Iteration) and over_batches(file, node):
            yield node


def over_batches(file: File, loop: Iteration) -> bool:
    """Whether each iteration computes something on a batch or example of its own.

    It runs over a pipeline, over a list of tensors with an axis for the examples or over something that is not known
    and called like data, and calls something on the item; or it draws from an iterator of a pipeline; or it counts and
    takes slices of a first axis (`x[i : i + n]`). False for loops over time steps or layers of one batch, for `while`
    loops that do none of this, and wherever the data is not seen.
    """
    if isinstance(loop, cst.While):
        return _draws(file, loop)
    if not isinstance(loop, cst.For):
        return _is_data(file, loop.for_in.iter) and _calls_on_items(loop, loop.elt, loop.for_in.target)
    if file.contexts.over_data(loop) or _is_data(file, loop.iter):
        return _calls_on_items(loop, loop.body, loop.target)
    return _takes_slices(loop) or _draws(file, loop)


def _is_data(file: File, over: cst.BaseExpression) -> bool:
    """Whether what is iterated is a pipeline, or called like one where it is unknown or a list of tensors."""
    if isinstance(over, cst.Call) and file.call(over).name in PAIRS:
        return any(_is_data(file, arg.value) for arg in over.args)
    value = file.value(over)
    tensors = _of_tensors(value)
    while isinstance(value, Iterator):
        value = value.of
    if all(isinstance(option, Dataset) for option in value.options):
        return True
    return (tensors or not value.known) and DATA_NAME.search(_called(over)) is not None


def _of_tensors(value: Value) -> bool:
    """Whether a list of tensors with an axis for the examples is iterated."""
    items: tuple[Value, ...] = (value.item,) if isinstance(value, Iterator) else getattr(value, "items", ())
    listed = isinstance(value, (Iterator, Sequence)) and bool(items)
    return listed and all(isinstance(item, Array) and len(item.shape or ()) > 1 for item in items)


def _called(over: cst.BaseExpression) -> str:
    """The name of what is iterated under `enumerate(...)`, `tqdm(...)` and steps such as `.take(10)`."""
    while isinstance(over, cst.Call):
        receiver = over.func.value if isinstance(over.func, cst.Attribute) else None
        if receiver is not None and called_word(over) in STEPS | RUN_THROUGH:
            over = receiver
        elif over.args:
            over = over.args[0].value
        else:
            return ""
    last = over.attr if isinstance(over, cst.Attribute) else over
    return last.value if isinstance(last, cst.Name) else ""


def _calls_on_items(loop: Iteration, body: Node, target: Node) -> bool:
    """Whether the body calls something on the items, or on what it makes of them."""
    made = _made_of(loop, target)
    arguments = (arg.value for call in walk(body, cst.Call) for arg in call.args)
    return any(_reads(argument, made) for argument in arguments)


def _takes_slices(loop: cst.For) -> bool:
    """Whether the body takes slices of a first axis between numbers that the loop counts: `x[i : i + batch]`."""
    counted = _made_of(loop, loop.target, plain=True) if isinstance(loop.target, cst.Name) else set()
    parts = (node.slice[0].slice for node in walk(loop.body, cst.Subscript) if node.slice)
    slices = [part for part in parts if isinstance(part, cst.Slice)]
    return any(_reads(part.lower, counted) and _reads(part.upper, counted) for part in slices)


def _draws(file: File, loop: cst.For | cst.While) -> bool:
    """Whether the body draws from an iterator of a pipeline: `next(iterator)`, `iterator.get_next()`."""
    drawn = (_drawn_from(file, call) for call in walk(loop.body, cst.Call))
    return any(source is not None and _iterates_data(file, source) for source in drawn)


def _drawn_from(file: File, call: cst.Call) -> cst.BaseExpression | None:
    if isinstance(call.func, cst.Attribute) and called_word(call) in DRAWS:
        return call.func.value
    return call.args[0].value if call.args and file.call(call).name == "builtins.next" else None


def _iterates_data(file: File, iterator: cst.BaseExpression) -> bool:
    value = file.value(iterator)
    if isinstance(value, Iterator) and all(isinstance(option, Dataset) for option in value.of.options):
        return True
    made = [d.value for d in file.definitions(iterator)] if isinstance(iterator, cst.Name) else [iterator]
    calls = [node for node in made if isinstance(node, cst.Call)]
    return any(file.call(node).name == "builtins.iter" and _is_data(file, node) for node in calls)


def _made_of(loop: Iteration, target: Node, *, plain: bool = False) -> set[str]:
    """The names of a loop's target and those that its body makes of them; `plain`: by arithmetic alone."""
    found = {n.value for n in walk(target, cst.Name)}
    for assign in walk(loop, cst.Assign):
        if not (plain and any(walk(assign.value, cst.Call))) and _reads(assign.value, found):
            found |= {n.value for to in assign.targets for n in walk(to.target, cst.Name)}
    return found


def _reads(code: Node | None, names: set[str]) -> bool:
    return code is not None and any(n.value in names for n in walk(code, cst.Name))
