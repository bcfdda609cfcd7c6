"""What programmers write beside a call: its comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File


def comments_at(file: File, call: Call) -> str:
    """The code of a call from the line of its name to its last, with the comments there, and with the lines above as
    long as they are comments."""
    source = file.source_of(call.node)
    text, start = source.text, source.line_span(file.span(call.name_node).start).start
    end = source.line_span(file.span(call.node).end).end
    while start > 0:
        above = source.line_span(start - 1)
        if not text[above.start : start].lstrip().startswith("#"):
            break
        start = above.start
    return text[start:end]
