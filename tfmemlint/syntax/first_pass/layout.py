"""What the text says that `ast` does not: how it is laid out where libcst's tree depends on it."""

from __future__ import annotations

import ast
import bisect
import re
from functools import cached_property
from itertools import accumulate
from typing import Any, Protocol

_STRING = re.compile(
    r"""[rRbBuU]{0,2}(?:'{3}(?:[^\\]|\\.)*?'{3}|"{3}(?:[^\\]|\\.)*?"{3}|'(?:[^\\'\n]|\\.)*'|"(?:[^\\"\n]|\\.)*")""",
    re.DOTALL,
)
_BETWEEN = re.compile(r"(?:[ \t\n\f]|\\\n|#[^\n]*)*")
_NEXT_STATEMENT = re.compile(rb"(?:[ \t\f]|\\\n)*;(?:[ \t\f]|\\\n)*[^\s#\\]")
_CLOSING = re.compile(rb"(?:[ \t\n\f)]|\\\n|#[^\n]*)*")
_COMMENT = re.compile(rb"#[^\n]*")


class Located(Protocol):
    """What `ast` gives a place."""

    lineno: int
    col_offset: int
    @property
    def end_lineno(self) -> Any: ...
    @property
    def end_col_offset(self) -> Any: ...


class Unsupported(Exception):
    """A program of which the first pass makes no tree."""


class Layout:
    """The text of a program, by the places of `ast`: rows, and columns in bytes of UTF-8."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self.has_semicolon = b";" in self.data
        self.starts = [0]
        """Offsets at which lines begin."""
        offset = 0
        for line in self.data.split(b"\n"):
            offset += len(line) + 1
            self.starts.append(offset)

    def characters(self, offset: int) -> int:
        """The characters before an offset in bytes."""
        row = bisect.bisect_right(self.starts, offset) - 1
        return self._lines[row] + len(self.data[self.starts[row] : offset].decode())

    @cached_property
    def _lines(self) -> list[int]:
        """The characters before each line."""
        return list(accumulate((len(line.decode()) + 1 for line in self.data.split(b"\n")), initial=0))

    def start(self, node: Located) -> int:
        """The offset in bytes at which a node begins."""
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: Located) -> int:
        """The offset in bytes behind a node."""
        end: int = self.starts[node.end_lineno - 1] + node.end_col_offset
        return end

    def text(self, node: Located) -> str:
        """What a node is written as."""
        return self.data[self.start(node) : self.end(node)].decode()

    def says(self, word: bytes, node: ast.stmt) -> bool:
        """Whether a statement begins with a word."""
        return self.data.startswith(word, self.start(node))

    def goes_on(self, statement: ast.stmt) -> bool:
        """Whether another statement stands behind this one on its logical line."""
        return self.has_semicolon and _NEXT_STATEMENT.match(self.data, self.end(statement)) is not None

    def comment(self, statement: Located) -> str | None:
        """The comment behind the last statement of a logical line."""
        end = self.starts[statement.end_lineno] - 1
        found = self.data.find(b"#", self.end(statement), end)
        if found >= 0:
            return self.data[found:end].decode()
        if self.data[end - 1 : end] == b"\\":
            raise Unsupported("a line that is continued by a backslash behind its statement")
        return None

    def is_on_header(self, first: Located) -> bool:
        """Whether the first statement of a block stands on the logical line of the block's header."""
        begins = self.starts[first.lineno - 1]
        before = self.data[begins : begins + first.col_offset]
        if before.strip(b" \t\f"):
            return True
        if self.data[max(begins - 2, 0) : begins] == b"\\\n":
            raise Unsupported("a line that is continued by a backslash, or a comment that ends in one")
        return False

    def has_comma(self, after: ast.expr, within: ast.stmt) -> bool:
        """Whether a statement has a comma behind its last expression."""
        return b"," in _COMMENT.sub(b"", self.data[self.end(after) : self.end(within)])

    def is_bare(self, node: ast.Tuple) -> bool:
        """Whether a tuple has no parentheses of its own."""
        start = self.start(node)
        if not node.elts or self.data[start : start + 1] != b"(":
            return bool(node.elts)
        first = node.elts[0]
        begins = self.start(first)
        if begins == start:  # the first item is a tuple or generator, whose places take its parentheses in
            return True
        opened = _COMMENT.sub(b"", self.data[start:begins]).count(b"(")
        closing = _CLOSING.match(self.data, self.end(first))
        assert closing is not None
        return _COMMENT.sub(b"", closing[0]).count(b")") >= opened


def literals(text: str) -> list[str] | None:
    """The string literals that stand next to each other in an expression; None where it is not made of them alone."""
    found: list[str] = []
    position = 0
    while position < len(text):
        literal = _STRING.match(text, position)
        if literal is None:
            return None
        found.append(literal[0])
        between = _BETWEEN.match(text, literal.end())
        assert between is not None
        position = between.end()
    return found
