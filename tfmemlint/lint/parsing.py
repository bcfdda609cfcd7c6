"""The tree of a program text, or the reason why there is none: one TFM002 for each part that cannot be parsed."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.finding import Finding, Severity, Span
from tfmemlint.text import limits
from tfmemlint.text.scripts import ScriptSource
from tfmemlint.text.source import Source

if TYPE_CHECKING:
    import libcst as cst

_SPACES_BEFORE_TABS = re.compile(r"^\t* +\t[ \t]*(?=[^\s#])", re.MULTILINE)

_CHARACTERS = 1_000
"""Characters of single expressions that count as a unit of the parser's work."""

LARGEST_AT_ONCE = 32 << 10
"""Characters of a program that is read without an estimate of libcst's work, whatever they are: what is longer and too
much for libcst's parser may be too much for the model, too."""

_NOTHING = "nothing in this part was checked or changed"
_NO_REPAIR = "this part was checked, and nothing in it can be repaired"

SYNTAX_ERROR = ("TFM002", "syntax-error")


def is_python(text: str) -> bool:
    """Whether the running Python accepts the text: yes is sure, no is not (its grammar may be older)."""
    try:
        if len(text) > LARGEST_AT_ONCE:
            limits.check(text)
        _compile(text)
    except (limits.TooMuch, SyntaxError, ValueError, RecursionError, MemoryError, SystemError):
        return False
    return True


def is_bounded(text: str) -> bool:
    """Whether a text may be read without libcst's parser: a short one, or one that this would read, too."""
    try:
        return len(text) <= LARGEST_AT_ONCE or limits.check(text) >= 0
    except limits.TooMuch:
        return False


def wants_room(source: Source) -> bool:
    """Whether the tree may be deeper than an ordinary stack."""
    try:
        return limits.check(source.text) > limits.ROOM
    except limits.TooMuch:
        return True


def parse(source: Source) -> tuple[cst.Module | None, Source, list[Finding]]:
    """The tree of the program text, the source that it belongs to and a TFM002 for each part that does not parse.

    Cells and fenced blocks that do not parse are blanked, so that the others are still linted. Takes bounded time and
    memory for any text (see `limits`).
    """
    try:
        return _tree(source.text, 0), source, []
    except _Unparsable as error:
        if len(source.blocks) == 1:
            return None, source, [error.finding]
    bad: dict[int, Finding] = {}
    for index, block in enumerate(source.blocks):
        try:
            _tree(source.text[block.span.start : block.span.end], block.span.start)
        except _Unparsable as error:
            bad[index] = error.finding
    rest = source.without_blocks(set(bad))
    try:
        return _tree(rest.text, 0), rest, list(bad.values())
    except _Unparsable as error:
        return None, source, [*bad.values(), error.finding]


class Pieces:
    """libcst's parser for single expressions of one program, within the bounds of a whole one."""

    def __init__(self) -> None:
        self._work = 0

    def __call__(self, text: str) -> cst.BaseExpression:
        """The tree of an expression. Raises Unsupported."""
        import libcst as cst

        from tfmemlint.syntax.first_pass.layout import Unsupported

        try:
            self._work += limits.check(text) + len(text) // _CHARACTERS
            if self._work > limits.ROOM:
                raise Unsupported("too much for single expressions")
            return cst.parse_expression(f"({text})" if "\n" in text else text)
        except (limits.TooMuch, cst.ParserSyntaxError) as error:
            raise Unsupported(str(error)) from None


def commands(source: Source) -> list[Finding]:
    """One TFM002 for a Python file that is read without its lines for IPython, which Python refuses."""
    spans = source.commands if isinstance(source, ScriptSource) else ()
    if not spans:
        return []
    lines = f"{len(spans)} such lines" if len(spans) > 1 else "this line"
    message = f"a command of IPython, which Python does not run; the rest was checked as a notebook is, without {lines}"
    return [Finding(*SYNTAX_ERROR, Severity.ERROR, message, Span(spans[0].start, spans[0].start))]


def although_checked(refused: Finding) -> Finding:
    """What is said of a program that Python reads and libcst does not, after it was checked all the same."""
    return replace(refused, severity=Severity.WARNING, message=refused.message.replace(_NOTHING, _NO_REPAIR))


def refusal(source: Source) -> Finding | None:
    """The TFM002 for a text that libcst has read but Python does not; None where Python reads it too."""
    try:
        _compile(source.text)
    except SyntaxError:
        return _syntax_error(source.text, 0, 1, 0).finding
    except (ValueError, RecursionError, MemoryError, SystemError):
        pass
    return None


class _Unparsable(Exception):
    """A text that has no tree, and the finding that says why."""

    def __init__(self, why: str, offset: int) -> None:
        super().__init__(why)
        message = f"cannot parse: {why}; {_NOTHING}"
        self.finding = Finding(*SYNTAX_ERROR, Severity.ERROR, message, Span(offset, offset))


def _tree(text: str, start: int) -> cst.Module:
    """The tree of a text that begins at the offset `start`. Raises _Unparsable."""
    import libcst as cst

    try:
        limits.check(text)
        return cst.parse_module(text)
    except limits.TooMuch as error:
        raise _Unparsable(f"{error.reason}; simplify it or exclude the file", start + error.offset) from None
    except cst.ParserSyntaxError as error:
        raise _syntax_error(text, start, error.raw_line, error.raw_column) from None
    except BaseException as error:
        # libcst's own failure: valid code that its nodes do not take, or a panic of its parser, which is no Exception.
        if not isinstance(error, Exception) and type(error).__module__ != "pyo3_runtime":
            raise
        raise _syntax_error(text, start, 1, 0) from None


def _syntax_error(text: str, start: int, row: int, column: int) -> _Unparsable:
    """Python's own words and place for an error where it has some: they are clearer, and those that users know."""
    why = "is not valid Python"
    try:
        _compile(text)
        row, why = _although_python(text, row)
    except SyntaxError as error:
        row, column, why = error.lineno or row, (error.offset or 1) - 1, error.msg
    except (ValueError, RecursionError, MemoryError, SystemError):
        pass
    lines = text.split("\n")
    row = min(max(row, 1), len(lines))
    offset = start + sum(len(line) + 1 for line in lines[: row - 1]) + min(max(column, 0), len(lines[row - 1]))
    return _Unparsable(why, offset)


def _although_python(text: str, row: int) -> tuple[int, str]:
    """The row, and why the text is not read although the running Python reads it."""
    mixed = _SPACES_BEFORE_TABS.search(text)
    if mixed:
        row = text.count("\n", 0, mixed.start()) + 1
        return row, "this is indented by spaces and then tabs, which Python reads and libcst does not; use one kind"
    return row, "Python reads this, but libcst, with which tfmemlint reads code, does not"


def _compile(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ast.parse(text)
