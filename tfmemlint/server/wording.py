"""Texts from outside in Markdown that terminals show as it is written and editors render."""

from __future__ import annotations

import re

from tfmemlint.shown import shown

_MARKUP = re.compile(r"[\\`*\[\]<]")


def plain(text: str) -> str:
    """A text as Markdown that says the same, on one line: no link, image, code or HTML comes of it, and it is altered
    as little as can be, for some editors show what is written."""
    return _MARKUP.sub(lambda match: f"\\{match.group()}", shown(text))


_WRITTEN = re.compile(r"\\([\\`*\[\]<])|\*\*")


def unmarked(markdown: str) -> str:
    """Markdown of ours as the text that it says, for what shows no Markdown."""
    return _WRITTEN.sub(lambda match: match.group(1) or "", markdown)
