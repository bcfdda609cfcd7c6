"""The same code with its tape paused, to measure what the tape keeps of a statement."""

from __future__ import annotations

from tfmemlint.api import Call, Edit, File, fixes, gradients


def unrecorded(file: File, where: Call, tape: gradients.Tape) -> Edit | None:
    """The statement of a call in the same place, while the tape does not record; None for a tape without a name."""
    statement = file.tree.statement(where.node)
    header = f"with {tape.name}.stop_recording()"
    return fixes.wrap_in_block(file, [statement], header) if statement is not None and tape.name else None
