"""Moving the statements that build a pipeline out of a loop."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._loops import assigned_names

from tfmemlint.api import Call, Dataset, Edit, File, Fix, Node, Safety, free_names, walk
from tfmemlint.fix.edits import indentation, statement_lines

Loop = cst.For | cst.While


def chain_end(call: Call, file: File) -> cst.Call:
    """The whole chain of methods that starts with this call, or the call alone."""
    node = call.node
    while True:
        attribute = file.tree.parent(node)
        above = file.tree.parent(attribute) if isinstance(attribute, cst.Attribute) else None
        if not isinstance(above, cst.Call) or above.func is not attribute:
            return node
        node = above


def pipeline_parts(source: Call, within: Node, file: File, derived: bool = True) -> list[Node]:
    """The chain that starts at a source, and those that carry it on: `ds = ds.batch(32)` and, with `derived`, those
    under other names, `batches = ds.batch(32)`."""
    end = chain_end(source, file)
    parts: list[Node] = [end]
    assign = file.tree.parent(end)
    target = assign.targets[0].target if isinstance(assign, cst.Assign) else None
    if not isinstance(target, cst.Name):
        return parts
    bindings = file.flow(file.scope_of(end)).bindings
    waiting = [target.value]
    followed: set[str] = set()
    while waiting:
        name = waiting.pop()
        followed.add(name)
        for d in (d for made in bindings.values() for d in made):
            value = d.value
            if value is None or any(value is part for part in parts) or not file.tree.contains(within, d.node):
                continue
            if not _starts_with(value, name):
                continue
            if d.name == name or (derived and isinstance(file.value(value), Dataset)):
                parts.append(value)
                if d.name not in followed:
                    waiting.append(d.name)
    return parts


def _starts_with(node: Node, name: str) -> bool:
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        node = node.func.value
    return isinstance(node, cst.Name) and node.value == name


def hoist(file: File, parts: list[Node], loop: Loop) -> Fix | None:
    """Move the assignments of a pipeline in front of the outermost loop on which they do not depend.

    None where they are not plain statements that follow each other in the loop's body.
    """
    lines = [file.tree.statement(part) for part in parts]
    body = list(loop.body.body) if isinstance(loop.body, cst.IndentedBlock) else []
    places = [i for i, each in enumerate(body) for line in lines if each is line]
    if len(places) != len(lines) or places != list(range(places[0], places[0] + len(places))):
        return None
    if len(body) == len(lines) or not all(_plain(line, part, file) for line, part in zip(lines, parts, strict=True)):
        return None
    target = _outermost(lines, loop, file)
    if target is None:
        return None
    spans = [statement_lines(file, line) for line in lines]
    known = [span for span in spans if span is not None]
    if len(known) != len(spans):
        return None
    text = file.source.text[known[0].start : known[-1].end]
    inner, outer = indentation(file, lines[0]), indentation(file, target)
    moved = "".join(
        outer + line.removeprefix(inner) if line.strip() else line for line in text.splitlines(keepends=True)
    )
    place = file.source.line_span(file.span(target).start).start
    end = known[-1].end
    if places[0] == 0:  # the blank lines below would open the block
        rest = file.source.text[end:]
        end += rest.rfind("\n", 0, len(rest) - len(rest.lstrip())) + 1
    edits = (Edit(place, place, moved if moved.endswith("\n") else moved + "\n"), Edit(known[0].start, end, ""))
    return Fix("build it once", edits, Safety.UNSAFE)


def _plain(line: Node, part: Node, file: File) -> bool:
    """Whether a line is one assignment of this value to one name, with no string of several lines."""
    assign = file.tree.parent(part)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1 or line.body[0] is not assign:
        return False
    texts = (n for n in walk(line) if isinstance(n, (cst.SimpleString, cst.FormattedString)))
    return (
        isinstance(assign, cst.Assign)
        and len(assign.targets) == 1
        and isinstance(assign.targets[0].target, cst.Name)
        and not any("\n" in file.text(n) for n in texts)
    )


def _outermost(lines: list[Node], loop: Loop, file: File) -> Loop | None:
    """The outermost of the loops around that bind nothing which these lines read or bind."""
    names = {name for line in lines for name in _bound(line)}
    reads = {name.value for line in lines for name in free_names(line, file)} - names
    found: Loop | None = None
    for each in (loop, *file.contexts.loops(loop)):
        inside = found is None or found in getattr(each.body, "body", ())
        if not inside or reads & set(assigned_names(each, file)) or _elsewhere(names, lines, each, file):
            break
        found = each
    return found


def _bound(line: Node) -> Iterator[str]:
    assign = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
    for target in assign.targets if isinstance(assign, cst.Assign) else ():
        if isinstance(target.target, cst.Name):
            yield target.target.value


def _elsewhere(names: set[str], lines: list[Node], loop: Loop, file: File) -> bool:
    """Whether the loop binds one of the names outside of these lines."""
    bound = [d for name in names for d in file.flow(file.scope_of(loop)).bindings.get(name, ())]
    return any(
        file.tree.contains(loop, d.node) and not any(file.tree.contains(line, d.node) for line in lines) for d in bound
    )
