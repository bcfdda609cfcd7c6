"""Imports without the names that a slice does not need: what they lead to may not be there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from tfmemlint.finding import Edit
from tfmemlint.syntax.scopes import Definition
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.plan.runnable import LIBRARIES
from tfmemlint.verify.plan.slicing import Slice


def trimmed_imports(part: Slice, is_kept: Callable[[Node], bool]) -> Iterator[Edit]:
    """Edits that take names out of the kept imports of a module."""
    for statement in part.home.tree.of(cst.Import, cst.ImportFrom):
        if not is_kept(statement) or isinstance(statement.names, cst.ImportStar):
            continue
        by_alias = {id(each.node): each for each in part.home.bound_within(statement)}
        kept = [alias for alias in statement.names if _stays(part, by_alias.get(id(alias)))]
        if len(kept) < len(statement.names):
            yield from _taken_out(part, statement, kept)


def _stays(part: Slice, definition: Definition | None) -> bool:
    if definition is None or id(definition.node) in part.needed:
        return True
    own = part.file.values.imports.leads_to(definition) is not None
    return not own and definition.api.partition(".")[0] in LIBRARIES


def _taken_out(part: Slice, statement: cst.Import | cst.ImportFrom, kept: Sequence[cst.ImportAlias]) -> Iterator[Edit]:
    span = part.home.span
    names = statement.names
    assert not isinstance(names, cst.ImportStar)
    if kept:
        content = ", ".join(part.file.text(alias) for alias in kept)
        yield Edit(span(names[0]).start, span(names[-1]).end, content)
    elif any(_is_own(part, each) for each in part.home.bound_within(statement)):
        yield Edit(span(statement).start, span(statement).end, "pass")


def _is_own(part: Slice, definition: Definition) -> bool:
    return part.file.values.imports.leads_to(definition) is not None
