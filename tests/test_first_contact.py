"""What somebody sees who runs the first command of the README: a few findings of several families, and what to try."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tfmemlint.cli.commands import main

ROOT = Path(__file__).parents[1]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone as `make run` needs it: its file, the example and the configuration."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
def test_the_first_command_prints_less_than_a_screen_or_two(project: Path) -> None:
    environment = Path(sys.prefix)
    command = ["make", f"--old-file={environment}/.installed", f"VENV={environment}", "run"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) < 60
    families = {code[:4] for code in re.findall(r"(TFM\d{3}) [a-z-]+\n", done.stdout)}
    assert len(families) >= 4
    assert "\nNext:\n" in done.stdout


def test_the_example_says_what_its_repairs_leave(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--no-cache", "--fix", "--unsafe-fixes", "-q", "examples"]) == 0
    assert main(["check", "--no-cache", "examples"]) == 0
    assert capsys.readouterr().out.count("TFM") == 0


def test_the_example_has_a_step_of_training_that_can_be_estimated(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["estimate", "--gpu", "T4", "examples/train.py"])
    out = capsys.readouterr().out
    assert "batch 64, Adam" in out
    assert "what would save" in out
