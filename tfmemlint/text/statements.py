"""Comments and logical statements of the program text, found without a syntax tree.

A file that does not parse, or whose tree nobody asked for, still has lines that comments speak for. The scanner knows
strings, brackets and continuations, never fails, and starts afresh in every block, so that a bracket left open in one
notebook cell does not swallow the next.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tfmemlint.finding import Span
from tfmemlint.text.source import Block, Source

_SPECIAL = re.compile(r"""\#[^\n]*|\n|\\\n?|[(\[{]|[)\]}]|\"{3}|'{3}|["']""")
_VISIBLE = re.compile(r"[^\s\\]")
_PLAIN_REST = {
    '"': re.compile(r'(?:[^"\\\n]|\\[\s\S])*(?:"|\\?)'),
    "'": re.compile(r"(?:[^'\\\n]|\\[\s\S])*(?:'|\\?)"),
    '"""': re.compile(r'(?:[^"\\]|\\[\s\S]|"(?!""))*(?:"""|\\?)'),
    "'''": re.compile(r"(?:[^'\\]|\\[\s\S]|'(?!''))*(?:'''|\\?)"),
}
_FIELD_TOKEN = re.compile(r"""\#[^\n]*|[(\[{]|[)\]}]|:|\"{3}|'{3}|["']""")
_FORMATTED = re.compile(r"(?:^|[^0-9A-Za-z_])(?:[fFtT][rR]?|[rR][fFtT])$")
_COMPOUND = re.compile(r"(?:async\s+)?(?:if|elif|else|for|while|with|try|except|finally|def|class|match|case)\b")
_SPLIT_TOKEN = re.compile(r"""\#[^\n]*|\\\n?|[(\[{]|[)\]}]|;|:=?|\blambda\b|\"{3}|'{3}|["']""")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment from its `#` to the end of its line; `alone` says that only blanks stand before it."""

    start: int
    end: int
    alone: bool


class Statements:
    """The logical lines of a source and its comments, both in order.

    A logical line runs from its first token to the end of the physical line that closes it, a comment there included.
    A compound statement's header is one, and so is each statement of its body.
    """

    def __init__(self, source: Source) -> None:
        self.text = source.text
        self.blocks = source.blocks
        self._block_starts = [block.span.start for block in self.blocks]
        self.comments: list[Comment] = []
        self.spans: list[Span] = []
        self.line_ends: list[int] = []
        """Offsets, in order, of the line ends before which a comment may be put."""
        for block in self.blocks:
            self._scan(block.span.start, block.span.end)
        self._starts = [span.start for span in self.spans]
        self._decorated: list[Span] = []

    def _scan(self, start: int, stop: int) -> None:
        text, position, depth = self.text, start, 0
        first: int | None = None
        while position < stop:
            match = _SPECIAL.search(text, position, stop)
            token, begin = (match.group(), match.start()) if match else ("", stop)
            if first is None:
                visible = _VISIBLE.search(text, position, begin + len(token[:1]))
                if visible and visible.group() != "#":
                    first = visible.start()
            if match is None:
                break
            position = match.end()
            if token == "\n":
                self.line_ends.append(begin)
                if not depth and first is not None:
                    self.spans.append(Span(first, begin))
                    first = None
            elif token[0] == "#":
                blank = text[max(text.rfind("\n", 0, begin) + 1, start) : begin].strip() == ""
                self.comments.append(Comment(begin, position, blank))
            elif token in "([{":
                depth += 1
            elif token in ")]}":
                depth = max(depth - 1, 0)
            elif token[0] != "\\":
                position = string_end(text, begin, token, stop)
        if first is not None:
            self.spans.append(Span(first, stop))
        if not text.endswith("\n", start, stop):
            self.line_ends.append(stop)

    def at(self, offset: int) -> int | None:
        """The index of the logical line that holds `offset`; its end counts as inside, indentation as outside."""
        index = bisect.bisect_right(self._starts, offset) - 1
        return index if index >= 0 and offset <= self.spans[index].end else None

    def after(self, offset: int) -> int | None:
        """The index of the first logical line that starts at `offset` or later."""
        index = bisect.bisect_left(self._starts, offset)
        return index if index < len(self.spans) else None

    def with_decorators(self, index: int) -> Span:
        """The logical line with the decorators above it, or with all that it decorates; blank lines included."""
        if not self._decorated:
            self._decorated = list(self._with_decorators())
        return self._decorated[index]

    def _with_decorators(self) -> Iterator[Span]:
        """For each logical line the stretch that it makes up with its decorators."""
        first = 0
        for last, span in enumerate(self.spans):
            ends = last + 1 == len(self.spans) or not self._is_decorator(last) or not self._same_block(last, last + 1)
            if ends:
                whole = Span(self.spans[first].start, span.end)
                yield from [whole] * (last + 1 - first)
                first = last + 1

    def block_of(self, offset: int) -> Block:
        """The block that holds `offset`."""
        index = bisect.bisect_right(self._block_starts, offset) - 1
        return self.blocks[max(index, 0)]

    def _is_decorator(self, index: int) -> bool:
        return self.text[self.spans[index].start] == "@"

    def _same_block(self, one: int, other: int) -> bool:
        return self.block_of(self.spans[one].start) == self.block_of(self.spans[other].start)


def string_end(text: str, start: int, quote: str, stop: int) -> int:
    """The offset after the string whose opening quote is at `start`, at most `stop`; an unclosed one ends its line."""
    begin = start + len(quote)
    if _FORMATTED.search(text[max(start - 3, 0) : start]):
        end = _formatted_end(text, begin, quote, stop)
        if end is not None:
            return end
    rest = _PLAIN_REST[quote].match(text, begin, stop)
    return rest.end() if rest else begin


def _formatted_end(text: str, position: int, quote: str, stop: int) -> int | None:
    """The offset after an f-string's closing quote, or None when it is not well formed."""
    while position < stop:
        char = text[position]
        if text.startswith(quote, position):
            return position + len(quote)
        if char == "\n" and len(quote) == 1:
            return None
        if char == "\\" or text.startswith("{{", position):
            position += 2
        elif char == "{":
            end = _field_end(text, position + 1, quote, stop)
            if end is None:
                return None
            position = end
        else:
            position += 1
    return None


def _field_end(text: str, position: int, quote: str, stop: int) -> int | None:
    """The offset after the `}` of a replacement field, whose expression may hold strings with any quotes."""
    depth = 0
    while match := _FIELD_TOKEN.search(text, position, stop):
        token, position = match.group(), match.end()
        if token in "([{":
            depth += 1
        elif token == "}" and not depth:
            return position
        elif token in ")]}":
            depth -= 1
        elif token == ":" and not depth:
            return _format_end(text, position, quote, stop)
        elif token[0] in "\"'":
            position = string_end(text, match.start(), token, stop)
    return None


def _format_end(text: str, position: int, quote: str, stop: int) -> int | None:
    """The offset after the `}` that closes a field's format, which may hold fields itself."""
    while position < stop:
        if text.startswith(quote, position):
            return None
        if text[position] == "}":
            return position + 1
        if text[position] == "{":
            end = _field_end(text, position + 1, quote, stop)
            if end is None:
                return None
            position = end
        else:
            position += 1
    return None


def simple_parts(text: str) -> Sequence[Span]:
    """The parts of one logical line that a formatter may put on lines of their own.

    They are the statements between semicolons, and the header of a compound statement apart from a body behind it.
    """
    cuts, position, depth, lambdas = [0], 0, 0, 0
    header = _COMPOUND.match(text) is not None
    while match := _SPLIT_TOKEN.search(text, position):
        token, position = match.group(), match.end()
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
        elif token[0] in "\"'":
            position = string_end(text, match.start(), token, len(text))
        elif depth:
            continue
        elif token == "lambda":
            lambdas += 1
        elif token == ":" and lambdas:
            lambdas -= 1
        elif token == ";" or (token == ":" and header):
            header = header and token != ":"
            cuts.append(position)
    return [Span(start, end) for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True)]
