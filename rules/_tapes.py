"""A gradient tape, its uses and whether it leaves the function that makes it."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from tfmemlint.api import Call, Definition, File

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
    block = file.tree.parent(item) if item is not None else None
    if not isinstance(item, cst.WithItem) or not isinstance(block, cst.With) or item.asname is None:
        return None
    target = item.asname.name
    if not isinstance(target, cst.Name):
        return None
    scope = file.scope_of(block)
    definition = next((d for d in file.flow(scope).bindings.get(target.value, ()) if d.node is target), None)
    return _tape(block, target.value, definition, file) if definition is not None else None


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
        elif isinstance(attribute, cst.Del):
            deleted.append(attribute)
        else:
            escapes = True
    gradients.sort(key=lambda call: file.tree.order(call.node))
    return Tape(block, name, tuple(gradients), tuple(deleted), escapes, tuple(uses))


def _captured(definition: Definition, file: File) -> bool:
    """Whether a nested function reads the name."""
    for use in file.loads(definition.name):
        scope = file.scope_of(use)
        if scope is not definition.scope and any(outer is definition.scope for outer in file.scopes_around(scope)):
            return True
    return False
