"""The words by which one file calls things: as they are written, and behind other names for a method or an import."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.syntax.scopes import Binds, dotted
from tfmemlint.syntax.tree import Node, called_word

if TYPE_CHECKING:
    from tfmemlint.syntax.program import Program

ROWS = (cst.Tuple, cst.List)


def calls_by_word(program: Program) -> dict[str, list[cst.Call]]:
    """Call nodes by the word of each, and those of a bound method with another name by the method's word as well."""
    found: dict[str, list[cst.Call]] = {}
    for node in program.tree.of(cst.Call):
        found.setdefault(called_word(node), []).append(node)
        method = program.bound_methods.get(id(node))
        if method is not None and method.attr.value != called_word(node):
            found.setdefault(method.attr.value, []).append(node)
    return found


def bound_methods(program: Program) -> dict[int, cst.Attribute]:
    """The calls of a name or attribute that nothing but one `<x>.method` stands behind, by the id of the node, with
    that expression; functions of imported modules are left out, which are no methods of an object."""
    once = {path: values[0] for path, values in _values(program).items() if len(values) == 1}
    kept = {
        path: value
        for path, value in once.items()
        if isinstance(value, cst.Attribute) and not _of_module(program, value)
    }
    others = {path: kept.get(dotted(value) or "") for path, value in once.items() if isinstance(value, cst.Name)}
    kept |= {path: value for path, value in others.items() if value is not None}
    found: dict[int, cst.Attribute] = {}
    for node in program.tree.of(cst.Call) if kept else ():
        path = dotted(node.func)
        method = kept.get(path) if path is not None else None
        if method is not None and _stands_for(program, node.func, method):
            found[id(node)] = method
    return found


def _values(program: Program) -> dict[str, list[cst.BaseExpression]]:
    """What the file assigns to each name and dotted path, in `a, b = x, y` one by one; the row of what is unpacked."""
    found: dict[str, list[cst.BaseExpression]] = {}
    for assign in program.tree.of(cst.Assign):
        for target in (each.target for each in assign.targets):
            places, parts = _row(target), _row(assign.value)
            told = len(places) == len(parts) and isinstance(target, ROWS) == isinstance(assign.value, ROWS)
            for place, part in zip(places, parts if told else [target] * len(places), strict=True):
                if path := dotted(place):
                    found.setdefault(path, []).append(part)
    return found


def _row(code: cst.BaseExpression) -> list[cst.BaseExpression]:
    return [each.value for each in code.elements] if isinstance(code, (cst.Tuple, cst.List)) else [code]


def _stands_for(program: Program, name: cst.BaseExpression, method: cst.Attribute) -> bool:
    """Whether nothing else than this one assignment gives a name or attribute its value where it is called."""
    if isinstance(name, cst.Attribute):
        return program.set_attributes.get(name.attr.value, {}).get(dotted(name) or "") == 1
    if program.written(name) is method:
        return True
    found = program.only_definition(name)
    row = found.value if found is not None else None
    if found is None or len(found.path) != 1 or not isinstance(row, ROWS):
        return False
    return any(each.value is method for each in row.elements)


def _of_module(program: Program, attribute: cst.Attribute) -> bool:
    root: cst.BaseExpression = attribute
    while isinstance(root, cst.Attribute):
        root = root.value
    if not isinstance(root, cst.Name):
        return False
    scopes = (program.scope_of(root), *program.scopes_around(program.scope_of(root)))
    bindings = (program.flow(scope).bindings.get(root.value) for scope in scopes)
    return any(d.binds is Binds.IMPORT for d in next((found for found in bindings if found), ()))


def renamed(program: Program) -> dict[str, set[str]]:
    """For the last part of an imported or assigned API name: the other words by which the file calls it."""
    found: dict[str, set[str]] = {}
    for alias in program.tree.of(cst.ImportAlias):
        if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
            original = dotted(alias.name) or ""
            found.setdefault(original.rpartition(".")[2], set()).add(alias.asname.name.value)
    for assign in program.tree.of(cst.Assign):
        value = assign.value
        word = value.attr.value if isinstance(value, cst.Attribute) else (dotted(value) or "").rpartition(".")[2]
        for target in assign.targets if word else ():
            if name := dotted(target.target):
                found.setdefault(word, set()).add(name.rpartition(".")[2])
    return found


def set_attributes(program: Program) -> dict[str, dict[str, int]]:
    """For the last part of each attribute that is assigned: the dotted paths by which it is, and how often."""
    found: dict[str, dict[str, int]] = {}
    assigned: list[Node] = [node.target for node in program.tree.of(cst.AssignTarget)]
    assigned += [node.target for node in program.tree.of(cst.AugAssign)]
    assigned += [node.target for node in program.tree.of(cst.AnnAssign)]
    for target in assigned:
        parts = target.elements if isinstance(target, ROWS) else ()
        for each in (target, *(part.value for part in parts)):
            if isinstance(each, cst.Attribute):
                paths, path = found.setdefault(each.attr.value, {}), dotted(each) or ""
                paths[path] = paths.get(path, 0) + 1
    return found
