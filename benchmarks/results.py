"""What was measured, as data that is kept beside the page, so that the page can be made anew without measuring."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.corpora import Files
from benchmarks.processes import Taken

KEPT = "performance.json"
"""The name of the kept results, in the folder of the page."""


@dataclass(frozen=True)
class Subject:
    """What was read."""

    title: str
    files: int
    lines: int


@dataclass(frozen=True)
class Figure:
    """What a tool took for a subject in a part of the measurement."""

    part: str
    subject: str
    tool: str
    state: str
    """`cold`, `warm`, `changed`, or how many processes, or lines, were allowed."""
    taken: Taken


@dataclass
class Results:
    """All figures of one machine."""

    quick: bool = False
    """Whether only few files were read, to try the measurement."""
    machine: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    subjects: dict[str, Subject] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    """How long measuring each part took, wall."""

    def add(self, part: str, subject: str, found: Mapping[tuple[str, str], Taken]) -> None:
        """Keep what was taken by each tool and state, in place of what there is of them."""
        new = {(part, subject, tool, state) for tool, state in found}
        self.figures = [each for each in self.figures if (each.part, each.subject, each.tool, each.state) not in new]
        self.figures += [Figure(part, subject, tool, state, taken) for (tool, state), taken in found.items()]

    def about(self, files: Files, name: str = "") -> None:
        """Keep how much there is of some files."""
        self.subjects[name or files.name] = Subject(files.title, len(files.paths), files.lines)

    def drop(self, part: str) -> None:
        """Forget a part that is measured anew."""
        self.figures = [each for each in self.figures if each.part != part]

    def of(self, part: str, subject: str | None = None) -> list[Figure]:
        """The figures of a part, or of one subject of it."""
        return [each for each in self.figures if each.part == part and subject in (None, each.subject)]

    def get(self, part: str, subject: str, tool: str, state: str = "cold") -> Taken | None:
        """One figure."""
        for each in self.of(part, subject):
            if (each.tool, each.state) == (tool, state):
                return each.taken
        return None


def write(results: Results, path: Path) -> None:
    """Keep results."""
    path.write_text(json.dumps(asdict(results), indent=1) + "\n", "utf-8")


def read(path: Path) -> Results:
    """Kept results."""
    data = json.loads(path.read_text("utf-8"))
    figures = [Figure(**{**each, "taken": Taken(**each["taken"])}) for each in data.pop("figures")]
    subjects = {name: Subject(**each) for name, each in data.pop("subjects").items()}
    return Results(**data, subjects=subjects, figures=figures)
