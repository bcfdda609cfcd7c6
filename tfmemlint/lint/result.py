"""What linting one file gives. Files without TensorFlow have a result, too, and nothing of the engine is imported for
them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfmemlint.finding import Finding, Severity, Span

if TYPE_CHECKING:
    from tfmemlint.text.source import Source

UNREADABLE = ("TFM001", "unreadable-file")


@dataclass(frozen=True)
class FileResult:
    """What linting one file gave. `skipped` says that the file does not use TensorFlow; `source` is None where the
    file could not be read as text or was skipped; `suppressed` counts findings that comments silenced."""

    path: str
    source: Source | None = None
    findings: tuple[Finding, ...] = ()
    suppressed: int = 0
    skipped: bool = False
    place: tuple[int, int] | None = field(default=None)
    """Row and column of a TFM001, which has no source to look its place up in."""
    failures: tuple[Finding, ...] = ()
    """What kept the file, or a part of it, from being checked: each TFM000, TFM001 and TFM002, told or not."""
    silenced: tuple[Finding, ...] = ()
    """The findings that comments silenced; a result from the cache has none, only their number."""
    rests_on: Mapping[str, bytes | None] = field(default_factory=dict)
    """The other files that had a part in the findings, by absolute path: a hash of their bytes (see `digest`), None for
    those that were looked for and could not be read."""

    @property
    def complete(self) -> bool:
        """Whether all of the file was checked, by all rules that ran."""
        return not self.failures


def unreadable(path: str, message: str, row: int = 1, column: int = 1) -> FileResult:
    """The result for a file that cannot be read as program text: one TFM001 and nothing else."""
    finding = Finding(*UNREADABLE, Severity.ERROR, message, Span(0, 0))
    return FileResult(path, None, (finding,), place=(row, column), failures=(finding,))
