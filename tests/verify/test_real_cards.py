"""What `verify` makes of runs on a graphics card, and what it asks the driver, without a card."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.cli import commands
from tfmemlint.cli.verify import commands as verify_commands
from tfmemlint.verify.child import probes, runtime
from tfmemlint.verify.claim import Claim
from tfmemlint.verify.judge import judge
from tfmemlint.verify.result import Pair, Result
from tfmemlint.verify.run.measure import Program, Run
from tfmemlint.verify.verdicts import CONFIRMED, INCONCLUSIVE, NEEDS_MORE, NOT_CONFIRMED, Verdict

MIB = 1024**2
CARD = "NVIDIA H200, driver 580.159.04"
PEAK = Claim("peak_bytes", 1.2)


def on_card(peak: int, host: int, grown: int = 600) -> Run:
    """A run that took so many MiB on the card, in the machine's memory, and of the machine in all."""
    return Run(
        "ok", initialized=True, device="GPU:0", card=CARD, peak_bytes=peak * MIB, live_bytes=0,
        host_peak_bytes=host * MIB, host_live_bytes=0, rss_start=0, rss_peak=grown * MIB,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "kind", "words"),
    [
        (on_card(200, 1), on_card(100, 1), CONFIRMED, ""),
        (on_card(100, 1), on_card(200, 1), NEEDS_MORE, ""),
        (on_card(1, 90), on_card(1, 2), CONFIRMED, "in the machine's own memory, not on the card"),
        (on_card(1, 3), on_card(1, 3), NOT_CONFIRMED, "the difference is within the noise"),
        (on_card(1, 3, 900), on_card(1, 3, 600), INCONCLUSIVE, "the process grew by 900 MiB before and by 600 MiB"),
        (on_card(1, 3, 610), on_card(1, 3, 600), NOT_CONFIRMED, "within the noise"),
        (on_card(100, 90), on_card(200, 2), NEEDS_MORE, ""),
    ],
)
def test_what_is_not_on_the_card_is_looked_for_in_the_machine_s_memory(
    before: Run, after: Run, kind: str, words: str
) -> None:
    verdict = judge(PEAK, [before, before], [after, after])
    assert verdict.kind == kind and words in verdict.reason


def test_the_figures_are_those_of_the_memory_that_is_named() -> None:
    verdict = judge(PEAK, [on_card(1, 90)], [on_card(1, 2)])
    assert (verdict.before, verdict.after) == (90 * MIB, 2 * MIB)


class Driver:
    """Stands for `libnvidia-ml`, with one card of 80 MiB."""

    def __init__(self, **failing: int) -> None:
        self._failing = failing

    def __getattr__(self, name: str) -> Callable[..., int]:
        def call(*arguments: Any) -> int:
            if name in self._failing:
                return self._failing[name]
            if name == "nvmlDeviceGetCount_v2":
                ctypes.cast(arguments[0], ctypes.POINTER(ctypes.c_uint))[0] = 1
            if name == "nvmlDeviceGetMemoryInfo":
                ctypes.cast(arguments[1], ctypes.POINTER(ctypes.c_ulonglong))[2] = 80 * MIB
            if name == "nvmlDeviceGetName":
                arguments[1].value = b"NVIDIA H200"
            if name == "nvmlSystemGetDriverVersion":
                arguments[0].value = b"580.159.04"
            return 0

        return call


@pytest.mark.parametrize(
    ("failing", "words", "count", "used"),
    [
        ({}, CARD, 1, 80 * MIB),
        ({"nvmlSystemGetDriverVersion": 1}, "NVIDIA H200", 1, 80 * MIB),
        ({"nvmlDeviceGetName": 3, "nvmlDeviceGetMemoryInfo": 3}, None, 1, None),
        ({"nvmlInit_v2": 9}, None, 0, None),
    ],
)
def test_the_driver_tells_the_card(
    monkeypatch: pytest.MonkeyPatch, failing: dict[str, int], words: str | None, count: int, used: int | None
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Driver(**failing))
    nvml = probes.Nvml()
    assert (nvml.words(), nvml.count(), nvml.used()) == (words, count, used)


def test_cards_that_are_there_are_not_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert runtime.simulate_gpus(1, there=1) == 0
    assert runtime.simulate_gpus(0) == 0
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


def measured(code: str, metric: str, run: Run) -> Result:
    program = Program("")
    verdict = Verdict(CONFIRMED, "", metric, "bytes", 2.0, 1.0, 0.0, 1)
    return Result(code, f"{code}-sample", f"{code}-sample", "", verdict, Pair(program, program), (run,), (run,))


def test_only_what_a_card_did_is_evidence_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = [
        measured("TFM102", "error", Run("ok", device="GPU:0", simulated=2)),
        measured("TFM108", "growth_dropped", on_card(1, 1)),
        measured("TFM201", "peak_bytes", on_card(2, 1)),
    ]
    monkeypatch.setattr(verify_commands, "announce", lambda *_: "")
    monkeypatch.setattr(verify_commands, "_gather", lambda *_: results)
    kept = tmp_path / "evidence.json"
    kept.write_text('{"device": "CPU", "rules": {"TFM201": {"verdict": "confirmed"}}}', encoding="utf-8")
    assert commands.main(["verify", "--rules", "TFM201", "--device", "gpu", "--evidence", str(kept)]) == 0
    content = json.loads(kept.read_bytes())
    assert content["rules"] == {"TFM201": {"verdict": "confirmed"}}
    assert (content["gpu"]["device"], list(content["gpu"]["rules"])) == (CARD, ["TFM201"])
    said = capsys.readouterr().err
    assert "TFM102-sample needs 2 graphics cards; kept as no evidence" in said
    assert "TFM108-sample shows what TensorFlow is told, not what a card does; kept as no evidence" in said
