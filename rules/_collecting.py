"""Names that a loop adds parts to: `acc = concat([acc, part])`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tfmemlint.api import Array, Call, Const, File, Node, dotted, integer, walk

MAKES = frozenset({"tf.constant", "tf.convert_to_tensor", "tf.Variable", "np.array", "np.asarray", "tf.cast"})


@dataclass(frozen=True, slots=True)
class Collected:
    """What is collected: its name, the parts that are added, and the statement that does it."""

    name: str
    others: tuple[cst.BaseExpression, ...]
    assign: cst.Assign

    def reads(self, node: Node) -> set[str]:
        return {n.value for n in walk(node) if isinstance(n, cst.Name)}

    def starts_empty(self, loop: cst.For | cst.While, file: File) -> bool:
        """Whether what is collected is an empty tensor or list before the loop."""
        known = file.flow(file.scope_of(loop)).at(loop).get(self.name, ())
        values = [d.value for d in known if not d.path]
        if not values and "." in self.name:
            values = [
                a.value for a in file.tree.of(cst.Assign) if any(dotted(t.target) == self.name for t in a.targets)
            ]
            values = [v for v in values if v is not self.assign.value]
        return bool(values) and all(isinstance(v, cst.BaseExpression) and _empty(v, file) for v in values)

    def starts_as_none(self, loop: cst.For | cst.While, file: File) -> bool:
        """Whether there is nothing of what is collected before the loop."""
        known = file.flow(file.scope_of(loop)).at(loop).get(self.name, ())
        return bool(known) and all(d.value is not None and file.value(d.value) == Const(None) for d in known)


def collected(concat: Call, file: File) -> Collected | None:
    """What a call that joins tensors adds to, where its result becomes one of them again."""
    value: Node = concat.node
    above = file.tree.parent(value)
    if isinstance(above, cst.IfExp):
        value, above = above, file.tree.parent(above)
    position = None
    if isinstance(above, cst.Element):
        row = file.tree.parent(above)
        position = row.elements.index(above) if isinstance(row, cst.Tuple) else None
        above = file.tree.parent(row) if row is not None and position is not None else None
    if not isinstance(above, cst.Assign) or len(above.targets) != 1:
        return None
    target: Node = above.targets[0].target
    if position is not None:
        if not isinstance(target, cst.Tuple) or position >= len(target.elements):
            return None
        target = target.elements[position].value
    name, parts = dotted(target), _parts(concat)
    if name is None or parts is None:
        return None
    others = tuple(part for part in parts if dotted(part) != name)
    if not others or len(others) == len(parts) or any(reads_of(part, name, file) for part in others):
        return None
    return Collected(name, others, above)


def _parts(concat: Call) -> list[cst.BaseExpression] | None:
    arguments = [
        a.value
        for a in concat.node.args
        if a.keyword is None or a.keyword.value in ("values", "arrays", "tup", "arr", "xs", "x1", "x2")
    ]
    if concat.method == "append":
        return arguments[:2]
    first = arguments[0] if arguments else None
    return [e.value for e in first.elements] if isinstance(first, (cst.List, cst.Tuple)) else None


def reads_of(node: Node, name: str, file: File) -> list[Node]:
    """The places where an expression names this, read or written."""
    return list(_named(node, name, file))


def _named(node: Node, name: str, file: File) -> Iterator[Node]:
    for n in walk(node):
        if isinstance(n, (cst.Name, cst.Attribute, cst.Subscript)) and dotted(n) == name:
            parent = file.tree.parent(n)
            if isinstance(parent, cst.Attribute) and parent.attr is n:
                continue
            if not (isinstance(parent, cst.Arg) and parent.keyword is n):
                yield n


def _empty(node: cst.BaseExpression, file: File) -> bool:
    """Whether an expression makes a tensor or list with nothing in it."""
    value = file.value(node)
    if isinstance(value, Array) and value.shape is not None:
        return 0 in value.shape
    if isinstance(node, cst.Call):
        call = file.call(node)
        if call.name in MAKES and node.args:
            return _empty(node.args[0].value, file)
        given = call.arg("shape")
        if given is not None and isinstance(given.expression, cst.BinaryOperation):
            return any(
                isinstance(n, (cst.List, cst.Tuple)) and any(integer(file.value(e.value)) == 0 for e in n.elements)
                for n in walk(given.expression)
            )
    return isinstance(node, cst.List) and not node.elements
