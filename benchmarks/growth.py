"""How cost grows: CPU seconds and memory for programs twice as large, and files of 50 000 lines against their parse.

    python -m benchmarks growth                 all shapes of tests/robustness/growth.py
    python -m benchmarks growth tensors cases   only these

Each figure is the least of several runs, each in a process of its own. The exit code is 1 where twice the program takes
more than 2.5 times the seconds or bytes (and libcst's parser alone does not), or where a large file takes more than ten
times as long as parsing it with libcst.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.shapes import LARGE, growth

SHAPES = growth.SHAPES

MOST = 2.5
MOST_PARSES = 10
SCALE = 8
LINES = 50_000


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; 1 where something grows too fast."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="shapes, or names of large files")
    parser.add_argument("--repeat", type=int, default=3, help="runs for each figure (default: 3)")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.measure:
        return measure(*options.measure)
    chosen = options.names or [*SHAPES, *LARGE]
    slow = [name for name in chosen if name in SHAPES and not doubles(name, options.repeat)]
    slow += [name for name in chosen if name in LARGE and not parses(name, options.repeat)]
    print(f"too fast: {', '.join(slow)}" if slow else "all grow with the program")
    return 1 if slow else 0


def doubles(name: str, repeat: int) -> bool:
    """Whether twice the program takes at most 2.5 times as long and as much memory."""
    size = SHAPES[name].size * SCALE
    (s1, m1), (s2, m2) = figures("lint", name, size, repeat), figures("lint", name, 2 * size, repeat)
    parsing = 0.0
    if s2 > MOST * s1 and SHAPES[name].path == "a.py":  # libcst's parser itself is slow on some long expressions
        parsing = figures("parse", name, 2 * size, repeat)[0] - MOST * figures("parse", name, size, repeat)[0]
    good = s2 - max(parsing, 0.0) <= MOST * s1 and m2 <= MOST * m1
    print(f"{'  ' if good else '! '}{name:36} n {size:6} {s1:7.2f} s {s2:7.2f} s {s2 / s1:5.2f}  "
          f"{m1 >> 20:5} MiB {m2 >> 20:5} MiB {m2 / m1:5.2f}", flush=True)  # fmt: skip
    return good


def parses(name: str, repeat: int) -> bool:
    """Whether a file of 50 000 lines is linted within ten times its parse."""
    (lint, memory), (parse, tree) = (figures(kind, f"large {name}", LINES, repeat) for kind in ("lint", "parse"))
    good = lint <= MOST_PARSES * parse
    print(f"{'  ' if good else '! '}{LINES} lines: {name:20} parse {parse:6.2f} s {tree >> 20:5} MiB  "
          f"lint {lint:6.2f} s {memory >> 20:5} MiB  {lint / parse:5.2f} x", flush=True)  # fmt: skip
    return good


def figures(kind: str, name: str, size: int, repeat: int) -> tuple[float, int]:
    """CPU seconds and bytes that one run takes beyond what the process took before it; the least of several."""
    command = [sys.executable, "-m", "benchmarks.growth", "--measure", kind, name, str(size)]
    done = [json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout) for _ in range(repeat)]
    return min(seconds for seconds, _ in done), min(memory for _, memory in done)


def measure(kind: str, name: str, size: str) -> int:
    """Print what one run takes, as JSON."""
    import gc
    import resource
    import time

    import libcst as cst

    from tfmemlint.config.settings import Config
    from tfmemlint.lint.linter import Linter
    from tfmemlint.lint.recursion import with_deep_stack

    large = name.removeprefix("large ")
    shape = growth.Shape(LARGE[large], 0) if name != large else SHAPES[name]
    text = shape.make(int(size))
    data = text.encode()
    linter = Linter(Config(select=("ALL",)))
    linter.prepare()
    linter.lint(b"import tensorflow as tf\nds = tf.data.Dataset.range(3).repeat().cache()\n", "warm.py")
    gc.collect()

    def run() -> None:
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        kept = linter.lint(data, shape.path) if kind == "lint" else cst.parse_module(text)
        seconds = time.process_time() - start
        unit = 1 if sys.platform == "darwin" else 1024
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit
        del kept
        print(json.dumps((seconds, max(more, 1 << 20))))

    with_deep_stack(run)
    return 0


if __name__ == "__main__":
    sys.exit(main())
