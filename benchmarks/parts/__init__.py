"""What is measured: each module is one part, `measure(plan, results)` adds its figures to the results."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.corpora import Files
from benchmarks.tools import Toolbox

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class Plan:
    """What a measurement has at hand."""

    tools: Toolbox
    turns: int
    """How often what is quick is run; what takes long runs once."""
    files: dict[str, Files] = field(default_factory=dict)
    tree: Path | None = None
    """A folder of which the Python files are a large tree; it is not changed."""
    quick: bool = False

    @property
    def work(self) -> Path:
        """A folder to write into."""
        return self.tools.work
