"""Places that keep every element of a pipeline: calls, comprehensions, starred expressions, loops that append."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.pipelines_seen import any_pipeline_seen
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Dataset, Function, Value
from tfmemlint.model.values import Iterator as Items
from tfmemlint.model.values.containers import COMPREHENSION
from tfmemlint.query.facts import Fact
from tfmemlint.query.flow.stores import is_container
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.pipelines.elements import is_element, unwrapped
from tfmemlint.query.pipelines.pipelines import PIPELINES
from tfmemlint.query.pipelines.small import run_through
from tfmemlint.syntax.names import names_any
from tfmemlint.syntax.scopes import Binds, dotted, written
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

BUILDERS = (
    "builtins.list", "builtins.tuple", "builtins.sorted", "builtins.set", "builtins.dict",
    "collections.deque", "tensorflow_datasets.as_dataframe",
)  # fmt: skip
"""What takes all that it is given to run through into one container."""

LISTS = ("list", "sorted", "tuple", COMPREHENSION)
"""What makes a list of all that it runs through."""

JOINERS = ("np.", "tf.stack", "tf.concat", "tf.convert_to_tensor")
"""Beginnings of the names of what makes one array of what a comprehension gives."""

KEEPS = ("append", "extend")

ASKS = ("builtins.input", "sys.stdin.readline")
ASKED_BY = tuple(name.rpartition(".")[2] for name in ASKS)
"""What waits for somebody to type something, and its last words."""

Comprehension = cst.ListComp | cst.GeneratorExp | cst.DictComp


class KeptElements(NamedTuple):
    """A place that keeps all elements of a pipeline: the call, comprehension or starred expression."""

    where: Call | Node
    dataset: Dataset
    part: cst.BaseExpression
    without: tuple[str, str] | str
    """What stands before and behind that part of it, or in its place, if the elements are made and none is kept."""


def _kept_elements(file: File) -> Iterator[KeptElements]:
    for find in (_built, _comprehended, _starred, _appended, _stored) if any_pipeline_seen(file) else ():
        yield from find(file)


kept_elements = Fact(_kept_elements, *PIPELINES)
"""Each place that certainly keeps every element of a pipeline, or the large part of each, at the same time; of several
pipelines that it may be, the smallest. Small ones count, too: see `is_small`."""


def shown_to_person(file: File, ds: Dataset) -> bool:
    """Whether a pipeline is the records of files as they are, in a program that asks a person at the keyboard what to
    do: a viewer of a file, which needs any of its records at any time."""
    asks = any(file.call(node).name in ASKS for word in ASKED_BY for node in file.calls_by_word.get(word, ()))
    return asks and not ds.steps and knowledge.in_group(ds.source, "reads_encoded_records")


def _taken(value: Value) -> Dataset | None:
    """The pipeline whose elements a value makes one by one; None for a list of them, which has them all already."""
    return None if any(map(_is_list, value.options)) else run_through(value)


def _is_list(value: Value) -> bool:
    if not isinstance(value, Items):
        return False
    return value.function in LISTS or any(map(_is_list, value.of.options))


def _built(file: File) -> Iterator[KeptElements]:
    for call in file.calls(*BUILDERS):
        argument = call.arg(0)
        if argument is None or isinstance(argument.expression, (cst.ListComp, cst.GeneratorExp)):
            continue
        ds = _taken(argument.value)
        if ds is not None:
            yield KeptElements(call, ds, argument.expression, ("(None for _ in ", ")"))


def _comprehended(file: File) -> Iterator[KeptElements]:
    lists: list[Comprehension] = [*file.tree.of(cst.ListComp), *file.tree.of(cst.DictComp)]
    taken = [(node, _taker(file, node)) for node in (*lists, *file.tree.of(cst.GeneratorExp))]
    for node, taker in taken:
        if isinstance(node, cst.GeneratorExp) and taker is node:
            continue
        kept = node.value if isinstance(node, cst.DictComp) else node.elt
        of = node.for_in
        ds = _taken(file.value(of.iter)) if of.inner_for_in is None else None
        if ds is not None and is_element(_given(file, kept), of.target, ds, counted=_counted(file, of)):
            yield KeptElements(taker, ds, kept, "None")


def _given(file: File, kept: cst.BaseExpression, left: int = FOLLOWED_CALLS) -> cst.BaseExpression:
    """The argument of which a function of the module certainly gives back all, copied, cast or scaled perhaps; what is
    kept itself where it is no such call."""
    inner = unwrapped(kept)
    call = file.call(inner) if isinstance(inner, cst.Call) and left else None
    target = call.target if call is not None else None
    if call is None or not isinstance(target, Function) or not isinstance(target.node, cst.FunctionDef):
        return kept
    returned = [each.value for each in file.returns(target.node)]
    if len(returned) != 1 or returned[0] is None:
        return kept
    whole = _given(file, unwrapped(file.written(unwrapped(returned[0]))), left - 1)
    made = file.only_definition(unwrapped(whole))
    argument = call.arg(made.name) if made is not None and made.binds is Binds.PARAMETER else None
    return _given(file, argument.expression, left - 1) if argument is not None else kept


def _counted(file: File, loop: cst.For | cst.CompFor) -> bool:
    """Whether what a loop binds starts with a number."""
    value = file.value(loop.iter)
    return isinstance(value, Items) and value.function == "enumerate"


def _taker(file: File, node: Comprehension) -> Call | Node:
    """The call that takes a comprehension, or the comprehension itself."""
    above = file.tree.parent(node)
    outer = file.tree.parent(above) if isinstance(above, cst.Arg) else None
    call = file.call(outer) if isinstance(outer, cst.Call) else None
    name = (call.name if call is not None else None) or ""
    return call if call is not None and (name in BUILDERS or name.startswith(JOINERS)) else node


def _starred(file: File) -> Iterator[KeptElements]:
    """`zip(*ds)`, `[*ds]`."""
    stars: list[tuple[Call | Node, cst.BaseExpression]] = [
        (call, call.node.args[0].value)
        for call in file.calls("builtins.zip")
        if len(call.node.args) == 1 and call.node.args[0].star == "*"
    ]
    stars += [(element, element.value) for element in file.tree.of(cst.StarredElement)]
    for where, expression in stars:
        ds = _taken(file.value(expression))
        if ds is not None:
            yield KeptElements(where, ds, expression, "()")


def _appended(file: File) -> Iterator[KeptElements]:
    """Calls of `append` or `extend` in a loop over a pipeline that give a list every element of it."""
    for node in (node for word in KEEPS for node in file.calls_by_word.get(word, ())):
        loop, called = file.contexts.loop(node), file.called(node)
        if not isinstance(called, cst.Attribute) or not isinstance(loop, cst.For) or len(node.args) != 1:
            continue
        ds = _taken(file.value(loop.iter))
        if ds is None or not _each_time(file, node, called.value, loop):
            continue
        kept, counted = file.written(node.args[0].value), _counted(file, loop)
        if is_element(_given(file, kept), loop.target, ds, counted=counted) and _unchanged(file, kept, loop):
            nothing = "None" if called.attr.value == "append" else "()"
            yield KeptElements(file.call(node), ds, node.args[0].value, nothing)


def _stored(file: File) -> Iterator[KeptElements]:
    """Assignments `table[key] = x` in a loop over a pipeline that give a dictionary or list every element of it."""
    for assign in file.tree.of(cst.Assign):
        target, loop = assign.targets[0].target, file.contexts.loop(assign)
        if not isinstance(target, cst.Subscript) or not isinstance(loop, cst.For) or len(assign.targets) != 1:
            continue
        items = {name.value for name in walk(loop.target, cst.Name)}
        if not any(names_any(index, items) for index in target.slice):
            continue
        ds = _taken(file.value(loop.iter))
        if ds is None or not is_container(file, target.value) or not _each_time(file, assign, target.value, loop):
            continue
        kept, counted = file.written(assign.value), _counted(file, loop)
        if is_element(_given(file, kept), loop.target, ds, counted=counted) and _unchanged(file, kept, loop):
            yield KeptElements(assign, ds, assign.value, "None")


def _each_time(file: File, node: Node, container: cst.BaseExpression, loop: cst.For) -> bool:
    """Whether the list is older than the loop, takes something in each iteration and loses nothing in between."""
    name = dotted(container)
    if name is None or file.contexts.conditional(node, loop):
        return False
    leaves, reads = _reads_of(file, loop)
    above = (file.tree.parent(read) for read in reads.get(name, ()) if read is not container)
    return not leaves and all(isinstance(each, cst.Attribute) and each.attr.value in KEEPS for each in above)


@once_per_file
def _reads_of(file: File, loop: cst.For) -> tuple[bool, dict[str, list[Node]]]:
    """Whether the body of a loop may leave it or lose an element, and the names and dotted paths in it."""
    leaves = any(walk(loop.body, cst.Break, cst.Return, cst.Yield, cst.Del, cst.Raise))
    reads = dict[str, list[Node]]()
    for node in walk(loop.body, cst.Name, cst.Attribute):
        if (path := dotted(node)) is not None:
            reads.setdefault(path, []).append(node)
    return leaves, reads


def _unchanged(file: File, kept: Node, loop: cst.For) -> bool:
    """Whether the names in what is kept still stand for what the loop bound them to."""
    found = (d for name in walk(kept, cst.Name) for d in written(file.definitions(name)))
    return not any(file.tree.contains(loop.body, d.node) for d in found)
