"""The figures by which two programs are compared."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tfmemlint.verify.run.runs import Run

CALLS = 20
"""Times of a statement that is clocked whose time is told: the sum of a few is no chance, as one may be."""

KIB, MIB = 1024, 1024**2
MARKS_NEEDED = 4


@dataclass(frozen=True)
class Metric:
    """A figure of a run, smaller being better. Two programs that differ by no more than `floor` count as equal."""

    name: str
    unit: str
    """"bytes", "s" or "" for a count."""
    floor: float
    read: Callable[[Run], float | None]
    missing: str
    """Why a run may not have it, in words."""
    least_ratio: float = 1.0
    """Of the two programs' figures, below which the difference may be chance, also where the runs happen to agree."""

    def over(self, runs: Sequence[float]) -> tuple[float, float]:
        """One figure for several runs, and how far it may be off: the median, and how far the runs are spread. Of
        seconds the least, and how far that is from the next: what else the machine does can only add to them."""
        least, *others = sorted(runs)
        if self.unit == "s":
            return least, min(others, default=least) - least
        return statistics.median(runs), max(runs) - least


def _slope(column: int) -> Callable[[Run], float | None]:
    """Growth per mark over the later half of the marks, by least squares; the beginning holds what warms up. What
    shrinks grows by nothing: to shrink by less is no cost."""

    def read(run: Run) -> float | None:
        rows: Sequence[Any] = run.marks[len(run.marks) // 2 :] if len(run.marks) >= 2 * MARKS_NEEDED else run.marks
        values = [row[column] for row in rows]
        if len(values) < MARKS_NEEDED or None in values:
            return None
        steps = range(len(values))
        return max(0.0, float(statistics.linear_regression(steps, values).slope))

    return read


def _rss_growth(run: Run) -> float | None:
    """Without the pages of libraries: a TensorFlow for graphics cards has gigabytes of them."""
    if run.rss_peak is None or run.rss_start is None:
        return None
    return float(max(0, run.rss_peak - run.rss_start - run.rss_files))


def _growth_dropped(run: Run) -> float | None:
    if run.gpu_options is None or "allow_growth" not in run.gpu_options:
        return None
    return float(not run.gpu_options["allow_growth"])


def _whole_card(run: Run) -> float | None:
    return None if run.cards is None else float(run.cards.whole)


def _probed(run: Run) -> float | None:
    return None if run.cards is None else float(run.cards.whole and run.cards.made_by == "a probe")


def _set_too_late(run: Run) -> float | None:
    return None if run.cards is None else float(len(run.cards.late))


def _seconds(run: Run) -> float | None:
    return run.seconds if run.clocked is None else CALLS * run.clocked


def _held(run: Run) -> float | None:
    return float(bool(run.held)) if run.symbolic else None


def _made_per_call(run: Run) -> float | None:
    return float(run.made > 1) if run.reached > 1 else None


def _figure(read: Callable[[Run], int | None]) -> Callable[[Run], float | None]:
    return lambda run: None if (value := read(run)) is None else float(value)


def _made_anew(run: Run) -> float | None:
    """0 where only the first time takes memory, which is what everybody needs."""
    return float(max(0, run.made_anew - 1)) if run.makings > 1 else None


def _functions(run: Run) -> float | None:
    return float(run.functions) if run.makings > 2 else None


def _eager_runs(run: Run) -> float | None:
    return float(run.makings) if run.makings > 1 else None


def _times_copied(run: Run) -> float | None:
    return run.copied / run.comes_to if run.joins >= MARKS_NEEDED and run.comes_to else None


def _held_while_iterated(run: Run) -> float | None:
    return float(max(run.held_by_data_sets)) if run.held_by_data_sets else None


def of_one_data_set(before: Sequence[Run], after: Sequence[Run]) -> Metric:
    """What is held while that data set is iterated of which the programs differ most, where all iterate as many."""
    runs = [run.held_by_data_sets for run in (*before, *after)]
    known, metric = min(map(len, runs)), METRICS[ITERATED]
    if known != max(map(len, runs)) or not known or not before or not after:
        return replace(metric, read=lambda run: None)

    def saved(place: int) -> int:
        sides = [[run.held_by_data_sets[place] for run in runs] for runs in (before, after)]
        return min(sides[0]) - max(sides[1])

    place = max(range(known), key=saved)
    return replace(metric, read=lambda run: float(run.held_by_data_sets[place]))


_NO_DATA_SET = "no data set is iterated"
_MADE_ONCE = "what is flagged is not made several times"
_NO_CARDS = "no graphics card was simulated"
_NO_ALLOCATOR = "the tensor allocator reported nothing: the program runs no TensorFlow operation"
_NO_ARRAYS = "the arrays of this NumPy cannot be counted"
FEW_JOINS = f"fewer than {MARKS_NEEDED} times anything is joined there"
FEW_MARKS = f"the program calls tfmemlint_mark() fewer than {MARKS_NEEDED} times"

METRICS = {
    metric.name: metric
    for metric in (
        Metric("peak_bytes", "bytes", 64 * KIB, lambda run: run.peak_bytes, _NO_ALLOCATOR),
        Metric("live_bytes", "bytes", 64 * KIB, lambda run: run.live_bytes, _NO_ALLOCATOR),
        Metric("iterated_bytes", "bytes", 64 * KIB, _held_while_iterated, _NO_DATA_SET, 1.25),
        Metric("array_bytes", "bytes", 64 * KIB, lambda run: run.arrays_peak, _NO_ARRAYS),
        Metric("rss", "bytes", 8 * MIB, _rss_growth, "this system does not tell resident memory", 1.25),
        Metric("device_bytes", "bytes", 64 * MIB, lambda run: run.device_used_peak, "there is no NVIDIA card here"),
        Metric("traces", "", 0.5, lambda run: float(run.traces), ""),
        Metric("seconds", "s", 0.05, _seconds, "", 1.2),
        Metric("value", "", 0.0, lambda run: run.value, "the program does not call tfmemlint_value()"),
        Metric("live_slope", "bytes", KIB, _slope(1), FEW_MARKS),
        Metric("rss_slope", "bytes", 4 * KIB, _slope(3), FEW_MARKS),
        Metric("traces_slope", "", 0.1, _slope(4), FEW_MARKS),
        Metric("nodes_slope", "", 0.5, _slope(5), FEW_MARKS),
        Metric("whole_card", "", 0.5, _whole_card, _NO_CARDS),
        Metric("probed", "", 0.5, _probed, _NO_CARDS),
        Metric("set_too_late", "", 0.5, _set_too_late, _NO_CARDS),
        Metric("step_seconds", "s", 0.0005, lambda run: run.step_seconds, "no training step runs often enough", 1.5),
        Metric("held", "", 0.5, _held, "the program stores no tensor of a graph at the flagged place"),
        Metric("made_per_call", "", 0.5, _made_per_call, "the program does not come to the flagged place twice"),
        Metric("nodes", "", 0.5, _figure(lambda run: run.nodes), "the flagged statement runs while nothing is traced"),
        Metric("made_anew", "", 0.5, _made_anew, _MADE_ONCE),
        Metric("functions", "", 0.5, _functions, _MADE_ONCE),
        Metric("eager_runs", "", 0.5, _eager_runs, "what is flagged does not run eagerly, or only once"),
        Metric("taken", "bytes", 64 * KIB, _figure(lambda run: run.taken), "no data is made where it is flagged"),
        Metric("left", "bytes", 64 * KIB, _figure(lambda run: run.left), "the flagged statement runs in no eager step"),
        Metric("parameters", "", 0.5, _figure(lambda run: run.parameters), "the flagged layer is not built"),
        Metric("element", "bytes", 64, _figure(lambda run: run.element), "no data set is looked at"),
        Metric("repeating", "", 0.5, _figure(lambda run: run.repeating), "no data set ends in time"),
        Metric("copied", "", 1.2, _times_copied, FEW_JOINS),
        Metric("unmixed", "", 0.5, _figure(lambda run: run.unmixed), "no data set ends in time"),
        Metric("wide", "bytes", KIB, _figure(lambda run: run.wide), "the flagged call is not come to"),
        Metric("growth_dropped", "", 0.5, _growth_dropped, "TensorFlow was not asked for the GPU options"),
    )
}
"""All metrics by name."""

FIRST = ("whole_card", "probed", "set_too_late")
"""Those that ask who makes the devices of the cards first."""

STEPS = ("step_seconds", "peak_bytes")
"""Those that are tried, in this order, where a step is said to take more time and memory."""

SETTINGS = (*FIRST, "growth_dropped")
"""Those of which one program alone tells whether a setting does what it says."""

CALLED = ("held", "made_per_call", "nodes")
"""Those of which calls of one function tell."""

TRACED = ("held", "nodes")
"""Those of these that are about what a trace leaves."""

BETWEEN = ("left", "nodes")
"""Those that are read before the flagged statement and behind it."""

ANEW = ("made_anew", "functions", "eager_runs")
"""Those of which making the same thing again and again tells."""

GIVEN = ("wide",)
"""Those of which the arrays tell that the flagged call is given."""

COPIES = ("copied",)
"""Those of which what the flagged call gives each time tells."""

MADE = ("taken", "parameters")
"""Those of which what the flagged code makes is held against the message, by itself."""

UNMIXED = ("unmixed",)
"""Those of which the elements of one data set tell, with nothing to compare them with."""

WRAPPED = (*MADE, *ANEW, *GIVEN, *COPIES)
"""Those for which something is put around the flagged call."""

AT_ONCE = tuple(name for name in WRAPPED if name != "eager_runs")
"""Those of these that are there as soon as the flagged statement has run; a generator runs when it is asked."""

LOOKED_AT = ("element", "repeating", *UNMIXED)
"""Those of which the elements of a data set tell."""

ITERATED = "iterated_bytes"
"""What is held while a data set is iterated, also where the program takes more elsewhere."""

TRIED = ("peak_bytes", "live_bytes", "array_bytes", "rss", "traces")
"""Those that are tried, in this order, where a claim names none."""

SLOPES = ("live_slope", "traces_slope", "nodes_slope")
"""Those that are tried first where something grows from round to round."""

GROWTH = (*SLOPES, "rss_slope")
"""All that tell of growth; that of the whole process only where it is named, as for sessions, whose tensors the
allocator of eager TensorFlow does not have."""

WHERE_BYTES_ARE = ("peak_bytes", "array_bytes")
"""Those of which the larger one is held against the bytes of a message."""
