"""The loops and comprehensions around an expression, and containers that grow in them."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst
from tfmemlint_rules._iterations import iterations

from tfmemlint.api import Array, Binds, Const, File, Node, Sequence, dotted, walk

Round = cst.For | cst.While | cst.BaseComp

FEW = 3
"""Iterations that make a handful of traces: heads, phases, a quick run."""

ADDS = frozenset({"append", "extend", "insert", "add", "update"})
MAKERS = frozenset({"builtins.list", "builtins.dict", "collections.deque"})


@dataclass(frozen=True)
class Rounds:
    """What evaluates an expression again and again: the loops and comprehensions of its function around it."""

    nodes: tuple[Round, ...]
    file: File

    @classmethod
    def around(cls, node: Node, file: File) -> Rounds:
        found: list[Round] = list(file.contexts.loops(node))
        comprehension = file.contexts.comprehension(node)
        if isinstance(comprehension, cst.BaseComp):
            found.insert(0, comprehension)
        return cls(tuple(found), file)

    @property
    def any(self) -> bool:
        return bool(self.nodes)

    def holding(self, node: Node) -> list[Round]:
        """Those that hold a definition as well."""
        return [r for r in self.nodes if self.file.tree.contains(r, node)]

    def binding(self, target: Node) -> Round | None:
        """The one that binds a loop variable."""
        for r in self.nodes:
            targets = [r.target] if isinstance(r, cst.For) else []
            targets += [c.target for c in walk(r.for_in, cst.CompFor)] if hasattr(r, "for_in") else []
            if any(self.file.tree.contains(t, target) for t in targets):
                return r
        return None

    def few(self, among: list[Round], file: File) -> bool:
        """Whether all of some loops are known to be short."""
        counts = [iterations(r, file) for r in among]
        return bool(among) and all(count is not None and count <= FEW for count in counts)


def grows(container: cst.Name | cst.Attribute, rounds: Rounds, file: File) -> bool:
    """Whether a list or dictionary made before a loop gets longer in it."""
    made, path = file.only_definition(container), dotted(container)
    if made is None or made.binds is not Binds.VALUE:
        return False
    if not isinstance(made.value, (cst.List, cst.Dict)) and not (
        isinstance(made.value, cst.Call) and file.call(made.value).name in MAKERS
    ):
        return False
    outside = [r for r in rounds.nodes if not file.tree.contains(r, made.node)]
    return any(_adds(node, path, file) for r in outside if not isinstance(r, cst.BaseComp) for node in walk(r.body))


def _adds(node: Node, path: str | None, file: File) -> bool:
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        return node.func.attr.value in ADDS and dotted(node.func.value) == path
    if isinstance(node, cst.AssignTarget) and isinstance(node.target, cst.Subscript):
        held = file.value(node.target.value)
        if isinstance(held, Sequence) and dotted(node.target.value) == path:
            assign = file.tree.parent(node)
            return isinstance(assign, cst.Assign) and _own_numbers(assign.value, node.target.value, held, file)
        return dotted(node.target.value) == path and not isinstance(held, (Array, Sequence))
    if isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Subscript):
        return dotted(node.target.value) == path and isinstance(file.value(node.target), Const)
    return False


def _own_numbers(value: cst.BaseExpression, container: cst.BaseExpression, held: Sequence, file: File) -> bool:
    """Whether what replaces a number of a list is calculated from the list: `rates[0] = rates[0] * 0.9`."""
    if not isinstance(value, cst.BinaryOperation) or not all(isinstance(i, Const) for i in held.items):
        return False
    sides = (value.left, value.right)
    own = [s for s in sides if isinstance(s, cst.Subscript) and dotted(s.value) == dotted(container)]
    return len(own) == 1 and all(s in own or isinstance(file.value(s), Const) for s in sides)
