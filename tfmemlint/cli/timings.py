"""`check --timings`: what the run took, as a table on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence

from tfmemlint.cli import output
from tfmemlint.report.base import plural
from tfmemlint.run.file_task import Outcome
from tfmemlint.run.timings import RuleTime, Spent, begin, children
from tfmemlint.shown import shown

_OWN = {
    "discovery": ("tfmemlint.cli.check._targets",),
    "report": ("tfmemlint.cli.check.report", "tfmemlint.cli.check._write_diff"),
}
_ORDER = (
    "start", "discovery", "reading", "cache", "loading rules", "decoding", "parsing", "indexing", "dispatch", "model",
    "rules", "places", "comments", "report", "other",
)  # fmt: skip
_RULES, _FILES = 12, 5
"""Rows of rules and of files; `--verbose` has all rules."""
_WORDS = {
    "start": "Python and imports before the first file",
    "cache": "results of earlier runs",
    "indexing": "of the tree",
    "dispatch": "which rules are to be asked",
    "model": "names, values, order of effects",
    "places": "of findings in the text",
    "other": "processes, and whatever is in none of these",
}


class Timings:
    """The clock of one run of `check`, and its table at the end."""

    _began = False

    def __init__(self, started: float) -> None:
        self._started = started
        # The time since the beginning of the process is that of its first run.
        self._before = time.process_time() if Timings._began else 0.0
        Timings._began = True
        self._children = children()
        self._clock = begin(_OWN)
        self._start = time.process_time() - self._before

    def tell(self, outcomes: Sequence[Outcome], *, verbose: bool) -> None:
        """Write the table."""
        spent = self._clock.take()
        for outcome in outcomes:
            if outcome.spent is not None:
                spent.add(outcome.spent)
        spent.stages["start"] = self._start
        here = time.process_time() - self._before
        # What the machines of a cluster do is none of this one's time.
        total = max(here + children() - self._children, spent.seconds)
        spent.stages["other"] = total - spent.seconds
        with output.tolerant(sys.stderr) as stream:
            stream.writelines(f"{line}\n" for line in _lines(spent, total, self._clocked(), outcomes, verbose))

    def _clocked(self) -> float:
        return time.perf_counter() - self._started


def _lines(spent: Spent, total: float, clocked: float, outcomes: Sequence[Outcome], verbose: bool) -> Iterator[str]:
    linted = [outcome for outcome in outcomes if outcome.spent is not None]
    yield f"timings: {total:.2f} s of processor time, {clocked:.2f} s by the clock"
    kept = sum(not outcome.result.skipped for outcome in outcomes) - len(linted)
    cached = f", {kept} from the cache" if kept > 0 else ""
    yield f"{plural(len(outcomes), 'file')}, {len(linted)} linted{cached}"
    yield ""
    yield f"{'stage':<16}{'seconds':>9}{'share':>7}"
    for stage in sorted(spent.stages, key=_ORDER.index):
        seconds = spent.stages[stage]
        yield f"{stage:<16}{seconds:>9.3f}{_share(seconds, total):>7}  {_WORDS.get(stage, '')}".rstrip()
    if spent.rules:
        yield ""
        yield from _rules(spent.rules, None if verbose else _RULES)
    if len(linted) > 1:
        yield ""
        yield f"{'seconds':>9}  slowest files"
        slowest = sorted(((each.spent.seconds, each.result.path) for each in linted if each.spent), reverse=True)
        yield from (f"{seconds:>9.3f}  {shown(path)}" for seconds, path in slowest[:_FILES])


def _rules(rules: dict[tuple[str, str], RuleTime], most: int | None) -> Iterator[str]:
    width = max(len(f"{code} {name}") for code, name in rules) + 2
    yield f"{'rule':<{width}}{'own':>8}{'asked':>8}{'files':>7}"
    listed = sorted(rules.items(), key=lambda item: (-(item[1].own + item[1].asked), item[0]))
    for (code, name), each in listed[:most]:
        yield f"{f'{code} {name}':<{width}}{each.own:>8.3f}{each.asked:>8.3f}{each.files:>7}"
    if most is not None and len(listed) > most:
        rest = [each for _, each in listed[most:]]
        own, asked = sum(each.own for each in rest), sum(each.asked for each in rest)
        yield f"{f'{len(rest)} others (--verbose lists them)':<{width}}{own:>8.3f}{asked:>8.3f}"
    yield "own: the rule's code. asked: answers of the model that it was the first to need. What is known then is free"
    yield "for the rules behind it: were this one switched off, another would pay for most of that."


def _share(seconds: float, total: float) -> str:
    return f"{100 * seconds / total:.0f} %" if total else ""
