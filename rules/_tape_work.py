"""Which statements of a tape's block the differentiated values depend on."""

from __future__ import annotations

import libcst as cst
from tfmemlint_rules._tapes import Tape

from tfmemlint.api import File, Node, walk


def needed_statements(tapes: list[Tape], file: File) -> set[int]:
    """The statements of the block (by id) on which what is differentiated depends."""
    names: set[str] = set()
    for gradient in (g for tape in tapes for g in tape.gradients):
        places = [
            file.tree.statement(gradient.node),
            *(c.iter for c in file.contexts.loops(gradient.node) if isinstance(c, cst.For)),
        ]
        names |= {n.value for place in places for n in walk(place) if isinstance(n, cst.Name)}
    names -= {tape.name for tape in tapes}
    outside = [a for a in file.tree.of(cst.Assign) if file.scope_of(a) is file.scope_of(tapes[0].block)]
    outside = [a for a in outside if not file.tree.contains(tapes[0].block, a)]
    for assign in reversed(outside):
        if not isinstance(assign.value, cst.Call) and any(_writes(t) & names for t in assign.targets):
            names |= {n.value for n in walk(assign.value) if isinstance(n, cst.Name)}
    needed: set[int] = set()
    body = list(tapes[0].block.body.body)
    before = -1
    while len(needed) > before:
        before = len(needed)
        for statement in reversed(body):
            if id(statement) not in needed and _writes(statement) & names:
                needed.add(id(statement))
                names |= {n.value for n in walk(statement) if isinstance(n, cst.Name)}
    return needed


def _writes(statement: Node) -> set[str]:
    """The names that a statement binds or may change by a method: `losses.append(x)`."""
    found: set[str] = set()
    for node in walk(statement):
        if isinstance(node, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For, cst.NamedExpr)):
            found |= {n.value for n in walk(node.target) if isinstance(n, cst.Name)}
        elif isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
            base = node.value.func
            while isinstance(base, (cst.Attribute, cst.Subscript, cst.Call)):
                base = base.func if isinstance(base, cst.Call) else base.value
            if isinstance(base, cst.Name):
                found.add(base.value)
        elif isinstance(node, cst.AsName):
            found |= {n.value for n in walk(node.name) if isinstance(n, cst.Name)}
    return found
