"""The claims of the rules: their measured samples, the evidence that is kept, and a fast part of it made again."""

from __future__ import annotations

from pathlib import Path

import pytest

import tfmemlint
from tfmemlint.config import Configs
from tfmemlint.linter import Linter
from tfmemlint.selectors import Layer
from tfmemlint.verify import evidence
from tfmemlint.verify.evidence import Sample, gather
from tfmemlint.verify.judge import CONFIRMED
from tfmemlint.verify.measure import Settings
from tfmemlint.verify.sandbox import Limits

SAMPLES = evidence.read_samples(evidence.fixtures_folder())
KEPT = evidence.read_evidence(Path(tfmemlint.__path__[0]).parent / "docs" / "evidence.json")
every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.folder.name)


def codes_in(sample: Sample, name: str) -> set[str]:
    options = {"command_line": Layer(select=(sample.code,))}
    path = str(sample.folder / name)
    result = Linter(Configs(isolated=True, overrides=options).for_file(path)).lint(Path(path).read_bytes(), path)
    return {finding.code for finding in result.findings}


@every_sample
def test_the_rule_reports_the_one_program_and_not_the_other(sample: Sample) -> None:
    assert codes_in(sample, evidence.BEFORE) == {sample.code}
    assert codes_in(sample, evidence.AFTER) == set()


@every_sample
def test_the_evidence_bears_the_claim_out(sample: Sample) -> None:
    kept = KEPT.get("rules", {}).get(sample.code)
    assert kept is not None, f"run `tfmemlint verify --rules {sample.code}` and commit docs/evidence.json"
    assert kept["verdict"] == CONFIRMED
    if sample.claim.metric is not None:
        assert kept["metric"] == sample.claim.metric
        assert kept["ratio"] is None or kept["ratio"] >= sample.claim.min_ratio


def test_no_evidence_is_kept_of_what_is_not_measured_any_more() -> None:
    assert set(KEPT.get("rules", {})) <= {sample.code for sample in SAMPLES}


@pytest.mark.tensorflow
@pytest.mark.parametrize("sample", [sample for sample in SAMPLES if sample.fast], ids=lambda sample: sample.folder.name)
def test_the_claim_still_holds(sample: Sample) -> None:
    settings = Settings(device="cpu", repeat=1, limits=Limits(wall=120.0))
    result = gather(sample, settings, None, lambda: None)
    assert result.verdict.kind == CONFIRMED, result.verdict.reason
