"""What the server asks the processes that read files, and what they answer: plain data that goes through a pipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tfmemlint.finding import Span
from tfmemlint.lint.engine import FileResult


@dataclass(frozen=True, slots=True)
class Around:
    """What holds for a question beside the file: the keys of a configuration that the editor sets over those of files,
    the folder whose configuration governs what lies in no file, and the unsaved files, by path."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    folder: str = ""
    unsaved: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lint:
    """What is found in a file that holds `data`? Without `is_file` it is on no disk, and its path only tells its kind.
    Answered by a Linted."""

    path: str
    data: bytes
    around: Around
    is_file: bool = True


@dataclass(frozen=True, slots=True)
class Linted:
    """What was found; None where the configuration leaves the file out, or cannot be used, for which `problem` is the
    reason in a line."""

    result: FileResult | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """The file after repairs: all safe ones, with a `code` those of a rule, and with a `span` too that of one finding.
    `unsafe` repairs are made only where it is said. Answered by a Repaired."""

    of: Lint
    code: str = ""
    span: Span | None = None
    unsafe: bool = False


@dataclass(frozen=True, slots=True)
class Repaired:
    """The bytes after the repairs, how many were made, and why others were not, in a line each."""

    data: bytes
    count: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """What is to be said of a rule? Answered by an About."""

    code: str


@dataclass(frozen=True, slots=True)
class About:
    """A rule in Markdown: why it costs memory, what was measured, and its whole page."""

    why: str = ""
    measured: str = ""
    page: str = ""


@dataclass(frozen=True, slots=True)
class Estimates:
    """How much GPU memory do the training steps of a file take? Answered by a tuple of Estimated."""

    of: Lint


@dataclass(frozen=True, slots=True)
class Estimated:
    """A step: its row in the user's file (and cell), a line on it, and all that is known in Markdown."""

    row: int
    cell: int | None
    headline: str
    details: str


@dataclass(frozen=True, slots=True)
class Failed:
    """No answer: the process failed at the question, with a line on why."""

    reason: str
