"""Measure everything beside other tools, and write docs/performance.md, its pictures and the results that they show.

    python -m benchmarks                                fetch what is needed, measure, write; on a quiet machine
    python -m benchmarks --quick --out build/try        a try: few files, one turn
    python -m benchmarks --only scaling,memory          measure some parts anew and keep the others' figures
    python -m benchmarks --only nothing                 write the page of the kept results, measure nothing

Packages, environments and copies lie in `--work` (build/benchmarks) and are kept there; what the page is made of, in
performance.json beside it. Results are kept after each part, so that a run that ends early can go on with `--only`.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import corpora, machine, subjects, tools
from benchmarks.parts import Plan
from benchmarks.report.page import write_page
from benchmarks.results import KEPT, Results, read, write

PARTS = ("peers", "small", "caches", "jobs", "memory", "scaling", "plugin", "tree")
"""The modules of `parts`, in their order."""
QUICK = 2
"""How many files of each subject a try reads."""


def main(words: Sequence[str] | None = None) -> int:
    """Measure and write; 0."""
    options = arguments(words)
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / KEPT
    chosen = [part for part in PARTS if part in (options.only or PARTS)]
    results = read(kept) if options.only and kept.exists() else Results()
    if chosen:
        about = machine.described()
        if any(results.machine.get(key, about[key]) != about[key] for key in ("processor", "cores", "python")):
            sys.exit(f"{kept} is of another machine or another Python: measure all parts")
        results.quick = options.quick or results.quick
        plan = planned(options)
        results.machine = about
        results.versions = plan.tools.versions()
        for part in chosen:
            print(f"{part} ...", end=" ", file=sys.stderr, flush=True)
            measure(part, plan, results)
            print(f"{results.seconds[part]:.0f} s", file=sys.stderr)
            write(results, kept)
    for path in write_page(results, options.out):
        print(path)
    return 0


def measure(part: str, plan: Plan, results: Results) -> None:
    """Measure a part anew."""
    start = time.monotonic()
    module = importlib.import_module(f"benchmarks.parts.{part}")
    for name in module.NAMES:
        results.drop(name)
    module.measure(plan, results)
    results.seconds[part] = round(time.monotonic() - start)
    results.machine["load after"] = machine.load()


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs"), help="where the page is written (default: docs)")
    parser.add_argument("--work", type=Path, default=Path("build/benchmarks"), help="a folder to work in")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="turns of what is quick (default: 3)")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="PARTS", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="few files, one turn: to try the measurement")
    parser.add_argument("--here", action="store_true", help="the tools beside this Python alone, none made anew")
    parser.add_argument("--corpora", type=Path, metavar="DIR", help="the packages, unpacked (default: fetch)")
    parser.add_argument("--notebooks", type=Path, metavar="DIR", help="a folder with notebooks (default: fetch)")
    parser.add_argument("--tree", type=Path, metavar="DIR", help="a large tree, such as site-packages (default: fetch)")
    return parser.parse_args(words)


def planned(options: argparse.Namespace) -> Plan:
    """Environments and files, made or fetched where they are not given."""
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    packages = options.corpora or work / "corpora"
    if options.corpora is None:
        subjects.fetched(packages)
    found = options.notebooks
    if found is None and not options.corpora:
        try:
            found = corpora.notebooks(work / "notebooks")
        except OSError as error:  # not every machine reaches every host
            print(f"no notebooks, as they could not be fetched: {error}", file=sys.stderr)
    tree = options.tree
    if tree is None and not options.quick:
        tree = work / "wheels"
        corpora.tree(tree)
    files = subjects.subjects(packages.resolve(), found and found.resolve(), QUICK if options.quick else 0)
    box = (tools.here if options.here else tools.toolbox)(work)
    return Plan(box, 1 if options.quick else options.repeat, files, tree, options.quick)
