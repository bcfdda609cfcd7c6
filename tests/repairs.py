"""The sample programs before and after their repairs, run under TensorFlow and compared. Safe repairs change nothing of
what is printed, what is raised, and what every name of the module stands for at the end; after all repairs, the unsafe
ones too, a program raises nothing that it did not raise before.

`python tests/repairs.py` (`make repairs`) compares all of them, `tests/test_repairs_observed.py` those `of_today`.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

from daily import share
from observed_runs import Observed, observing
from wrapped import sample_cases, sample_programs

from tfmemlint.finding import Safety
from tfmemlint.fix.apply import fix_bytes
from tfmemlint.fix.select import select_fixes
from tfmemlint.lint.engine import FileResult, lint
from tfmemlint.lint.registry import load_rules
from tfmemlint.rule import Rule
from tfmemlint.testing import Case

CAST = "the array that only fit() and evaluate() read, which cast it"
RAISES = "the program raises where the repaired one goes on: that is what the rule reports"
DELETED = "nothing reads the name after its `del`"
KEPT = "nothing reads the name whose `del` goes"
IMPORTED = "the module that the repair needs"
HISTORY = "holds `.history`, which is all that is read of it"
EXPECTED: dict[str, dict[str, str]] = {
    "TFM104-probe-allocates-gpu/basic/bad.py": {"printed": "the CPU's entry in the list has a random number"},
    "TFM107-memory-info-without-device/basic/bad.py": {"errors": RAISES, "used": RAISES},
    "TFM107-memory-info-without-device/basic/measure_bad.py": {"errors": RAISES},
    "TFM107-memory-info-without-device/example/bad.py": {"errors": RAISES},
    "TFM110-growth-env-invalid/basic/bad.py": {"text": "the setting itself, which TensorFlow ignored as it was"},
    "TFM111-visible-devices-hides-cpu/basic/measure_bad.py": {"errors": RAISES, "printed": RAISES},
    "TFM203-integer-data-scaled-to-float64/across-modules/bad.py": {"np": IMPORTED},
    "TFM203-integer-data-scaled-to-float64/at-once/bad.py": {"others": CAST},
    "TFM203-integer-data-scaled-to-float64/later-import/bad.py": {"x_train": CAST},
    "TFM203-integer-data-scaled-to-float64/uses/bad.py": {"x_train": CAST, "x_test": CAST},
    "TFM203-integer-data-scaled-to-float64/statistics/bad.py": {"plain": CAST},
    "TFM317-cache-grows-with-files/basic/measure_bad.py": {"folder": "a new one in each run"},
    "TFM401-persistent-tape-used-once/ways/bad.py": {"t": KEPT},
    "TFM402-persistent-tape-not-released/basic/bad.py": {"tape": DELETED},
    "TFM402-persistent-tape-not-released/basic/measure_bad.py": {"tape": DELETED},
    "TFM402-persistent-tape-not-released/example/bad.py": {"tape": DELETED},
    "TFM402-persistent-tape-not-released/ways/bad.py": {"t": DELETED, "tape": DELETED},
    "TFM403-gradient-inside-persistent-tape/basic/measure_bad.py": {"tape": DELETED},
    "TFM408-extra-work-inside-tape/example/bad.py": {"errors": "behind the block, what lacks another name is reached"},
    "TFM409-useless-del/basic/bad.py": {"tape": KEPT},
    "TFM409-useless-del/basic/measure_bad.py": {"tape": KEPT},
    "TFM409-useless-del/example/bad.py": {"tape": KEPT},
    "TFM409-useless-del/ways/bad.py": {"tape": KEPT},
    "TFM612-history-keeps-model/basic/bad.py": {"history": HISTORY, "histories": HISTORY, "results": HISTORY},
    "TFM612-history-keeps-model/basic/measure_bad.py": {"histories": HISTORY},
}
"""What may differ, and why: for each sample, `errors`, `printed` or the names."""

NO_NETWORK = "URL fetch failure"

UNSAFE = {
    "TFM202-float64-numpy-input/small/bad.py": {"errors"},  # as in the next
    "TFM202-float64-numpy-input/tables/bad.py": {"errors"},  # words in the made-up file are no numbers of either kind
    "TFM114-peak-never-reset/example/bad.py": {"errors"},  # there is no card of which to reset the peak
    "TFM606-model-loaded-in-loop/ways/bad.py": {"errors"},  # files that nobody has are read before the functions
}
"""Samples that raise after unsafe repairs because something is missing here, and what is seen of that."""

LONG = (
    "TFM309-whole-dataset-shuffle-buffer/basic/bad.py",
    "TFM201-float64-tensor/basic/bad.py",
    "TFM202-float64-numpy-input/basic/bad.py",
    "TFM203-integer-data-scaled-to-float64/uses/bad.py",
    "TFM206-created-then-cast/basic/bad.py",
    "TFM207-mixed-precision-unused/basic/measure_bad.py",
    "TFM209-clear-session-drops-policy/basic/measure_bad.py",
    "TFM301-unbatched-dataset/ways/bad.py",
    "TFM302-missing-prefetch/ways/bad.py",
    "TFM308-shuffle-after-decode/ways/bad.py",
    "TFM309-whole-dataset-shuffle-buffer/ways/bad.py",
    "TFM311-array-embedded-in-dataset/more/bad.py",
    "TFM311-array-embedded-in-dataset/ways/bad.py",
    "TFM311-array-embedded-in-dataset/worth/bad.py",
    "TFM312-dataset-built-in-loop/kept/bad.py",
    "TFM313-sequential-map/ways/bad.py",
    "TFM315-whole-dataset-batch-size/ways/bad.py",
    "TFM406-tensors-kept-across-steps/basic/bad.py",
    "TFM408-extra-work-inside-tape/ways/bad.py",
    "TFM501-retrace-on-python-value/basic/bad.py",
    "TFM501-retrace-on-python-value/ways/bad.py",
    "TFM502-function-made-in-loop/basic/bad.py",
    "TFM502-function-made-in-loop/ways/bad.py",
    "TFM505-array-baked-into-trace/ways/bad.py",
    "TFM506-eager-debugging-left-on/ways/bad.py",
    "TFM602-predict-in-loop/rows/bad.py",
    "TFM603-whole-dataset-forward/ways/bad.py",
    "TFM612-history-keeps-model/basic/bad.py",
    "TFM614-array-captured-in-layer/ways/bad.py",
    "TFM616-time-distributed-dense/basic/measure_bad.py",
    "TFM702-concat-in-loop/ways/bad.py",
)
"""Samples that take more than two seconds of the processor: large arrays, buffers to fill, many traces."""

DAILY = ("basic/bad.py", "example/bad.py")
ALSO_DAILY = (
    "TFM114-peak-never-reset/basic/measure_bad.py",
    "TFM303-prefetch-not-last/across-modules/bad.py",
    "TFM406-tensors-kept-across-steps/basic/measure_bad.py",
    "TFM501-retrace-on-python-value/basic/measure_bad.py",
    "TFM502-function-made-in-loop/basic/measure_bad.py",
    "TFM601-model-built-in-loop/asked/bad.py",
    "TFM612-history-keeps-model/basic/measure_bad.py",
)
"""The samples, and those of rules whose repairs these do not reach, that are compared each day; the others, which are
more or do more, are on one of `DAYS`, `LONG` ones on one of `DAYS_OF_LONG`."""
DAYS, DAYS_OF_LONG = 6, 24

NOT_RUN = {
    "TFM603-whole-dataset-forward/tape/bad.py": "passes over 400 MB take seconds, and do not survive being interrupted",
    "TFM701-oversized-tensor/ways/bad.py": "what is reported are arrays of up to 56 GiB, which few machines have",
    "TFM903-strategy-scope-missing/model/bad.py": "of two cards that are not here, each waits for the other",
}
"""Samples of which nothing can be compared, before their repairs or after, and why."""


@dataclass(frozen=True)
class Pair:
    """A sample program before and after repairs: the safe ones, or all. `rows` are the rule and line of each."""

    name: str
    before: str
    after: str
    rows: tuple[tuple[str, int], ...]
    safe: bool

    @property
    def codes(self) -> set[str]:
        """The rules that repair something in the program."""
        return {code for code, _ in self.rows}


def rules_with(safety: Safety) -> set[str]:
    """The rules that have a repair of this kind."""
    return {rule.code for rule in _rules() if safety in rule.fix_safety}


@cache
def _rules() -> tuple[Rule, ...]:
    return load_rules()


def _samples() -> dict[str, tuple[Case, str, str]]:
    """The sample programs that rules report, by name: the case, the file's name and its text."""
    every = ((case, *program) for case in sample_cases() for program in sample_programs(case).items())
    return {f"{case}/{name}": (case, name, text) for case, name, text in every if not name.endswith("good.py")}


def of_today() -> set[str]:
    """The names of the sample programs that are compared today."""
    daily = [name for name in _samples() if name.endswith(DAILY) or name in ALSO_DAILY]
    others = [name for name in _samples() if name not in daily and name not in LONG]
    return {*(name for name in daily if name not in LONG), *share(others, DAYS), *share(LONG, DAYS_OF_LONG)}


def pairs(names: Container[str] | None = None) -> list[Pair]:
    """The sample programs, or those of these names, in which something is repaired: after the safe repairs and, where
    that is more, after all."""
    texts = [each for name, each in _samples().items() if name not in NOT_RUN and (names is None or name in names)]
    return [pair for each in texts for pair in _pairs(*each)]


def _pairs(case: Case, name: str, text: str) -> Iterator[Pair]:
    data = text.encode()

    @cache
    def check(data: bytes) -> FileResult:
        return lint(data, str(case.file(name)), case.config, _rules())

    def repaired(*, unsafe: bool) -> Pair:
        done = fix_bytes(data, check, lambda findings: select_fixes(findings, unsafe=unsafe), first)
        kinds = (Safety.SAFE, Safety.UNSAFE) if unsafe else (Safety.SAFE,)
        fixed = [each for each in first.findings if each.fix is not None and each.fix.safety in kinds]
        assert first.source is not None
        rows = tuple((each.code, first.source.position(each.span.start).row) for each in fixed)
        return Pair(f"{case}/{name}", text, done.data.decode(), rows, not unsafe)

    first = check(data)
    safe, both = repaired(unsafe=False), repaired(unsafe=True)
    if safe.after != text:
        yield safe
    if both.after != safe.after:
        yield both


def reached(pair: Pair, after: Observed) -> list[str]:
    """The rule of each repair that stands in lines that the repaired program runs."""
    blocks = SequenceMatcher(None, pair.before.splitlines(), pair.after.splitlines(), autojunk=False).get_opcodes()
    lines = set(after.get("lines", ()))
    found = []
    for code, row in pair.rows:
        kind, start, _, first, last = next(each for each in blocks if each[1] < row <= each[2])
        here = {first + row - start} if kind == "equal" else set(range(first, last + 2))
        if here & lines:
            found.append(code)
    return found


def differences(before: Observed, after: Observed) -> dict[str, str]:
    """What differs between two runs that must be equal: for `errors`, `printed` and names, what was and what is."""
    if "died" in before or "died" in after:
        return {"died": f"{before.get('died')} and {after.get('died')}"} if before != after else {}
    found = {}
    unfinished = {*before["unfinished"], *after["unfinished"]}
    for part in ("errors", "printed"):  # of statements that were ended, one has come further than the other
        if before[part] != after[part] and not unfinished:
            found[part] = _shown(before[part], after[part])
    for name in sorted((before["names"].keys() | after["names"].keys()) - unfinished):
        old, new = before["names"].get(name), after["names"].get(name)
        if old != new:
            found[name] = _shown(old, new)
    return found


def new_errors(before: Observed, after: Observed) -> dict[str, str]:
    """What the program raises only after its repair. That a name is missing is new only where the program had it, and
    that weights cannot be loaded from afar says nothing: what loads them may run earlier now."""
    if "died" in after:
        return {} if "died" in before else {"died": after["died"]}
    new = {each for each in after["errors"] if NO_NETWORK not in each} - set(before.get("errors", ()))
    had = before.get("names", {})
    new = {each for each in new if not each.startswith("NameError") or each.split("'")[1] in had}
    return {"errors": _shown(before.get("errors"), sorted(new))} if new else {}


def _shown(old: object, new: object) -> str:
    return f"{str(old)[:300]} -> {str(new)[:300]}"


def compared(chosen: Sequence[Pair]) -> list[tuple[Pair, Observed, dict[str, str]]]:
    """Each pair with what was observed after its repair, and what is not as it must be.

    A program with unsafe repairs may compute something else. It runs before them only where it raises something after.
    """
    with tempfile.TemporaryDirectory() as folder, observing(Path(folder)) as observed:
        after = observed([pair.after for pair in chosen])
        asked = [pair.safe or "died" in run or bool(run["errors"]) for pair, run in zip(chosen, after, strict=True)]
        texts = dict.fromkeys(pair.before for pair, is_asked in zip(chosen, asked, strict=True) if is_asked)
        before = dict(zip(texts, observed(list(texts), traced=False), strict=True))
    return [(pair, run, _wrong(pair, before.get(pair.before), run)) for pair, run in zip(chosen, after, strict=True)]


def _wrong(pair: Pair, before: Observed | None, after: Observed) -> dict[str, str]:
    if before is None:
        return {}
    return differences(before, after) if pair.safe else new_errors(before, after)


def unexpected(runs: Sequence[tuple[Pair, Observed, dict[str, str]]]) -> list[str]:
    """The differences that `EXPECTED` does not allow, and what it allows in vain."""
    found = []
    for pair, after, differing in runs:
        allowed = set(EXPECTED.get(pair.name, ())) if pair.safe else UNSAFE.get(pair.name, set())
        found += [f"{pair.name}: {name}: {what}" for name, what in differing.items() if name not in allowed]
        unfinished = after.get("unfinished", ())
        found += [f"{pair.name}: {name} is equal" for name in allowed if name not in differing and not unfinished]
    return found


def main() -> int:
    """Run all samples, and say how many repairs of each rule stand in lines that are reached."""
    runs = compared(pairs())
    wrong = unexpected(runs)
    print(*wrong, sep="\n")
    every = Counter(code for pair, _, _ in runs for code, _ in pair.rows)
    met = Counter(code for pair, after, _ in runs for code in reached(pair, after))
    for code in sorted(every):
        print(f"{code}: {met[code]} of {every[code]} repairs are reached")
    print(*(f"{name} is not run: {why}" for name, why in NOT_RUN.items()), sep="\n")
    print(f"{met.total()} of {every.total()} repairs in {len(runs)} programs are reached")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
