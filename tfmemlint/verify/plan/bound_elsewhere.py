"""Names that a module reads and does not bind there: those of star imports, those in texts that it evaluates, and those
that a function sets for all of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.syntax.scopes import Binds, dotted, written
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.plan.statements import asked_of, is_load, owner

if TYPE_CHECKING:
    from tfmemlint.verify.plan.slicing import Slice

EVALUATES = frozenset(("eval", "globals"))
"""Functions by which code reads names that stand in no place of it: `eval(activation)`."""


def keep(part: Slice, name: cst.Name) -> None:
    """Keep what may give a name its value that the module does not bind, and what else is meant by it."""
    if name.value in EVALUATES and is_load(part.file, name):
        _keep_named(part)
    elif _is_free(part, name):
        from_star(part, name.value, asked_of(part.file, name))
    else:
        _keep_setters(part, name)


def from_star(part: Slice, word: str, names: tuple[str, ...]) -> bool:
    """Keep the star import that gives a name, or those of the standard library that may; whether one does."""
    perhaps: list[Node] = []
    for statement in part.home.tree.of(cst.ImportFrom):
        if not isinstance(statement.names, cst.ImportStar):
            continue
        module = "." * len(statement.relative) + (dotted(statement.module) or "" if statement.module else "")
        given = knowledge.exists(knowledge.canonical(f"{module}.{word}"))
        if given or part.slices.need_starred(part.home, module, (word, *names)):
            perhaps = [statement]
            break
        perhaps += [statement] if module in sys.stdlib_module_names else []
    for each in perhaps:
        part.keep_around(each)
    return bool(perhaps)


def _keep_setters(part: Slice, name: cst.Name) -> None:
    """Keep the functions that bind a name by `global`, and what calls them as the module runs."""
    for each in part.home.inner_writes(name.value, part.home.module):
        setter = owner(part.file, each.node)
        if isinstance(setter, cst.FunctionDef) and not part.file.tree.contains(setter, name):
            part.keep_around(each.node)
            for call in part.file.call_graph.callers(setter) or ():
                if isinstance(owner(part.file, call.node), cst.Module):
                    part.keep_around(call.node)


def _is_free(part: Slice, name: cst.Name) -> bool:
    """Whether a name is read that the module binds nowhere."""
    if not is_load(part.file, name) or not part.home.star_imports:
        return False
    scope = part.file.scope_of(name)
    scopes = (scope, *part.file.scopes_around(scope))
    return not any(name.value in part.file.flow(each).bindings for each in scopes)


def _keep_named(part: Slice) -> None:
    """Keep the imports of a module, and its functions and classes: a text may name any of them."""
    for statement in part.home.tree.of(cst.ImportFrom):
        if isinstance(statement.names, cst.ImportStar):
            part.keep_around(statement)
    for found in part.file.flow(part.home.module).bindings.values():
        for each in written(found):
            if each.binds in (Binds.IMPORT, Binds.FUNCTION, Binds.CLASS):
                part.need(each)
