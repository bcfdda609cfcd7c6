"""`python -m tests.fuzz`: fuzz for a time, or check inputs that failed again."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from .campaign import Campaign
from .case import Case
from .checks import linter
from .kinds import KINDS
from .worker import run


def main() -> int:
    """The exit code: 1 where anything fails."""
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="how long, all in all")
    parser.add_argument("--seed", type=int, default=int(time.time()) // 86400, help="where to begin (default: today)")
    parser.add_argument("--kinds", default=",".join(KINDS), help="which kinds, parted by commas")
    parser.add_argument("--cases", type=int, help="no more inputs of each kind than this")
    parser.add_argument("--jobs", type=int, default=2, help="inputs that are checked at once")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="where to keep what was done")
    parser.add_argument("--replay", type=Path, nargs="+", metavar="FILE", help="check these inputs again, no others")
    options = parser.parse_args()
    for unsafe in (False, True):
        linter(unsafe).prepare()
    if options.replay:
        return _replay(options.replay)
    campaign = Campaign([KINDS[name] for name in options.kinds.split(",")], options.seed, options.folder, options.jobs)
    campaign.again()
    campaign.run(options.seconds, options.cases)
    campaign.reduce()
    print(campaign.table())
    return int(campaign.failed)


def _replay(paths: Sequence[Path]) -> int:
    failed = False
    for path in paths:
        name = path.name.partition("-")[0]
        kind = KINDS[name if name in KINDS else path.parent.name]
        words = run(kind, Case(path.name, path.read_bytes())).words
        print(f"{path}: {words or 'holds'}")
        failed = failed or bool(words)
    return int(failed)


sys.exit(main())
