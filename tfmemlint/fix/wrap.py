"""Putting statements into a block of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.finding import Edit
from tfmemlint.fix.edits import indentation, statement_lines

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node


def wrap_in_block(file: File, statements: Sequence[Node], header: str) -> Edit | None:
    """Put statements that follow each other below a header, `with strategy.scope()`, one level deeper.

    None where one of them is no simple statement or shares its line, and where a string runs over several lines, which
    would change with its indentation.
    """
    spans = [statement_lines(file, statement) for statement in statements]
    known = [span for span in spans if span is not None]
    if len(known) < len(spans) or not all(isinstance(each, cst.SimpleStatementLine) for each in statements):
        return None
    shown = file.source.text[known[0].start : known[-1].end]
    if '"""' in shown or "'''" in shown:
        return None
    indent, unit = indentation(file, statements[0]), file.module.default_indent
    # One level deeper means behind what is there: tabs before spaces would be another level than the header's.
    moved = "".join(
        f"{indent}{unit}{line.removeprefix(indent)}" if line.strip() and line.startswith(indent) else line
        for line in shown.splitlines(keepends=True)
    )
    return Edit(known[0].start, known[-1].end, f"{indent}{header}:\n{moved}")


def wrap_unrecorded(file: File, node: Node, tape: str) -> Edit | None:
    """Put the statement of a node below `with tape.stop_recording()`; None for a tape without a name."""
    statement = file.tree.statement(node)
    return wrap_in_block(file, [statement], f"with {tape}.stop_recording()") if tape else None
