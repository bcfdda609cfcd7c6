"""Places that keep every element of a pipeline: calls, comprehensions, starred expressions, loops that append."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._elements import is_element
from tfmemlint_rules._materialized import iterated

from tfmemlint.api import Call, Dataset, File, Node, Value, dotted, once_per_file, walk, written
from tfmemlint.api import Iterator as Items

BUILDERS = (
    "builtins.list", "builtins.tuple", "builtins.sorted", "builtins.set", "builtins.dict",
    "collections.deque", "tensorflow_datasets.as_dataframe",
)  # fmt: skip
KEEPS = ("append", "extend")
LEAVES = (cst.Break, cst.Return, cst.Yield, cst.Del, cst.Raise)
"""Statements after which a loop may have kept only some of the elements."""

Comprehension = cst.ListComp | cst.GeneratorExp | cst.DictComp


def keeping(file: File) -> Iterator[tuple[Call | Node, Dataset]]:
    """All places of a file that keep every element of a pipeline, with the pipeline."""
    for call in file.calls(*BUILDERS):
        argument = call.arg(0)
        ds = iterated(argument.value) if argument is not None else None
        if ds is not None and not isinstance(argument and argument.expression, (cst.ListComp, cst.GeneratorExp)):
            yield call, ds
    generators = [node for node in file.tree.of(cst.GeneratorExp) if isinstance(_consumer(node, file), Call)]
    found: list[Comprehension] = [*file.tree.of(cst.ListComp), *file.tree.of(cst.DictComp), *generators]
    for node in found:
        kept = node.value if isinstance(node, cst.DictComp) else node.elt
        ds = _run_through(node.for_in, file)
        if ds is not None and is_element(kept, node.for_in.target, ds, _counted(node.for_in, file)):
            yield _consumer(node, file), ds
    for where, value in _starred(file):
        ds = iterated(value)
        if ds is not None:
            yield where, ds
    yield from _appended(file)


def _run_through(of: cst.CompFor, file: File) -> Dataset | None:
    """The pipeline whose elements a comprehension takes one by one, all of them."""
    return iterated(file.value(of.iter)) if of.inner_for_in is None else None


def _counted(loop: cst.For | cst.CompFor, file: File) -> bool:
    """Whether what a loop binds starts with a number."""
    value = file.value(loop.iter)
    return isinstance(value, Items) and value.function == "enumerate"


def _consumer(node: Node, file: File) -> Call | Node:
    """The call that takes a comprehension, or the comprehension itself."""
    above = file.tree.parent(node)
    outer = file.tree.parent(above) if isinstance(above, cst.Arg) else None
    if isinstance(outer, cst.Call):
        call = file.call(outer)
        if call.name in BUILDERS or (call.name or "").startswith(
            ("np.", "tf.stack", "tf.concat", "tf.convert_to_tensor")
        ):
            return call
    return node


def _starred(file: File) -> Iterator[tuple[Call | Node, Value]]:
    """`zip(*ds)`, `[*ds]`."""
    for call in file.calls("builtins.zip"):
        if len(call.node.args) == 1 and call.node.args[0].star == "*":
            yield call, file.value(call.node.args[0].value)
    for element in file.tree.of(cst.StarredElement):
        yield element, file.value(element.value)


def _appended(file: File) -> Iterator[tuple[Call, Dataset]]:
    """Calls of `append` or `extend` in a loop over a pipeline that give a list every element of it."""
    for word in KEEPS:
        for node in file.calls_by_word.get(word, ()):
            loop = file.contexts.loop(node)
            if not isinstance(node.func, cst.Attribute) or not isinstance(loop, cst.For) or len(node.args) != 1:
                continue
            value = file.contexts.iterated(loop)
            ds = iterated(value) if value is not None else None
            if ds is None or not _keeps_all(node, node.func.value, loop, file):
                continue
            kept = file.written(node.args[0].value)
            if is_element(kept, loop.target, ds, _counted(loop, file)) and _unchanged(kept, loop, file):
                yield file.call(node), ds


def _keeps_all(node: cst.Call, container: cst.BaseExpression, loop: cst.For, file: File) -> bool:
    """Whether the list is older than the loop, takes something in each iteration and loses nothing in between."""
    name = dotted(container)
    if name is None or file.contexts.conditional(node, loop):
        return False
    leaves, reads = _reads_of(file, loop)
    if leaves:
        return False
    above = (file.tree.parent(read) for read in reads.get(name, ()) if read is not container)
    return all(isinstance(attribute, cst.Attribute) and attribute.attr.value in KEEPS for attribute in above)


@once_per_file
def _reads_of(file: File, loop: cst.For) -> tuple[bool, dict[str, list[Node]]]:
    """Whether the body of a loop may leave it, and the names and dotted paths in it."""
    leaves, reads = False, dict[str, list[Node]]()
    for node in walk(loop.body):
        leaves = leaves or isinstance(node, LEAVES)
        if isinstance(node, (cst.Name, cst.Attribute)) and (path := dotted(node)) is not None:
            reads.setdefault(path, []).append(node)
    return leaves, reads


def _unchanged(kept: Node, loop: cst.For, file: File) -> bool:
    """Whether the names in what is kept still stand for what the loop bound them to."""
    for name in walk(kept):
        if isinstance(name, cst.Name):
            found = file.definitions(name)
            if any(file.tree.contains(loop.body, d.node) for d in written(found)):
                return False
    return True
