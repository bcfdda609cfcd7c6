"""What following imports costs: runs over a project with `follow-imports` and without, in turns, in CPU seconds.

    python -m benchmarks following PROJECTS                  each path is a project of its own
    python -m benchmarks following PROJECTS --at-most 1.4    fail where a cold run takes longer than that

Each figure is the processor time, user and system, of a whole `tfmemlint check` with the processes that it starts, and
the least of several rounds. A cold run has no cache; a warm one finds the cache that a run with the same settings left.
The ratios say how many times as long a run takes that follows imports.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.processes import Command, run

FOLLOWED = (True, False)


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; 0, or 1 if a cold run takes longer than `--at-most` allows."""
    options = arguments(words)
    results = {str(path): measured(path, options) for path in options.paths}
    print(json.dumps(results, indent=2) if options.json else table(results))
    slow = [path for path, result in results.items() if ratio(result, "cold") > options.at_most]
    if slow and not options.json:
        print(f"more than {options.at_most:g} times as long: {', '.join(slow)}")
    return 1 if slow else 0


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=3, help="how often each run is made (default: 3)")
    parser.add_argument("--jobs", default="1", help="processes of a run (default: 1)")
    parser.add_argument("--select", default="", help="rules to run in place of the default ones")
    parser.add_argument("--cold-only", action="store_true", help="leave the runs with a cache out")
    parser.add_argument("--at-most", type=float, default=float("inf"), metavar="RATIO", help="fail above")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with the tfmemlint to measure")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser.parse_args(words)


def measured(path: Path, options: argparse.Namespace) -> dict[str, list[float]]:
    """For each kind of run the CPU seconds of the fastest one that follows imports, and of one that does not."""
    with tempfile.TemporaryDirectory() as folder:
        caches = {follows: os.path.join(folder, str(follows)) for follows in FOLLOWED}
        kinds: dict[str, dict[bool, Sequence[str]]] = {"cold": dict.fromkeys(FOLLOWED, ("--no-cache",))}
        if not options.cold_only:
            kinds["warm"] = {follows: ("--cache-dir", caches[follows]) for follows in FOLLOWED}
            for follows in FOLLOWED:
                seconds(path, follows, kinds["warm"][follows], options)
        best = {kind: [float("inf")] * 2 for kind in kinds}
        for number in range(options.rounds):
            for kind, flags in kinds.items():
                for follows in FOLLOWED if number % 2 else reversed(FOLLOWED):
                    took, place = seconds(path, follows, flags[follows], options), FOLLOWED.index(follows)
                    best[kind][place] = min(best[kind][place], took)
    return best


def seconds(path: Path, follows: bool, flags: Sequence[str], options: argparse.Namespace) -> float:
    """CPU seconds of one run."""
    command = [
        options.python, "-m", "tfmemlint", "check", "--isolated", "--no-respect-gitignore", "--exit-zero",
        "--output-format", "jsonl", "--jobs", options.jobs, "--config", f"follow-imports = {str(follows).lower()}",
        *(("--select", options.select) if options.select else ()), *flags, str(path.absolute()),
    ]  # fmt: skip
    return run(Command(command, codes=(0, 2))).cpu  # a file that does not parse makes it 2


def ratio(result: dict[str, list[float]], kind: str) -> float:
    """How many times as long a run takes that follows imports."""
    return result[kind][0] / result[kind][1]


def table(results: dict[str, dict[str, list[float]]]) -> str:
    """The figures for people."""
    rows = []
    for path, result in results.items():
        for kind, (following, alone) in result.items():
            rows.append(
                f"{kind}  following {following:7.2f} s  without {alone:7.2f} s  {following / alone:5.2f} times  {path}"
            )
    for kind in next(iter(results.values()), {}):
        following, alone = (sum(result[kind][place] for result in results.values()) for place in (0, 1))
        rows.append(
            f"{kind}  following {following:7.2f} s  without {alone:7.2f} s  {following / alone:5.2f} times  all"
        )
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(main())
