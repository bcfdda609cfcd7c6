"""A gradient tape, its uses and whether it leaves the function that makes it."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from tfmemlint.api import Call, Definition, Edit, File, statement_lines

CONSUMES = frozenset({"gradient", "jacobian", "batch_jacobian"})
HARMLESS = frozenset({"watch", "stop_recording", "reset", "watched_variables"})


@dataclass(frozen=True)
class Tape:
    """The tape of one `with` statement.

    `gradients` are its gradient and jacobian calls in source order, `deleted` the `del` statements of its name,
    `escapes` says that it is passed, stored, returned or captured.
    """

    block: cst.With
    name: str
    gradients: tuple[Call, ...]
    deleted: tuple[cst.Del, ...]
    escapes: bool
    uses: tuple[cst.Name, ...]


def tape_of(made: Call, file: File) -> Tape | None:
    """The tape that `with made as name` binds; None where the call stands otherwise."""
    item = file.tree.parent(made.node)
    if isinstance(item, cst.Assign):
        return _assigned(item, file)
    block = file.tree.parent(item) if item is not None else None
    if not isinstance(item, cst.WithItem) or not isinstance(block, cst.With) or item.asname is None:
        return None
    target = item.asname.name
    if not isinstance(target, cst.Name):
        return None
    definition = file.definition(target)
    return _tape(block, target.value, definition, file) if definition is not None else None


def _assigned(made: cst.Assign, file: File) -> Tape | None:
    """The tape of `tape = GradientTape()` that exactly one `with tape:` enters, also under another name."""
    target = made.targets[0].target
    if len(made.targets) != 1 or not isinstance(target, cst.Name):
        return None
    definition = file.definition(target)
    uses = file.uses_of(definition) if definition is not None else []
    parents = [file.tree.parent(use) for use in uses]
    items = [above for above in parents if isinstance(above, cst.WithItem)]
    block = file.tree.parent(items[0]) if len(items) == 1 else None
    if definition is None or not isinstance(block, cst.With):
        return None
    named = items[0].asname
    if named is None:
        return _tape(block, target.value, definition, file)
    if len(uses) > 1 or not isinstance(named.name, cst.Name):
        return None
    again = file.definition(named.name)
    return _tape(block, named.name.value, again, file) if again is not None else None


def _tape(block: cst.With, name: str, definition: Definition, file: File) -> Tape:
    gradients: list[Call] = []
    deleted: list[cst.Del] = []
    uses = file.uses_of(definition)
    escapes = _captured(definition, file)
    for use in uses:
        attribute = file.tree.parent(use)
        call = file.tree.parent(attribute) if isinstance(attribute, cst.Attribute) else None
        if isinstance(attribute, cst.Attribute) and isinstance(call, cst.Call) and call.func is attribute:
            if attribute.attr.value in CONSUMES:
                gradients.append(file.call(call))
            elif attribute.attr.value not in HARMLESS:
                escapes = True
        elif (deletion := _deletion(use, file)) is not None:
            deleted.append(deletion)
        elif isinstance(attribute, cst.WithItem) and file.tree.parent(attribute) is block:
            continue
        else:
            escapes = True
    gradients.sort(key=lambda call: file.tree.order(call.node))
    return Tape(block, name, tuple(gradients), tuple(deleted), escapes, tuple(uses))


def _deletion(use: cst.Name, file: File) -> cst.Del | None:
    """The `del` statement of a name, alone or with others."""
    above = file.tree.parent(use)
    while isinstance(above, (cst.Element, cst.Tuple)):
        above = file.tree.parent(above)
    return above if isinstance(above, cst.Del) else None


def _captured(definition: Definition, file: File) -> bool:
    """Whether a nested function reads the name and does not bind it itself."""
    return bool(file.places(definition.name).captured(definition.scope))


def of_one_run(tape: Tape, file: File) -> tuple[Call, ...]:
    """The tape's first gradients, at most two; of those in branches that exclude each other only the first."""
    found: list[Call] = []
    for gradient in tape.gradients:
        if not any(_excludes(gradient.node, other.node, file) for other in found):
            found.append(gradient)
        if len(found) == 2:
            break
    return tuple(found)


def _excludes(a: cst.Call, b: cst.Call, file: File) -> bool:
    """Whether two calls stand in different branches of one `if`."""
    for above in file.tree.ancestors(a):
        if isinstance(above, (cst.If, cst.IfExp)) and file.tree.contains(above, b) and above.orelse is not None:
            first, second = (file.tree.contains(above.body, call) for call in (a, b))
            return first != second and file.tree.contains(above.orelse, b if first else a)
    return False


def drop_deletion(deletion: cst.Del, file: File) -> Edit | None:
    """Take a `del tape` out that stands on a line of its own in a block with more statements."""
    line = file.tree.statement(deletion)
    lines = statement_lines(file, line)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1 or lines is None:
        return None
    if not isinstance(deletion.target, cst.Name) or len(getattr(file.tree.parent(line), "body", ())) < 2:
        return None
    return Edit(lines.start, lines.end, "")


def results_of(tape: Tape, file: File) -> set[str]:
    """The names that hold the tape's gradients or something computed from them, within its function."""
    scope = file.scope_of(tape.block)
    above = (node for gradient in tape.gradients for node in file.tree.ancestors(gradient.node))
    pending = [node for node in above if isinstance(node, cst.Assign) and file.scope_of(node) is scope]
    tainted: set[str] = set()
    while pending:
        new = {n.value for t in pending.pop().targets for n in _stored(t.target)} - tainted
        tainted |= new
        pending += [assign for name in new for assign in file.assigned(scope).reading.get(name, ())]
    return tainted


def _stored(target: cst.BaseExpression) -> list[cst.Name]:
    if isinstance(target, cst.Name):
        return [target]
    elements = target.elements if isinstance(target, (cst.Tuple, cst.List)) else ()
    return [name for element in elements for name in _stored(element.value)]
