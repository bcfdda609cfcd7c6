"""The words of a program text that may stand in its code: found by one look at the characters, before it is parsed.

Comments and texts in three quotes are prose, in which nearly every word occurs that some API is called by. What stands
in other quotes counts, as names do there: in annotations, for `getattr`. A word too many costs time and changes
nothing, so that whatever cannot be told counts, too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.text.source import Source

WORD = re.compile(r"[^\W\d]\w*|/")
"""Words, and the one operator that a fact waits for."""

# Each alternative begins with a character of its own, for which the search can look, and none of them looks at a
# character twice: what is not closed reaches to the end of the text or of the line.
_QUOTED = re.compile(
    r"""\#[^\n]*
    |"(?:""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:"{3}|\\?\Z)|[^"\\\n]*(?:\\.[^"\\\n]*)*"?)
    |'(?:''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:'{3}|\\?\Z)|[^'\\\n]*(?:\\.[^'\\\n]*)*'?)""",
    re.DOTALL | re.VERBOSE,
)
"""A comment or a literal string."""

_BEFORE = re.compile(r"[^\W\d]\w*[\s\\]*\(?")  # never looks back, as it would to find the parenthesis
_NO_ASSIGNMENT = re.compile(
    r"^[^\S\n]*(?:@|(?:assert|async|await|class|def|del|elif|except|for|from|if|import|raise|return|while|with|yield)\b)"
    r"[^\n=]*$",
    re.MULTILINE,
)
_TAKEN = re.compile(r"\.\s*([^\W\d]\w*)[^\S\n]*(?=[,;)\]\\\n]|\Z)")
"""An attribute behind which nothing more is asked: what an assignment may give another name."""


def shared(words: Iterable[str]) -> frozenset[str]:
    """The same words, each of which is in memory once, in however many texts it stands."""
    return frozenset(map(sys.intern, words))


def words_of_code(text: str) -> frozenset[str]:
    """The words that may stand in the code of a text which must parse on its own, a file or one cell."""
    return shared(frozenset(WORD.findall(_QUOTED.sub(_counted, text))))


def words_of_source(source: Source) -> frozenset[str]:
    """Those of a program, of which each block must parse on its own."""
    pieces = (source.text[block.span.start : block.span.end] for block in source.blocks)
    return frozenset[str]().union(*map(words_of_code, pieces))


def words_of_calls(text: str) -> frozenset[str]:
    """The words by which the code of a program may call something: those before a parenthesis, and those of attributes
    that may be called by another name, as in `put = kept.append`."""
    code = _QUOTED.sub(_counted, text)
    called = (word[:-1].rstrip("\\ \t\n") for word in set(_BEFORE.findall(code)) if word[-1] == "(")
    return frozenset(called).union(_TAKEN.findall(_NO_ASSIGNMENT.sub("", code)))


def _counted(found: re.Match[str]) -> str:
    """What counts of a comment or literal string."""
    text = found[0]
    if text[0] == "#":
        return " "
    start = found.start()
    if "f" in found.string[max(start - 2, 0) : start].lower():  # its fields are code
        return text
    if not text.startswith(('"""', "'''")):
        return text.replace("/", " ")
    is_closed = len(text) >= 6 and text.endswith(text[:3])
    return " " if is_closed else text
