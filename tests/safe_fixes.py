"""The sample programs before and after their safe repairs, run under TensorFlow and compared: what is printed, what is
raised, and what every name of the module stands for at the end.

`python tests/safe_fixes.py` (`make safe-fixes`) compares all of them, which takes minutes;
`tests/test_safe_fixes_observed.py` compares one for each rule.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from observed_runs import run_observed
from wrapped import sample_cases, sample_programs

from tfmemlint.finding import Finding, Safety
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
HISTORY = "holds `.history`, which is all that is read of it"
EXPECTED: dict[str, dict[str, str]] = {
    "TFM104-probe-allocates-gpu/basic/bad.py": {"printed": "the CPU's entry in the list has a random number"},
    "TFM107-memory-info-without-device/basic/bad.py": {"errors": RAISES, "used": RAISES},
    "TFM107-memory-info-without-device/basic/measure_bad.py": {"errors": RAISES},
    "TFM110-growth-env-invalid/basic/bad.py": {"text": "the setting itself, which TensorFlow ignored as it was"},
    "TFM111-visible-devices-hides-cpu/basic/measure_bad.py": {"errors": RAISES, "printed": RAISES},
    "TFM203-integer-data-scaled-to-float64/uses/bad.py": {"x_train": CAST, "x_test": CAST},
    "TFM317-cache-grows-with-files/basic/measure_bad.py": {"folder": "a new one in each run"},
    "TFM402-persistent-tape-not-released/basic/bad.py": {"each": DELETED, "tape": DELETED},
    "TFM402-persistent-tape-not-released/basic/measure_bad.py": {"tape": DELETED},
    "TFM402-persistent-tape-not-released/ways/bad.py": {"t": DELETED, "tape": DELETED},
    "TFM403-gradient-inside-persistent-tape/basic/measure_bad.py": {"tape": DELETED},
    "TFM409-useless-del/basic/bad.py": {"tape": KEPT},
    "TFM409-useless-del/basic/measure_bad.py": {"tape": KEPT},
    "TFM409-useless-del/ways/bad.py": {"tape": KEPT},
    "TFM612-history-keeps-model/basic/bad.py": {"history": HISTORY},
    "TFM612-history-keeps-model/basic/measure_bad.py": {"histories": HISTORY},
}
"""What may differ, and why: for each sample, `errors`, `printed` or the names."""


@dataclass(frozen=True)
class Pair:
    """A sample program before and after its safe repairs; `rows` are the rule and line of each."""

    name: str
    before: str
    after: str
    rows: tuple[tuple[str, int], ...]

    @property
    def codes(self) -> set[str]:
        """The rules that repair something in the program."""
        return {code for code, _ in self.rows}


@cache
def _rules() -> tuple[Rule, ...]:
    return load_rules()


def safely_fixing() -> set[str]:
    """The rules that have a safe repair."""
    return {rule.code for rule in _rules() if Safety.SAFE in rule.fix_safety}


def pairs() -> list[Pair]:
    """All sample programs in which something is safely repaired."""
    every = ((case, *program) for case in sample_cases() for program in sample_programs(case).items())
    found = (_pair(case, name, text) for case, name, text in every if not name.endswith("good.py"))
    return [pair for pair in found if pair is not None]


def _pair(case: Case, name: str, text: str) -> Pair | None:
    data = text.encode()

    def check(data: bytes) -> FileResult:
        return lint(data, name, case.config, _rules())

    def choose(findings: Sequence[Finding]) -> Sequence[Finding]:
        return select_fixes(findings, unsafe=False)

    first = check(data)
    done = fix_bytes(data, check, choose, first)
    safe = [each for each in first.findings if each.fix is not None and each.fix.safety is Safety.SAFE]
    assert first.source is not None
    rows = tuple((each.code, first.source.position(each.span.start).row) for each in safe)
    return Pair(f"{case}/{name}", data.decode(), done.data.decode(), rows) if done.data != data else None


def differences(before: dict[str, Any], after: dict[str, Any]) -> dict[str, str]:
    """What differs between the two runs of a pair: for `errors`, `printed` and names, what was and what is."""
    if "died" in before or "died" in after:
        return {"died": f"{before.get('died')} and {after.get('died')}"} if before != after else {}
    found = {}
    for part in ("errors", "printed"):
        if before[part] != after[part]:
            found[part] = _shown(before[part], after[part])
    unfinished = {*before["unfinished"], *after["unfinished"]}
    for name in sorted((before["names"].keys() | after["names"].keys()) - unfinished):
        old, new = before["names"].get(name), after["names"].get(name)
        if old != new:
            found[name] = _shown(old, new)
    return found


def _shown(old: object, new: object) -> str:
    return f"{str(old)[:300]} -> {str(new)[:300]}"


def compared(chosen: Sequence[Pair]) -> list[tuple[Pair, dict[str, Any], dict[str, str]]]:
    """Each pair with what was observed of it before its repair, and what differs after it."""
    with tempfile.TemporaryDirectory() as folder:
        runs = run_observed(Path(folder), [text for pair in chosen for text in (pair.before, pair.after)])
    return [
        (pair, before, differences(before, after))
        for pair, before, after in zip(chosen, runs[::2], runs[1::2], strict=True)
    ]


def unexpected(chosen: Sequence[Pair]) -> list[str]:
    """The differences that `EXPECTED` does not allow, and what it allows in vain."""
    found = []
    for pair, _, differing in compared(chosen):
        allowed = EXPECTED.get(pair.name, {})
        found += [f"{pair.name}: {name}: {what}" for name, what in differing.items() if name not in allowed]
        found += [f"{pair.name}: {name} is equal" for name in allowed if name not in differing]
    return found


def main() -> int:
    """Compare all samples, and say which repairs stand in lines that none of them reaches."""
    reached: Counter[str] = Counter()
    every: Counter[str] = Counter()
    failed = 0
    chosen = pairs()
    for pair in chosen:
        every.update(code for code, _ in pair.rows)
    for pair, before, differing in compared(chosen):
        reached.update(code for code, row in pair.rows if row in before.get("lines", ()))
        for name, what in differing.items():
            if name not in EXPECTED.get(pair.name, {}):
                failed += 1
                print(f"{pair.name}: {name}: {what}")
    for code in sorted(every):
        print(f"{code}: {reached[code]} of {every[code]} repairs are reached")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
