"""What the text of a module tells before anybody parses it: its words, and what it imports."""

from __future__ import annotations

import re
from typing import NamedTuple

from tfmemlint.project.written_imports import imported_names

WORD = re.compile(r"[^\W\d]\w*|/")
"""Words, and the one operator that a fact waits for."""

KEPT = 2000
"""Texts of which a process remembers this."""


class Text(NamedTuple):
    """The words of a module's text, and the dotted names of its imports."""

    words: frozenset[str]
    imports: tuple[str, ...]


_TEXTS: dict[bytes, Text] = {}


def text_of(data: bytes, digest: bytes) -> Text:
    """What the bytes of a module tell; `digest` is theirs, by which it is remembered."""
    known = _TEXTS.get(digest)
    if known is None:
        if len(_TEXTS) >= KEPT:
            _TEXTS.clear()
        text = data.decode(errors="replace")
        known = _TEXTS[digest] = Text(frozenset(WORD.findall(text)), tuple(imported_names(text)))
    return known
