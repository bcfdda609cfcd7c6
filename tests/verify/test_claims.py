"""The claims of the rules: their measured samples, the evidence that is kept, and a fast part of it made again."""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

import pytest
from daily import share
from same_figures import both_ways, differing

import tfmemlint
from tfmemlint.config.selectors import Layer
from tfmemlint.config.settings import Configs, from_table
from tfmemlint.lint.linter import Linter
from tfmemlint.verify import evidence
from tfmemlint.verify.evidence import Sample
from tfmemlint.verify.verdicts import CONFIRMED

FOLDERS = sorted(path.parent for path in evidence.fixtures_folder().glob("*/" + evidence.BEFORE))
KEPT = evidence.read_evidence(Path(tfmemlint.__path__[0]).parent / "docs" / "evidence.json")


MEASURED = [folder for folder in FOLDERS if folder.name.partition("-")[0] in KEPT.get("rules", {})]


@pytest.fixture(params=MEASURED, ids=lambda folder: folder.name)
def sample(request: pytest.FixtureRequest) -> Sample:
    """The measured sample of each rule whose evidence is kept."""
    found = evidence.read_sample(request.param)
    assert found is not None
    return found


def codes_in(sample: Sample, name: str) -> set[str]:
    table = tomllib.loads((sample.folder / "case.toml").read_text(encoding="utf-8")).get("options", {})
    options = {**from_table(table, "case.toml", "[options]"), "command_line": Layer(select=(sample.code,))}
    path = str(sample.folder / name)
    result = Linter(Configs(isolated=True, overrides=options).for_file(path)).lint(Path(path).read_bytes(), path)
    return {finding.code for finding in result.findings}


def test_the_rule_reports_the_one_program_and_not_the_other(sample: Sample) -> None:
    assert codes_in(sample, evidence.BEFORE) == {sample.code}
    assert codes_in(sample, evidence.AFTER) == set()


@pytest.mark.parametrize("code", sorted(KEPT.get("rules", {})))
def test_the_evidence_that_is_kept_bears_the_claim_out(code: str) -> None:
    kept = KEPT["rules"][code]
    folder = next(folder for folder in FOLDERS if folder.name.startswith(code))
    sample = evidence.read_sample(folder)
    assert sample is not None
    assert kept["verdict"] == CONFIRMED
    if sample.claim.metric is not None:
        assert kept["metric"] == sample.claim.metric
        assert kept["ratio"] is None or kept["ratio"] >= sample.claim.min_ratio


def test_no_evidence_is_kept_of_what_is_not_measured_any_more() -> None:
    assert set(KEPT.get("rules", {})) <= {folder.name.partition("-")[0] for folder in FOLDERS}


@pytest.mark.tensorflow
def test_the_claims_that_show_fast_still_hold_without_a_fresh_process_and_side_by_side() -> None:
    """A quarter of them each day; `make figures` compares all, and those that do not show fast."""
    samples = [found for folder in FOLDERS if (found := evidence.read_sample(folder)) is not None and found.fast]
    results = both_ways(share(samples, 4))
    assert samples
    assert {fresh.code: fresh.verdict.reason for fresh, _ in results if fresh.verdict.kind != CONFIRMED} == {}
    assert [fresh.code for fresh, _ in differing(results)] == []
