"""Runs the parts of the probe, each in a process of its own, and writes their tables."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[2] / "knowledge"

PARTS = ("names", "effects", "dtypes", "shapes", "keras", "applications", "networks")

ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "-1",
    "PYTHONHASHSEED": "0",
    "KERAS_BACKEND": "tensorflow",
    "TF_USE_LEGACY_KERAS": "0",
    "TF_CPU_ALLOCATOR_USE_BFC": "1",  # without it the CPU has no figures to ask for, and asking raises
}
"""What keeps a probe's answers the same on every machine."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Probes the parts named (all by default) and writes their tables; 0 when it is done, 2 when a probe failed."""
    parser = argparse.ArgumentParser(prog="python -m tfmemlint.dev.probe", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one or more of {', '.join(PARTS)}; all by default")
    parser.add_argument("--output", type=Path, default=TARGET, help="the folder to write to")
    options = parser.parse_args(arguments)
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    for part in options.parts or PARTS:
        try:
            tables = probe(part)
        except ProbeError as error:
            print(error, file=sys.stderr)
            return 2
        for name, table in tables.items():
            write(options.output / f"{name}.json", table)
    return 0


class ProbeError(Exception):
    """A probe's process failed; the text ends with the last lines of what it printed."""


def probe(part: str, *arguments: str) -> dict[str, dict[str, Any]]:
    """Table name -> table, as the part's child process finds them now. Raises ProbeError."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, "-m", "tfmemlint.dev.probe.child", part, str(result), *arguments]
        root = str(Path(__file__).parents[3])
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, **ENVIRONMENT, "PYTHONPATH": path}, text=True, capture_output=True
        )
        if done.returncode or not result.exists():
            last = "\n".join(done.stderr.splitlines()[-15:])
            raise ProbeError(f"the probe of {part} failed with exit status {done.returncode}:\n{last}")
        tables: dict[str, dict[str, Any]] = json.loads(result.read_text(encoding="utf-8"))
    return tables


def write(path: Path, table: dict[str, Any]) -> None:
    """Writes a table as JSON with one entry a line, sorted by key."""
    compact = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode
    lines = (f"{compact(key)}:{compact(table[key])}" for key in sorted(table))
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
