"""What the plugin costs flake8 on code without TensorFlow, as a part of flake8's own time.

    python -m benchmarks flake8                   Python's own asyncio, email, json, ...; nine pairs of runs
    python -m benchmarks flake8 PATH...           code of your own
    python -m benchmarks flake8 --at-most 3       exit code 1 when it costs more than that many percent

Each run is a process of its own, with one job; those with the plugin and those without it take turns. Shown are the
median of the differences in CPU time, pair by pair, in which the machine has a part of several percent, and what the
plugin was seen to take within a run, its import included, as a part of the rest of that run: it varies little, leaves
out only flake8's own part in calling it, and is what `--at-most` looks at.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from benchmarks.processes import Command, run

PACKAGES = ("asyncio", "concurrent", "email", "html", "http", "importlib", "json", "logging", "urllib", "xml")
RUN = """
import importlib.metadata as metadata, json, sys, time
with_plugin, paths = sys.argv[1] == "with", sys.argv[2:]
found, hidden = metadata.distributions, "" if with_plugin else "tfmemlint"
metadata.distributions = lambda **kinds: [each for each in found(**kinds) if each.metadata["Name"] != hidden]
from flake8.main.cli import main
seconds = 0.0
if with_plugin:
    start = time.process_time()
    from tfmemlint.flake8_plugin import Plugin
    seconds = time.process_time() - start
    run = Plugin.run
    def timed(self):
        global seconds
        start = time.process_time()
        reports = list(run(self))
        seconds += time.process_time() - start
        return iter(reports)
    Plugin.run = timed
main(["--isolated", "--jobs=1", "--exit-zero", "--quiet", "--quiet", *paths])
assert with_plugin == ("tfmemlint.flake8_plugin" in sys.modules)
print(json.dumps(seconds), file=sys.stderr)
"""


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; 0, or 1 where the plugin costs more than `--at-most` allows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: a part of Python's own)")
    parser.add_argument("--pairs", type=int, default=9, help="pairs of runs (default: 9)")
    parser.add_argument("--at-most", type=float, metavar="PERCENT", help="fail where the plugin costs more")
    options = parser.parse_args(words)
    library = Path(sysconfig.get_path("stdlib"))
    paths = options.paths or [str(library / name) for name in PACKAGES]
    measured(paths, True), measured(paths, False)  # which compiles
    differences, shares, alone = [], [], []
    for pair in range(options.pairs):
        order = (True, False) if pair % 2 else (False, True)
        found = {plugin: measured(paths, plugin) for plugin in order}
        alone.append(found[False][0])
        differences.append(100 * (found[True][0] / found[False][0] - 1))
        shares.append(100 * found[True][1] / (found[True][0] - found[True][1]))
    cost, seen = statistics.median(differences), statistics.median(shares)
    print(f"flake8 alone            {statistics.median(alone):6.2f} s")
    print(f"with the plugin         {cost:+6.2f} %   (pairs from {min(differences):+.2f} to {max(differences):+.2f})")
    print(f"seen in the plugin      {seen:+6.2f} %")
    return int(options.at_most is not None and seen > options.at_most)


def measured(paths: Sequence[str], plugin: bool) -> tuple[float, float]:
    """The CPU seconds of one run of flake8, and those in the plugin."""
    taken = run(Command([sys.executable, "-c", RUN, "with" if plugin else "without", *paths], codes=(0,)))
    return taken.cpu, float(json.loads(taken.errors.splitlines()[-1]))


if __name__ == "__main__":
    sys.exit(main())
