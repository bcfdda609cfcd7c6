"""The evidence for the rules: runs their measured samples and keeps the verdicts in a JSON file.

A rule's folder that has a table `[measure]` in its `case.toml` holds `measure_bad.py` and `measure_good.py`, two
complete programs that show the rule's claim at a size that a small machine can hold.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from tfmemlint.verify.claim import Claim
from tfmemlint.verify.judge import judge
from tfmemlint.verify.metrics import METRICS
from tfmemlint.verify.result import Environment, Pair, Result
from tfmemlint.verify.run.measure import Program, Settings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BEFORE, AFTER = "measure_bad.py", "measure_good.py"
CARD = "gpu"
"""The key of the evidence from a graphics card."""


class EvidenceError(Exception):
    """A sample or an evidence file that cannot be used; the text names the file and says what to do, in one line."""


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """The table `[measure]` of a `case.toml`; exactly one of `metric`, `error` and `output` is given.

    `simulated-gpus` is the number of graphics cards that TensorFlow's own checks shall believe in, `device = "gpu"`
    marks a sample that shows nothing without a real one, `fast = true` one that the test suite runs each time.
    `unit = "bytes"` belongs to a `metric = "value"` that is a number of bytes. `grows = true` says of the rule that
    what it reports costs more with each round of a loop: in a user's code that is looked for first.
    """

    metric: str | None = None
    min_ratio: float = 1.2
    error: str | None = None
    output: str | None = None
    unit: str = ""
    grows: bool = False
    simulated_gpus: int = 0
    device: str = "auto"
    fast: bool = False


@dataclass(frozen=True)
class Sample:
    """The measured programs of one rule."""

    code: str
    folder: Path
    claim: Claim
    pair: Pair
    device: str = "auto"
    fast: bool = False


def _claim(path: Path, table: Table) -> Claim:
    given = [name for name in ("metric", "error", "output") if getattr(table, name) is not None]
    if len(given) != 1:
        raise EvidenceError(f"{path}: [measure] needs exactly one of metric, error and output")
    if table.metric is not None and table.metric not in METRICS:
        raise EvidenceError(f"{path}: [measure] metric: no metric '{table.metric}'; known are {', '.join(METRICS)}")
    if table.min_ratio <= 1:
        raise EvidenceError(f"{path}: [measure] min-ratio must be over 1")
    if table.unit not in ("", "bytes") or (table.unit and table.metric != "value"):
        raise EvidenceError(f"{path}: [measure] unit: only `bytes`, with metric = 'value'")
    return Claim(table.metric, table.min_ratio, table.error, table.output, table.unit, table.grows)


def read_sample(folder: Path) -> Sample | None:
    """The sample in one rule's folder, None where it has no table `[measure]`. Raises EvidenceError."""
    path = folder / "case.toml"
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        content = {}
    except (OSError, ValueError) as error:
        raise EvidenceError(f"{path}: {error}") from error
    if "measure" not in content:
        if (folder / BEFORE).exists():
            raise EvidenceError(f"{folder / BEFORE}: case.toml says nothing of it; add a table [measure]")
        return None
    try:
        table = msgspec.convert(content["measure"], Table)
    except msgspec.ValidationError as error:
        raise EvidenceError(f"{path}: [measure]: {error}") from error
    sources = []
    for name in (BEFORE, AFTER):
        try:
            sources.append((folder / name).read_text(encoding="utf-8"))
        except OSError as error:
            raise EvidenceError(f"{folder / name}: {error.strerror}; [measure] in case.toml needs it") from error
    before, after = (Program(source, table.simulated_gpus) for source in sources)
    claim = _claim(path, table)
    return Sample(folder.name.partition("-")[0], folder, claim, Pair(before, after), table.device, table.fast)


def fixtures_folder() -> Path:
    """The folder of the fixtures that are installed with tfmemlint. Raises EvidenceError where there are none."""
    found = importlib.util.find_spec("tfmemlint_fixtures")
    if found is None or found.origin is None:
        raise EvidenceError("the package tfmemlint_fixtures is not installed; name a folder with --fixtures")
    return Path(found.origin).parent


def read_samples(folder: Path, codes: Iterable[str] = ()) -> list[Sample]:
    """The samples below a folder, by code; only those of `codes` where any are given.

    Raises EvidenceError for a folder or a sample that cannot be used, for two samples of one rule and for a code
    without one.
    """
    if not folder.is_dir():
        raise EvidenceError(f"{folder}: no such folder")
    found: dict[str, Sample] = {}
    wanted = list(codes)
    for path in sorted(path for path in folder.iterdir() if path.is_dir() and path.name[0] not in "_."):
        if wanted and not path.name.startswith(tuple(wanted)):
            continue
        sample = read_sample(path)
        if sample is None:
            continue
        if sample.code in found:
            raise EvidenceError(f"{path}: {found[sample.code].folder.name} has programs for {sample.code} already")
        found[sample.code] = sample
    for code in wanted:
        if not any(known.startswith(code) for known in found):
            raise EvidenceError(f"no sample to measure for '{code}' in {folder}")
    return list(found.values())


def gather(sample: Sample, settings: Settings, done: Callable[[], None] | None = None) -> Result:
    """Run both programs of the sample and judge them. Raises MeasureError."""
    before, after = sample.pair.run(sample.claim, settings, done)
    verdict = judge(sample.claim, before, after)
    return Result(sample.code, sample.folder.name, sample.folder.name, "", verdict, sample.pair, before, after)


def entry(result: Result) -> dict[str, Any]:
    """What the evidence file keeps of one rule."""
    verdict = result.verdict
    kept: dict[str, Any] = {
        "verdict": verdict.kind,
        "metric": verdict.metric,
        "unit": verdict.unit,
        "before": _rounded(verdict.before),
        "after": _rounded(verdict.after),
        "ratio": None if verdict.ratio is None else round(verdict.ratio, 2),
        "noise": _rounded(verdict.noise),
        "repeats": verdict.repeats,
    }
    if verdict.reason:
        kept["reason"] = verdict.reason
    if result.notes:
        kept["notes"] = list(result.notes)
    return kept


def _rounded(value: float | None) -> float | int | None:
    """The value to three decimal places; below 1 to four significant digits, which may be further places."""
    if value is None:
        return None
    if value == int(value):
        return int(value)
    return round(value, 3) if abs(value) >= 1 else float(f"{value:.4g}")


def read_evidence(path: Path) -> dict[str, Any]:
    """The content of an evidence file, empty where there is none. Raises EvidenceError."""
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise EvidenceError(f"{path}: {error}") from error
    if not _is_evidence(content) or not _is_evidence(content.get(CARD, {})):
        raise EvidenceError(f"{path}: not an evidence file; delete it to make it anew")
    return dict(content)


def _is_evidence(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("rules", {}), dict)


def merged(old: dict[str, Any], results: Sequence[Result], where: Environment, complete: bool) -> dict[str, Any]:
    """The evidence file's new content: what was measured on a graphics card stands apart, under `gpu`, in the same
    form. Neither part changes when the other one is measured.

    `complete` says that all samples were run: what is not among the results is dropped then. Else the other rules stay
    as they are, and each new one that was made elsewhere than the file says carries its own versions and device.
    """
    apart = {CARD: old[CARD]} if CARD in old else {}
    if where.on_card:
        return {**old, CARD: _merged(apart.get(CARD, {}), results, where, complete)}
    own = {name: value for name, value in old.items() if name != CARD}
    return {**_merged(own, results, where, complete), **apart}


def _merged(old: dict[str, Any], results: Sequence[Result], where: Environment, complete: bool) -> dict[str, Any]:
    made = {"versions": where.versions, "device": where.device}
    new = {result.code: entry(result) for result in results}
    if complete or not old:
        return {**made, "rules": dict(sorted(new.items()))}
    kept = {name: old.get(name) for name in made}
    if kept != made:
        new = {code: {**fields, **made} for code, fields in new.items()}
    return {**kept, "rules": dict(sorted({**old.get("rules", {}), **new}.items()))}
