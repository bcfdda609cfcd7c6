"""How statements stand to each other: which exclude each other, what runs after one, which need another's values."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Api
from tfmemlint.syntax.program import names_in
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.file import File


def exclusive(file: File, a: Node, b: Node) -> bool:
    """Whether two nodes stand in different branches of the innermost `if` around both that has an `else`: one run of
    the code evaluates only one of them. False does not say that one run evaluates both."""
    for above in file.tree.ancestors(a):
        if isinstance(above, (cst.If, cst.IfExp)) and above.orelse is not None and file.tree.contains(above, b):
            first, second = (file.tree.contains(above.body, node) for node in (a, b))
            return first != second and file.tree.contains(above.orelse, b if first else a)
    return False


def runs_after(file: File, statement: Node) -> bool:
    """Whether any statement after this one in its block does more than leave the function (`return`, `raise`, `pass`,
    also under an `if`). What runs after the block is not looked at."""
    siblings = list(getattr(file.tree.parent(statement), "body", ()))
    place = file.tree.holding(siblings, statement)
    return place is not None and not all(map(_only_leaves, siblings[place + 1 :]))


def _only_leaves(statement: Node) -> bool:
    if isinstance(statement, cst.If):
        other = statement.orelse
        ends: list[Node] = list(statement.body.body)
        ends += [other] if isinstance(other, cst.If) else other.body.body if other is not None else []
        return all(map(_only_leaves, ends))
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
    return isinstance(small, (cst.Return, cst.Raise, cst.Pass))


def needed_statements(
    file: File, block: cst.With, code: Iterable[Node], *, but: Collection[str] = frozenset()
) -> set[Node]:
    """The statements of a block on which the values of some expressions after or in it depend (a backward slice).

    A statement is needed where it binds a name that is read there, or calls a method of what the name stands for, and
    so on for all that such statements read. Names are followed by their spelling, also through assignments outside of
    the block, so that no statement is missed whose value gets there by names of this function; attributes of other
    objects are not followed. The names in `but` are left out of the expressions.
    """
    names = {name for node in code for name in names_in(node)}.difference(but)
    _add_assigned(file, names, block)
    writers: dict[str, list[Node]] = {}
    for statement in block.body.body:
        for name in written_names(file, statement):
            writers.setdefault(name, []).append(statement)
    needed: set[Node] = set()
    pending = [statement for name in names for statement in writers.get(name, ())]
    while pending:
        writer = pending.pop()
        if writer not in needed:
            needed.add(writer)
            pending += [other for name in names_in(writer) for other in writers.get(name, ())]
    return needed


def _add_assigned(file: File, names: set[str], block: cst.With) -> None:
    """Add what assignments outside of the block read to give these names their values, the last of them first."""
    to, order = file.assigned(file.scope_of(block)).to, file.tree.order
    waiting: list[tuple[int, cst.Assign]] = []
    new, limit = list(names), len(file.tree)
    while True:
        for assign in (assign for name in new for assign in to.get(name, ())):
            outside = order(assign) < limit and not file.tree.contains(block, assign)
            if outside and not isinstance(assign.value, cst.Call):
                heapq.heappush(waiting, (-order(assign), assign))
        if not waiting:
            return
        place, assign = heapq.heappop(waiting)
        while waiting and waiting[0][0] == place:
            heapq.heappop(waiting)
        new, limit = [name for name in names_in(assign.value) if name not in names], -place
        names.update(new)


def written_names(file: File, statement: Node) -> set[str]:
    """The names that a statement binds, sets parts of, or may change by a method called for its effect alone:
    `losses.append(x)`."""
    found: set[str] = set()
    for node in walk(statement):
        if isinstance(node, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For, cst.NamedExpr)):
            found |= {n.value for n in walk(node.target, cst.Name)}
        elif isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
            base = node.value.func
            while isinstance(base, (cst.Attribute, cst.Subscript, cst.Call)):
                base = base.func if isinstance(base, cst.Call) else base.value
            if isinstance(base, cst.Name) and not isinstance(file.value(base), Api):
                found.add(base.value)
        elif isinstance(node, cst.AsName):
            found |= {n.value for n in walk(node.name, cst.Name)}
    return found
