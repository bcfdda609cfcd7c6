"""The picture of the README is what the command draws."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfmemlint.cli import commands

ROOT = Path(__file__).parents[2]
COMMAND = ["estimate", "docs/examples/train.py", "--gpu", "T4", "--isolated", "--output-format", "svg"]


def test_the_picture_is_fresh(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    assert commands.main(COMMAND) == 0
    drawn = capsys.readouterr().out
    kept = (ROOT / "docs" / "estimate.svg").read_text(encoding="utf-8")
    assert drawn.rstrip("\n") == kept.rstrip("\n"), f"run `tfmemlint {' '.join(COMMAND)} -o docs/estimate.svg`"
    assert "docs/estimate.svg" in (ROOT / "README.md").read_text(encoding="utf-8")
