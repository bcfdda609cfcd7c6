"""Moving statements to an earlier place in their block."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Api, Binds, Edit, File, Fix, Node, Safety, walk
from tfmemlint.fix.edits import statement_lines

COMPOUND = (cst.If, cst.For, cst.Try)


def move_before(file: File, moved: Node, anchor: Node) -> Fix | None:
    """Move the statement that holds `moved`, and the assignments it reads from, before the one that holds `anchor`.

    None where the two share no block, or where a name that is read would not be bound at the new place.
    """
    blocks = _common_block(file, moved, anchor)
    if blocks is None:
        return None
    body, first, last = blocks
    wanted = _with_assignments(file, body, first, last)
    if wanted is None:
        return None
    indices, constant = wanted
    spans = [statement_lines(file, body[i]) for i in indices]
    target = statement_lines(file, body[first])
    if target is None or any(span is None for span in spans):
        return None
    text = "".join(file.source.text[s.start : s.end] for s in spans if s is not None)
    text = text if text.endswith("\n") else text + "\n"
    edits = [Edit(target.start, target.start, text), *(Edit(s.start, s.end, "") for s in spans if s is not None)]
    return Fix("configure devices before the runtime starts", tuple(edits), Safety.SAFE if constant else Safety.UNSAFE)


def _common_block(file: File, moved: Node, anchor: Node) -> tuple[list[Node], int, int] | None:
    above = [moved, *file.tree.ancestors(moved)]
    others = {id(node) for node in (anchor, *file.tree.ancestors(anchor))}
    for node in above:
        if isinstance(node, (cst.Module, cst.IndentedBlock)) and id(node) in others:
            body: list[Node] = list(node.body)
            holds = [i for i, s in enumerate(body) if any(s is a for a in above)]
            anchors = [i for i, s in enumerate(body) if id(s) in others]
            if holds and anchors and anchors[0] < holds[0]:
                return body, anchors[0], holds[0]
            return None
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            return None
    return None


def _with_assignments(file: File, body: list[Node], first: int, last: int) -> tuple[list[int], bool] | None:
    """The statements to move (indices), and whether they read nothing but imports, constants and each other."""
    indices, pending, constant = [last], [last], True
    while pending:
        for name in _reads(body[pending.pop()]):
            for definition in file.flow(file.scope_of(name)).uses.get(id(name), ()):
                home = next((i for i, s in enumerate(body) if file.tree.contains(s, definition.node)), None)
                if home is None or home < first or home in indices:
                    continue
                if definition.binds is Binds.IMPORT or not isinstance(body[home], cst.SimpleStatementLine):
                    return None
                indices.append(home)
                pending.append(home)
    inside = [body[i] for i in indices]
    for statement in inside:
        for name in _reads(statement):
            value = file.value(name)
            local = any(file.tree.contains(s, d.node) for s in inside
                        for d in file.flow(file.scope_of(name)).uses.get(id(name), ()))  # type: ignore[arg-type]  # fmt: skip
            constant = constant and (local or isinstance(value, Api))
    used_between = {d.name for s in body[first:last] if s not in inside for n in _reads(s)
                    for d in file.flow(file.scope_of(n)).uses.get(id(n), ())
                    if any(file.tree.contains(i, d.node) for i in inside)}  # type: ignore[arg-type]  # fmt: skip
    return sorted(indices), constant and not used_between


def _reads(statement: Node) -> list[cst.Name]:
    return [node for node in walk(statement) if isinstance(node, cst.Name)]


