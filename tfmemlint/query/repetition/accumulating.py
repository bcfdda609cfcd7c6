"""Names that a loop adds parts to by joining tensors, `acc = concat([acc, part])`, and what else it reads of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Const, Sequence, integer
from tfmemlint.query.tensors.tensors import is_empty
from tfmemlint.syntax.names import Loop
from tfmemlint.syntax.scopes import dotted
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

GIVEN = frozenset({"values", "arrays", "tup", "arr", "xs", "x1", "x2"})
"""Parameters that get what is joined."""

SAYS = frozenset({
    "print", "info", "debug", "warning", "log", "write", "set_description", "set_postfix", "set_postfix_str",
})  # fmt: skip
MEASURES = frozenset({"len", "shape", "size", "int", "str", "format", "tuple", "as_list", "get_shape", "numpy"})
SIZES = frozenset({"builtins.len", "np.shape", "np.size", "tf.shape", "tf.size", "tf.rank"})
NOTES = frozenset({"tf.autograph.experimental.set_loop_options"})
"""What tells AutoGraph about the variables of a loop, and computes nothing."""


@dataclass(frozen=True, slots=True)
class Accumulated:
    """What a loop adds to: its name, the parts that are added, and the statement that does it."""

    name: str
    others: tuple[cst.BaseExpression, ...]
    assign: cst.Assign
    file: File

    def before(self, loop: Loop) -> list[cst.BaseExpression]:
        """What it is before the loop, as far as it is written in the file."""
        known = self.file.flow(self.file.scope_of(loop)).at(loop).get(self.name, ())
        values = [d.value for d in known if not d.path]
        if not values and "." in self.name:
            makings = self.file.assigned_paths.get(self.name, ())
            values = [each.value for each in makings if each is not self.assign]
        return [value for value in values if isinstance(value, cst.BaseExpression)]

    def starts_empty(self, loop: Loop) -> bool:
        """Whether it is an empty tensor or list before the loop."""
        before = self.before(loop)
        return bool(before) and all(is_empty(self.file, value) for value in before)

    def starts_as_none(self, loop: Loop) -> bool:
        """Whether it is None before the loop."""
        before = self.before(loop)
        return bool(before) and all(self.file.value(value) == Const(None) for value in before)

    def is_used_otherwise(self, loop: Loop | cst.FunctionDef) -> bool:
        """Whether the loop, or a function that it calls, reads, cuts back or starts again what it adds to. Its length
        does not count, nor printing it, what it is begun by (`if acc is None: acc = x`), and what AutoGraph is told
        about it."""
        test = [loop.test] if isinstance(loop, cst.While) else []
        named = [node for code in (*test, loop.body) for node in names_of(self.file, code, self.name)]
        others = (node for node in named if not self.file.tree.contains(self.assign, node))
        return any(not self._begins(node, loop) and not _is_told(self.file, node) for node in others)

    def _begins(self, node: Node, loop: Node) -> bool:
        below = node
        for above in self.file.tree.ancestors(node):
            if above is loop:
                return False
            if isinstance(above, cst.If):
                decides = self.file.tree.contains(above, self.assign) or self._asks_empty(above.test)
                if decides and (below is above.test or self._is_written(node)):
                    return True
            below = above
        return False

    def _is_written(self, node: Node) -> bool:
        above = self.file.tree.parent(node)
        while isinstance(above, (cst.Element, cst.Tuple)):
            above = self.file.tree.parent(above)
        assign = self.file.tree.parent(above) if isinstance(above, cst.AssignTarget) else None
        return isinstance(assign, cst.Assign) and next(names_of(self.file, assign.value, self.name), None) is None

    def _asks_empty(self, test: cst.BaseExpression) -> bool:
        """`acc is None`, `not acc`, `len(acc) == 0`, `acc == []`."""
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            return dotted(test.expression) == self.name
        if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
            return False
        left, right = test.left, self.file.value(test.comparisons[0].comparator)
        if isinstance(left, cst.Call) and self.file.call(left).method == "len" and left.args:
            return dotted(left.args[0].value) == self.name and integer(right) == 0
        return dotted(left) == self.name and right in (Const(None), Sequence((), "list"))


def accumulated(file: File, join: Call) -> Accumulated | None:
    """What a call that joins tensors adds to, where its result becomes one of them again."""
    target, assign = _target(file, join.node)
    name, parts = dotted(target) if target is not None else None, _parts(join)
    if name is None or parts is None or assign is None:
        return None
    others = tuple(part for part in parts if dotted(part) != name)
    named = any(next(names_of(file, part, name), None) is not None for part in others)
    return Accumulated(name, others, assign, file) if others and len(others) < len(parts) and not named else None


def _target(file: File, value: Node) -> tuple[Node | None, cst.Assign | None]:
    """What an expression is assigned to, also in a tuple with others, or where a condition chooses it."""
    above = file.tree.parent(value)
    if isinstance(above, cst.IfExp):
        above = file.tree.parent(above)
    row = file.tree.parent(above) if isinstance(above, cst.Element) else None
    position = next((i for i, e in enumerate(row.elements) if e is above), None) if isinstance(row, cst.Tuple) else None
    assign = above if row is None else file.tree.parent(row)
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return None, None
    target: Node = assign.targets[0].target
    if row is None:
        return target, assign
    if position is None:
        return None, None
    places = target.elements if isinstance(target, cst.Tuple) else ()
    return (places[position].value, assign) if position < len(places) else (None, None)


def _parts(join: Call) -> list[cst.BaseExpression] | None:
    given = [a.value for a in join.node.args if a.keyword is None or a.keyword.value in GIVEN]
    if join.method == "append":
        return given[:2]
    first = given[0] if given else None
    return [e.value for e in first.elements] if isinstance(first, (cst.List, cst.Tuple)) else None


def names_of(file: File, code: Node, name: str) -> Iterator[Node]:
    """The places where some code names a variable or a dotted path, read or written."""
    for node in walk(code, cst.Name, cst.Attribute, cst.Subscript):
        parent = file.tree.parent(node)
        is_attribute = isinstance(parent, cst.Attribute) and parent.attr is node
        if dotted(node) == name and not is_attribute and not (isinstance(parent, cst.Arg) and parent.keyword is node):
            yield node


def _is_told(file: File, node: Node) -> bool:
    """Whether nothing is computed of what a name holds: it is printed, its size is asked for, AutoGraph is told."""
    if reads_size(file, node):
        return True
    for above in file.tree.ancestors(node):
        if isinstance(above, cst.Call):
            call = file.call(above)
            if call.name in NOTES or call.method in SAYS:
                return _is_statement(file, above)
            if call.method not in MEASURES:
                return False
    return False


def reads_size(file: File, node: Node) -> bool:
    """Whether only the size is read of what an expression gives: `x.shape[0]`, `len(x)`, `tf.shape(x)`."""
    parent = file.tree.parent(node)
    if isinstance(parent, cst.Attribute):
        return parent.value is node and parent.attr.value in ("shape", "size", "get_shape", "ndim")
    call = file.tree.parent(parent) if isinstance(parent, cst.Arg) else None
    return isinstance(call, cst.Call) and file.call(call).name in SIZES


def _is_statement(file: File, call: cst.Call) -> bool:
    line = file.tree.statement(call)
    first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
    value = first.value if isinstance(first, cst.Expr) else None
    return isinstance(value, cst.Call) and file.call(value).method in SAYS | {"set_loop_options"}
