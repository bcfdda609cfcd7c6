"""Lists of arrays that are read one by one and made into one array."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Const, Function
from tfmemlint.query.facts import Fact
from tfmemlint.query.limits import FEW_ROWS, FEW_STEPS, ONE_BATCH
from tfmemlint.query.repetition.repeats import Repetition, repeats, repetitions
from tfmemlint.query.tensors.read_arrays import ReadArray, read_array
from tfmemlint.query.tensors.taken_whole import taken_whole
from tfmemlint.syntax.scopes import Binds, Definition, dotted, written
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

FOLLOWED_STEPS = 12
"""Names, loops and functions behind each other through which a list is followed."""

JOINS = frozenset({"np.array", "np.asarray", "np.stack", "np.vstack", "np.concatenate", "tf.stack", "np.float32"})
"""What makes one array of a list of arrays."""


@dataclass(frozen=True, slots=True)
class Collected:
    """An array that a call makes of a list of arrays, each read from a file of its own, which goes to a model or a
    pipeline as a whole: what is known of one, what puts it into the list, how often, where the array goes, and the
    floats that it is made of on the way, if it is."""

    array: Call
    each: ReadArray
    put: Node
    repetition: Repetition
    taker: Call
    floats: str | None


@dataclass(frozen=True, slots=True)
class _Item:
    """What is put into a list, and the code that does it."""

    node: cst.BaseExpression
    put: Node


def _collected(file: File) -> Iterator[Collected]:
    if not any(file.calls(*knowledge.group("reads_array"))):
        return
    seen: set[Node] = set()
    makers = (call for name in JOINS for call in file.calls(name))
    for call in sorted(makers, key=lambda call: file.tree.order(call.node)):
        found = _of_list(file, call)
        if found is None or found[1].place in seen or _in_parts(file, call):
            continue
        item, repetition, each = found
        end = taken_whole(file, call)
        if end is not None:
            seen.add(repetition.place)
            taker, floats = end
            yield Collected(call, each, item.put, repetition, taker, floats or (each.dtype if each.floats else None))


collected_arrays = Fact(_collected, *sorted(JOINS))
"""Each array that is made of a list of arrays read from files one by one, many of them, and goes to a model or a
pipeline as a whole; of several that one loop fills, the first. Lists that are made batch by batch are left out."""


def _of_list(file: File, call: Call) -> tuple[_Item, Repetition, ReadArray] | None:
    """What is put into the list given to a call, what repeats that, and what is read there."""
    if not call.node.args or call.node.args[0].star:
        return None
    for item in _items(file, call.node.args[0].value, _Search()):
        around = (each for each in repetitions(file, item.put) if not each.handler)
        many = (r for r in around if not file.tree.contains(r.place, call.node) and not _few(file, r))
        repetition = next(many, None)
        each = read_array(file, item.node) if repetition is not None else None
        if repetition is not None and each is not None:
            return item, repetition, each
    return None


def _few(file: File, repetition: Repetition) -> bool:
    """Whether it runs over a handful of files, or over a constant slice of the names."""
    cuts = (cut.upper for each in repetition.each for cut in walk(each.iter, cst.Slice) if cut.upper is not None)
    bounds = [file.value(upper) for upper in cuts]
    sample = any(isinstance(b, Const) and isinstance(b.value, int) and 0 < b.value < FEW_ROWS for b in bounds)
    return sample or repetition.few(ONE_BATCH)


def _in_parts(file: File, call: Call) -> bool:
    """Whether the array holds one batch of many: it is made again and again, or yielded."""
    function = file.contexts.function(call.node)
    return repeats(file, call.node, beyond=FEW_STEPS) is not None or (function is not None and file.yields(function))


# -- what is in a list -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Search:
    """How far a list is followed: the steps that are left, and what was looked at."""

    left: int = FOLLOWED_STEPS
    seen: set[tuple[Node, tuple[int, ...]]] = field(default_factory=set)

    def further(self) -> _Search:
        return _Search(self.left - 1, self.seen)

    def ends(self, node: Node, path: tuple[int, ...]) -> bool:
        """Whether no step is left, or a place is seen again."""
        again = (node, path) in self.seen
        self.seen.add((node, path))
        return again or self.left <= 0


def _items(file: File, node: cst.BaseExpression, search: _Search, path: tuple[int, ...] = ()) -> Iterator[_Item]:
    """What is put into a list, one by one; at `path` of a tuple that the expression gives."""
    if search.ends(node, path):
        return
    search = search.further()
    if isinstance(node, (cst.Tuple, cst.List)) and path and path[0] < len(node.elements):
        yield from _items(file, node.elements[path[0]].value, search, path[1:])
    elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        yield from _items(file, node.left, search, path)
        yield from _items(file, node.right, search, path)
    elif isinstance(node, (cst.ListComp, cst.GeneratorExp)):
        yield from _parts(file, _Item(node.elt, node.elt), search, path)
    elif isinstance(node, cst.Call):
        yield from _of_call(file, file.call(node), search, path)
    elif isinstance(node, (cst.Name, cst.Attribute)):
        for item in _appended(file, node, search):
            yield from _parts(file, item, search, path)
        for found in written(file.definitions(node)):
            yield from _of_definition(file, found, search, path)


def _parts(file: File, item: _Item, search: _Search, path: tuple[int, ...]) -> Iterator[_Item]:
    """The item, or what stands in it at `path`; an item that a loop takes from another list is what is put there."""
    node = item.node
    if path and isinstance(node, (cst.Tuple, cst.List)) and path[0] < len(node.elements):
        yield from _parts(file, _Item(node.elements[path[0]].value, item.put), search, path[1:])
        return
    yield item
    found = written(file.definitions(node)) if isinstance(node, cst.Name) else []
    for each in found:
        if each.binds is Binds.ITEM and isinstance(each.value, cst.BaseExpression):
            where = tuple(at for at in each.path if isinstance(at, int))
            for inner in _items(file, each.value, search):
                yield from _parts(file, inner, search, where)


def _of_definition(file: File, found: Definition, search: _Search, path: tuple[int, ...]) -> Iterator[_Item]:
    if found.binds is Binds.VALUE and isinstance(found.value, cst.BaseExpression):
        where = tuple(at for at in found.path if isinstance(at, int))
        yield from _items(file, found.value, search, (*where, *path))
    elif found.binds is Binds.PARAMETER:
        home = file.contexts.function(found.node) or found.scope
        passed = (call.arg(found.name) for call in file.call_graph.callers(home) or ())
        for argument in passed:
            if argument is not None:
                yield from _items(file, argument.expression, search, path)


def _of_call(file: File, call: Call, search: _Search, path: tuple[int, ...]) -> Iterator[_Item]:
    """What is in the list that `list(map(f, names))`, or a function of the module, gives."""
    args = call.node.args
    if call.name in ("builtins.list", "builtins.tuple") and args:
        yield from _items(file, args[0].value, search, path)
    elif call.name == "builtins.map" and len(args) == 2:
        function = call.value_of(0)
        if isinstance(function, Function):
            yield from (_Item(given, given) for given in _gives(file, function))
    elif isinstance(call.target, Function):
        for given in _gives(file, call.target):
            yield from _items(file, given, search, path)


def _gives(file: File, function: Function) -> list[cst.BaseExpression]:
    if not isinstance(function.node, cst.FunctionDef):
        return [function.node.body] if isinstance(function.node, cst.Lambda) else []
    return [] if file.yields(function.node) else [r.value for r in file.returns(function.node) if r.value is not None]


def _appended(file: File, container: cst.BaseExpression, search: _Search) -> Iterator[_Item]:
    """What `append`, `extend` and `+=` put into the list of a name or attribute."""
    path = dotted(container)
    made = set(written(file.definitions(container))) if isinstance(container, cst.Name) else set()
    for word in ("append", "extend"):
        for node in file.method_calls.get((word, path), ()):
            target = node.func.value if isinstance(node.func, cst.Attribute) else None
            bound = set(written(file.definitions(target))) if target is not None else set()
            # A function that only fills a list of the module binds no such name itself.
            same = isinstance(container, cst.Attribute) or not bound or not made.isdisjoint(bound)
            if same and len(node.args) == 1:
                yield from _put(file, word, node.args[0].value, node, search)
    for found in made:
        if isinstance(found.value, cst.AugAssign):
            yield from _put(file, "extend", found.value.value, found.value, search)


def _put(file: File, word: str, given: cst.BaseExpression, put: Node, search: _Search) -> Iterator[_Item]:
    if word == "append":
        yield _Item(given, put)
    elif isinstance(given, (cst.List, cst.Tuple)):
        yield from (_Item(each.value, put) for each in given.elements)
    else:
        yield from _items(file, given, search)
