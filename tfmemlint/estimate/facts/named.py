"""The expressions of a file that a user may give values for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts.origins import canonical

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.syntax.program import Program

SHAPE = ".shape"


def expressions(file: File) -> set[str]:
    """All names, attributes, items and calls of a file and of the modules that it imports, as Python prints them."""
    found = set()
    for program in (file, *file.within_reach):
        for node in _read(program):
            try:
                found.add(canonical(file.text(node)))
            except (KeyError, SyntaxError, ValueError, RecursionError, MemoryError):
                continue  # of another Python
    return found


def is_among(text: str, found: set[str]) -> bool:
    """Whether an expression is among these, or the shape of one of them."""
    return text in found or (text.endswith(SHAPE) and text.removesuffix(SHAPE) in found)


def _read(program: Program) -> Iterator[cst.CSTNode]:
    """The expressions of a module, without the words of attributes and of arguments by name."""
    words = {id(node.attr) for node in program.tree.of(cst.Attribute)}
    words |= {id(node.keyword) for node in program.tree.of(cst.Arg) if node.keyword is not None}
    for node in program.tree.of(cst.Name, cst.Attribute, cst.Subscript, cst.Call):
        if id(node) not in words:
            yield node
