"""What a rule reports: frozen data that knows offsets and text, and neither syntax trees nor files.

All offsets count characters of the *program text* (`tfmemlint.text.source.Source.text`);
`Source.position` turns them into rows and columns of the user's file.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace


class Severity(enum.Enum):
    """How bad a finding is: `ERROR` raises or has no effect at run time, `WARNING` wastes memory, `INFO` is advice."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for `INFO`, 1 for `WARNING`, 2 for `ERROR`."""
        return ("info", "warning", "error").index(self.value)


class Safety(enum.Enum):
    """What a fix may change: `SAFE` nothing a program can observe but memory and timing, `UNSAFE` numbers, order
    or timing, `DISPLAY` marks a suggestion that is shown and never applied."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters `start` (included) to `end` (excluded) of the program text."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"span {self.start}..{self.end} is not a range of offsets")


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace the characters `start` to `end` by `content`; `start == end` inserts.

    `content` uses LF line ends; they become the file's own when the edit is applied.
    """

    start: int
    end: int
    content: str

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"edit {self.start}..{self.end} is not a range of offsets")
        if "\r" in self.content:
            raise ValueError("edit content has a carriage return; use LF, the file's line ends are restored later")


@dataclass(frozen=True, slots=True)
class Fix:
    """One repair: edits that belong together and are applied all or not at all.

    Rules make it with `safe`, `unsafe` or `shown`. Raises ValueError when made with no edit, unordered edits or
    overlapping edits.
    """

    message: str
    edits: tuple[Edit, ...]
    safety: Safety

    def __post_init__(self) -> None:
        if not self.edits:
            raise ValueError("a fix needs at least one edit")
        for before, after in zip(self.edits, self.edits[1:], strict=False):
            if before.end > after.start or (before.start, before.end) == (after.start, after.end):
                raise ValueError(f"edits {before} and {after} overlap or are out of order")

    @classmethod
    def of(cls, safety: Safety, message: str, *parts: Edit | Sequence[Edit] | None) -> Fix | None:
        """The repair that makes these edits, whatever order they are given in.

        None where a part is None, as builders of edits answer where they cannot make theirs, and where there is nothing
        to change. Raises ValueError when edits overlap.
        """
        edits: list[Edit] = []
        for part in parts:
            if part is None:
                return None
            edits.extend((part,) if isinstance(part, Edit) else part)
        return cls(message, tuple(sorted(edits)), safety) if edits else None

    @classmethod
    def safe(cls, message: str, *parts: Edit | Sequence[Edit] | None) -> Fix | None:
        """A repair after which a program does the same with less memory; see `of`."""
        return cls.of(Safety.SAFE, message, *parts)

    @classmethod
    def unsafe(cls, message: str, *parts: Edit | Sequence[Edit] | None) -> Fix | None:
        """A repair that may change numbers, order or timing; see `of`."""
        return cls.of(Safety.UNSAFE, message, *parts)

    @classmethod
    def shown(cls, message: str, *parts: Edit | Sequence[Edit] | None) -> Fix | None:
        """A repair that the user has to decide on, shown and never applied; see `of`."""
        return cls.of(Safety.DISPLAY, message, *parts)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A place in another file of the project: its path (absolute), and rows and columns in characters, from 1."""

    path: str
    row: int
    column: int
    end_row: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that a finding speaks of, with a few words on its part.

    `span` is that of the file itself; with `elsewhere` the place is in another file, and the span means nothing.
    """

    span: Span
    message: str
    elsewhere: Elsewhere | None = None


MOST_BYTES = (1 << 63) - 1
"""What a finding can cost at most: more than any machine has, and the last number that every JSON reader takes."""


@dataclass(frozen=True, slots=True)
class Shows:
    """What one run of the flagged code shows, where a repair to compare with says nothing or is not there.

    `error` is an exception that is raised, caught or not: `Type: a part of its text`. `metric` is a figure of the run
    (`tfmemlint.verify.metrics`) that is 0 where the finding is wrong. With both either will do. With `settings` nothing
    is needed for it but the statements that set devices; with `started`, TensorFlow has been started before them.
    `function` is the name of the function that a count is about, `count` what the metric comes to where the finding is
    right. With `survives`, what grows is no garbage: Python's collector does not free it.
    """

    error: str = ""
    metric: str = ""
    settings: bool = False
    started: bool = False
    function: str = ""
    count: int | None = None
    survives: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One report of one rule at one place.

    `bytes` is the memory that the finding costs, in bytes, or None where it is not known from the code. Without
    `bytes_exact` it costs at least that: some part of what it is about has no known size.
    """

    code: str
    name: str
    severity: Severity
    message: str
    span: Span
    bytes: int | None = None
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    bytes_exact: bool = True
    elsewhere: Elsewhere | None = None
    """Set where the place is in another file, whose own findings it belongs to; such a finding is not reported."""
    contrast: tuple[Edit, ...] = ()
    """What makes the same program without the cost, where no repair does: to be measured beside it and nothing else,
    since it may well compute something else."""
    shows: Shows | None = None
    """What a run of the flagged code shows by itself; None for bytes, or what the rule's own sample is about."""

    @property
    def compared(self) -> tuple[Edit, ...]:
        """The edits that make the program to measure this one against: the repair's, else those of the contrast."""
        return self.fix.edits if self.fix is not None else self.contrast

    @property
    def sort_key(self) -> tuple[int, int, str, str]:
        """Orders findings of one file by place, then code."""
        return (self.span.start, self.span.end, self.code, self.message)

    def with_severity(self, severity: Severity) -> Finding:
        """The same finding at another severity (configuration may change it)."""
        return replace(self, severity=severity)

    def without_fix(self) -> Finding:
        """The same finding with no repair."""
        return replace(self, fix=None)

    def moved(self, place: Callable[[int], int]) -> Finding:
        """The same finding in another text, of whose offsets `place` makes these."""

        def span(old: Span) -> Span:
            return Span(place(old.start), place(old.end))

        related = tuple(each if each.elsewhere else replace(each, span=span(each.span)) for each in self.related)
        def edits(old: tuple[Edit, ...]) -> tuple[Edit, ...]:
            return tuple(replace(edit, start=place(edit.start), end=place(edit.end)) for edit in old)

        fix = None if self.fix is None else replace(self.fix, edits=edits(self.fix.edits))
        return replace(self, span=span(self.span), related=related, fix=fix, contrast=edits(self.contrast))
