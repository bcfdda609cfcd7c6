"""What the parser would have to do for a text, estimated in one pass before it is asked.

libcst reads ordinary code in time and memory that grow with its length. But it reads the inside of a bracket once for
each bracket around it, the beginning of a chain of operators once for each operator, and the inside of a nested pattern
four times for each level: a few hundred bytes can take for ever, or gigabytes, or end the process for want of stack.
Such texts are refused. The limits are far above what people and generators write.

Only brackets, operators, strings and line ends are looked at, and no grammar: the estimate holds for code of any
version of Python, and for what is no Python at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

MAX_BRACKETS = 200
"""Brackets inside each other; as many as Python allows."""
MAX_WORK = 1_500_000
"""What deep and long expressions of one text may add, in units of up to 4 microseconds and 700 bytes of libcst's."""
ROOM = 5_000
"""Units of work of a text that wants no more stack than any program has."""
MAX_TOKENS = 500_000
"""Operators, brackets, strings and line ends of one text; its tree takes 4 KiB for each of them."""
MAX_STRINGS = 2_990
"""Strings that are joined by standing next to each other, of which libcst takes no more than 3,000."""

_FREE_LEVELS = 8
_FREE_TOKENS = 100
"""Brackets inside each other, and tokens of an expression without a comma, that are no excess."""
_FEW = 100
"""As many lambdas and conditional expressions cost nothing, however they are nested."""
_LONG_WORDS = 100
"""Characters of names, keywords and blanks in a row that are looked into: `not not not ...`."""

_CODE = re.compile(
    r"[\w \t]*(?:([(\[{])|([)\]}])|(\n)|([,;])|([-+*/%@&|^~<>=!.:]+)"
    r"""|("(?!"")[^"\\\n{]*"|'(?!'')[^'\\\n{]*')|(\"""|'''|["'])|(\#[^\n]*)|(\\\n|.|\Z))""",
    re.DOTALL,
)
_OPEN, _CLOSE, _LINE, _SEPARATOR, _OPERATOR, _STRING, _QUOTE, _COMMENT, _OTHER = range(1, 10)
_QUOTES = ('"""', "'''", '"', "'")
_STRING_END = {quote: re.compile(rf"\\.|{quote}" + r"|\n" * (len(quote) == 1), re.DOTALL) for quote in _QUOTES}
_FIELD = {
    quote: re.compile(rf"\\[^{{}}]|\{{\{{|[{{}}]|{quote}" + r"|\n" * (len(quote) == 1), re.DOTALL) for quote in _QUOTES
}
_FORMATTED = re.compile(r"(?<!\w)(?:[ft]r?|r[ft])\Z", re.IGNORECASE)
_SPECIAL = re.compile(r"[ \t]*(?:(if|elif)\b|(case\b(?![ \t]*[=.])|del\b))")


class TooMuch(Exception):
    """A text that the parser is not asked to read: why not, and the offset of the expression or statement at fault."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset


@lru_cache(maxsize=1)  # who makes room for a text, and who parses it, ask one after the other
def check(text: str) -> int:
    """The units of work that deep and long expressions add. Raises TooMuch for a text that libcst could not read."""
    scan = Scan(text)
    scan.run()
    return scan.work


@dataclass(slots=True)
class _Level:
    """A bracket or a field of a formatted string that is open, and what was known in front of it."""

    opened: int
    segment: int
    operand: int
    lambdas: int
    strings: int = 0
    """Strings that were joined before the one whose field this is, and it."""
    quote: str = ""
    """How that string ends; empty for brackets."""
    in_format: bool = False
    """Whether the field stands in the format of another one."""


class Scan:
    """The state of the pass: where it is, what is open, and the work so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.work = self.tokens = self.strings = 0
        self.line = 0
        """Where the logical line began."""
        self.segment = self.operand = 0
        """The token after which the expression began, and the last operand in it."""
        self.after_operator = False
        self.levels: list[_Level] = []
        self.lambdas = 0
        """Heads of lambdas that are open: their commas part no expressions."""
        self.looks_at_words = text.count("lambda") > _FEW or text.count("else") > _FEW
        self.is_pattern = False
        self.elifs: dict[int, int] = {}
        self._begin(0)

    def run(self) -> None:
        """Look at the whole text. Raises TooMuch."""
        position: int | None = 0
        while position is not None:
            position = self._tokens_from(position)

    def _tokens_from(self, position: int) -> int | None:
        """Go on from there to the next string that needs a closer look and return where it ends; None at the end."""
        for match in _CODE.finditer(self.text, position):
            kind, start, end = match.lastindex, match.start(), match.end()
            self.tokens += 1
            if end - start > _LONG_WORDS or self.looks_at_words or self.is_pattern:
                self._look(match)
            if kind == _STRING:
                self.strings += 1
            elif kind == _QUOTE:
                return self._quote(match)
            elif kind == _SEPARATOR:
                self._separate(end)
            elif kind == _LINE and not self.levels:
                self._line(end)
            elif kind != _COMMENT and (kind != _LINE or match.start(kind) > start):
                again = self._link(match)
                if again is not None:
                    return again
            # Else a comment, or a line that ends inside of brackets: they part nothing.
        self._line(len(self.text))
        return None

    def _link(self, match: re.Match[str]) -> int | None:
        """An operator, bracket or keyword: one more of an expression. Where to go on, if not behind it."""
        kind, end = match.lastindex, match.end()
        if self.strings:
            self._joined()
        if kind == _OPERATOR:
            is_unary = self.after_operator and not self.text[match.start() : match.start(kind)].strip()
            return self._operator(match[_OPERATOR], end, is_unary)
        self.after_operator = False
        self._chain(self.operand)
        if kind == _OPEN:
            self._open(end)
        elif kind == _CLOSE and self.levels:
            return self._close(end)
        return None

    def _operator(self, operator: str, end: int, is_unary: bool) -> int | None:
        self.after_operator = operator != "."
        if len(operator) > 3:
            self.work += len(operator) ** 2 >> 2
        is_colon = ":" in operator
        if operator == "." or is_unary or "**" in operator:
            for _ in operator.removeprefix("*"):
                self._chain(self.operand)
        elif is_colon:
            self._chain(self.segment)
        else:
            # An operator between two operands costs an eighth of an attribute or a call.
            self._chain(self.segment, 3)
            self.operand = self.tokens
        return self._colon(end - len(operator) + operator.index(":") + 1) if is_colon else None

    def _chain(self, since: int, shift: int = 1) -> None:
        """The expression that began at this token goes on: what there is of it is read once more."""
        length = self.tokens - since
        if length > _FREE_TOKENS:
            self.work += length >> shift

    def _look(self, match: re.Match[str]) -> None:
        """Count what is rare: lambdas, keywords in a row, tokens of patterns."""
        assert match.lastindex is not None
        words = self.text[match.start() : match.start(match.lastindex)]
        self.lambdas += words.count("lambda")
        for _ in range(words.count("else")):
            self.tokens += 1
            self._chain(self.segment)
        if len(words) > _LONG_WORDS:
            self.work += len(words) * len(words.split()) >> 4
        if self.is_pattern:
            self.work += 4 ** len(self.levels) >> 2

    def _begin(self, position: int) -> None:
        """A statement begins there."""
        special = _SPECIAL.match(self.text, position)
        self.is_pattern = bool(special and special[2])
        if special and special[1]:
            indent = special.start(1) - position
            self.elifs[indent] = self.elifs.get(indent, 0) + 1 if special[1] == "elif" else 0
            self.work += self.elifs[indent] >> 3

    def _line(self, position: int) -> None:
        """A logical line ends there."""
        if self.work > MAX_WORK:
            raise TooMuch("the code is nested too deeply or chained too long", self.line)
        if self.tokens > MAX_TOKENS:
            raise TooMuch("the code is too long", self.line)
        self._joined()
        self.line = position
        self.segment = self.operand = self.tokens
        self.lambdas = 0
        self._begin(position)

    def _joined(self) -> None:
        """What follows is no string: those before it are one."""
        if self.strings > MAX_STRINGS:
            raise TooMuch(f"more than {MAX_STRINGS} strings are joined in one expression", self.line)
        self.strings = 0

    def _separate(self, position: int) -> None:
        self._joined()
        if self.lambdas:
            return
        self.segment = self.operand = self.tokens
        if not self.levels:
            self._begin(position)

    def _open(self, position: int, quote: str = "", in_format: bool = False) -> None:
        self.levels.append(_Level(position, self.segment, self.operand, self.lambdas, self.strings, quote, in_format))
        if len(self.levels) > MAX_BRACKETS:
            raise TooMuch("brackets are nested too deeply", self.line)
        self.segment = self.operand = self.tokens
        self.lambdas = self.strings = 0

    def _close(self, position: int) -> int | None:
        """A bracket closes; where to go on when it was the field of a formatted string."""
        level = self.levels.pop()
        if len(self.levels) >= _FREE_LEVELS:
            self.work += position - level.opened
        self.segment, self.operand, self.lambdas = level.segment, level.operand, level.lambdas
        if not level.quote:
            return None
        self.strings = level.strings
        return self._formatted(position, level.quote, level.in_format)

    def _colon(self, end: int) -> int | None:
        """The colon of a lambda, of a field's format, or any other."""
        if self.lambdas:
            self.lambdas -= 1
        elif self.levels and self.levels[-1].quote:
            return self._formatted(end, self.levels[-1].quote, in_format=True)
        elif not self.levels:
            self._begin(end)
        return None

    def _quote(self, match: re.Match[str]) -> int:
        """A string begins that may go on for lines or have fields; where to go on."""
        quote, position = match[_QUOTE], match.end()
        self.strings += 1
        if _FORMATTED.search(self.text[max(match.start(_QUOTE) - 3, 0) : match.start(_QUOTE)]):
            return self._formatted(position, quote)
        for part in _STRING_END[quote].finditer(self.text, position):
            if part[0] == quote:
                return part.end()
            if part[0] == "\n":
                return part.start()
        return len(self.text)

    def _formatted(self, position: int, quote: str, in_format: bool = False) -> int:
        """Go on in the characters of a formatted string, or in a field's format, up to their end or the next field."""
        for part in _FIELD[quote].finditer(self.text, position):
            if part[0] == "{" or (part[0] == "{{" and in_format):
                self._open(part.start() + 1, quote, in_format)
                return part.start() + 1
            if part[0] == "}" and in_format:
                return self._close(part.end()) or len(self.text)
            if part[0] in (quote, "\n"):
                if in_format:
                    self.levels.pop()
                return part.end() if part[0] == quote else part.start()
        return len(self.text)
