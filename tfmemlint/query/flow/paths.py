"""Where code names the same attribute or item: `self.model`, `data["train"]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.remembered import once_per_file
from tfmemlint.syntax.scopes import Definition, ScopeNode, dotted
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.file import File


def same_path(file: File, target: Node) -> list[Node]:
    """Where code reads the attribute or dictionary item that a value is stored in, by the same words."""
    path, scope = dotted(target), file.scope_of(target)
    owner = file.class_of(scope) if path is not None and path.startswith("self.") else None
    found = []
    for node in _paths(file).get((path or "", id(scope if owner is None else owner)), ()):
        if file.scope_of(node) is scope:
            reaching = file.definitions(node)
            if reaching and not any(isinstance(d, Definition) and d.node is target for d in reaching):
                continue
        found.append(node)
    return found


def _class_around(file: File, scope: ScopeNode) -> cst.ClassDef | None:
    """The class whose method a scope is, or stands in."""
    owners = (file.class_of(each) for each in (scope, *file.scopes_around(scope)))
    return next((owner for owner in owners if owner is not None), None)


@once_per_file
def _paths(file: File) -> dict[tuple[str, int], list[Node]]:
    """The attributes and items that code reads, by their dotted paths and the ids of their scopes, those of `self` by
    the id of the class around, too."""
    found: dict[tuple[str, int], list[Node]] = {}
    owners: dict[int, cst.ClassDef | None] = {}
    for node in (*file.tree.of(cst.Attribute), *file.tree.of(cst.Subscript)):
        path = dotted(node)
        if path is None or isinstance(file.tree.parent(node), (cst.AssignTarget, cst.Del)):
            continue
        scope = file.scope_of(node)
        found.setdefault((path, id(scope)), []).append(node)
        if path.startswith("self."):
            if id(scope) not in owners:
                owners[id(scope)] = _class_around(file, scope)
            if (owner := owners[id(scope)]) is not None and owner is not scope:
                found.setdefault((path, id(owner)), []).append(node)
    return found
