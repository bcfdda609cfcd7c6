"""Loops that go through the rows of one tensor: as many iterations as a batch has rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.file import File


def over_rows(file: File, loop: cst.For) -> bool:
    """Whether a loop that counts, `for i in range(n)`, takes one row after the other of an array or tensor: `x[i, :]`.
    Lists and dictionaries have no second index. False where only single items `x[i]` are taken."""
    counter = loop.target
    if not isinstance(counter, cst.Name) or getattr(file.value(loop.iter), "function", "") != "range":
        return False
    for node in walk(loop.body, cst.Subscript):
        first = node.slice[0].slice
        at = first.value if isinstance(first, cst.Index) and len(node.slice) > 1 else None
        if isinstance(at, cst.Name) and at.value == counter.value and not _is_target(file, node):
            return True
    return False


def _is_target(file: File, node: cst.Subscript) -> bool:
    return isinstance(file.tree.parent(node), cst.AssignTarget)
