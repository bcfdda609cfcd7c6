"""Evidence that holds in one way of running a sample and not in another is no evidence."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.verify import agreement
from tfmemlint.verify.claim import Claim
from tfmemlint.verify.evidence import Sample
from tfmemlint.verify.result import Pair, Result
from tfmemlint.verify.run.measure import Program, Settings
from tfmemlint.verify.run.variants import OTHERS
from tfmemlint.verify.verdicts import CONFIRMED, INCONCLUSIVE, NOT_CONFIRMED, Verdict

MIB = 1024**2
SAMPLES = [
    Sample(code, Path(f"{code}-sample"), Claim("peak_bytes"), Pair(Program("1"), Program("2")))
    for code in ("TFM701", "TFM702")
]
HOLDS = Verdict(CONFIRMED, "", "peak_bytes", "bytes", 40.0 * MIB, 10.0 * MIB, 0.0, 3)
FAILS = Verdict(NOT_CONFIRMED, "the difference is within the noise", "peak_bytes", "bytes", 8.0 * MIB, 8.0 * MIB)
NO_MARKS = Verdict(INCONCLUSIVE, "the flagged program failed: TypeError", "peak_bytes")


def agreed(monkeypatch: pytest.MonkeyPatch, elsewhere: dict[str, Verdict]) -> list[Result]:
    """Two confirmed results, the first of which has these verdicts in the variants with these words."""
    ran = []

    def measured(sample: Sample, settings: Settings, done: Any) -> Result:
        assert settings.repeat == 1
        ran.append((sample.code, settings.variant))
        verdict = elsewhere.get(settings.variant.words, HOLDS) if sample is SAMPLES[0] else HOLDS
        return Result(sample.code, sample.code, "", "", verdict)

    monkeypatch.setattr(agreement, "gather", measured)
    results = [Result(sample.code, sample.folder.name, "", "", HOLDS) for sample in SAMPLES]
    found = agreement.agreed(SAMPLES, results, Settings(device="cpu"))
    assert set(ran) == {(sample.code, variant) for sample in SAMPLES for variant in OTHERS}
    assert found[1] is results[1]
    return found


def test_what_every_variant_confirms_stays_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert agreed(monkeypatch, {})[0].verdict is HOLDS


def test_the_variant_that_disagrees_is_named_with_its_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    found = agreed(monkeypatch, {"with Python's collector off": FAILS})[0].verdict
    assert (found.kind, found.before) == (NOT_CONFIRMED, HOLDS.before)
    assert found.reason == (
        "with Python's collector off: not confirmed, 8 MiB before and 8 MiB after, the difference is within the noise"
    )


def test_a_variant_that_does_not_come_to_an_end_leaves_it_open(monkeypatch: pytest.MonkeyPatch) -> None:
    found = agreed(monkeypatch, {"with hash seed 2": NO_MARKS})[0].verdict
    assert found.kind == INCONCLUSIVE
    assert found.reason == "with hash seed 2: inconclusive, the flagged program failed: TypeError"


def test_what_is_not_confirmed_anyway_is_not_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "gather", lambda *_: pytest.fail("it was run"))
    result = Result("TFM701", "", "", "", FAILS)
    assert agreement.agreed(SAMPLES[:1], [result], Settings(device="cpu")) == [result]


@pytest.mark.tensorflow
def test_a_claim_that_a_hash_seed_decides_does_not_hold() -> None:
    order = "order = list({str(number) for number in range(30)})\n"
    usual = subprocess.run(
        [sys.executable, "-c", f"{order}print(order)"], env={"PYTHONHASHSEED": "0"}, capture_output=True, check=True
    ).stdout.decode()
    before = Program(f"{order}tfmemlint_value(2 if order == {usual.strip()} else 1)")
    sample = replace(SAMPLES[0], claim=Claim("value"), pair=Pair(before, Program("tfmemlint_value(1)")))
    result = Result("TFM701", "", "", "", HOLDS)
    (found,) = agreement.agreed([sample], [result], Settings(device="cpu"), variants=OTHERS[2:3])
    assert found.verdict.kind == NOT_CONFIRMED
    assert found.verdict.reason.startswith("with hash seed 1: not confirmed, 1 before and 1 after")
