"""The pre-commit hooks: which files they get, what they report and what they repair."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

MANIFEST = Path(__file__).parent.parent / ".pre-commit-hooks.yaml"
HEAD = "import tensorflow as tf\n\n"
WASTE = HEAD + "ds = tf.data.TFRecordDataset('a').repeat().cache()\n"
CLEAN = HEAD + "ds = tf.data.TFRecordDataset('a').cache().repeat()\n"


def notebook(code: str) -> str:
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [{**cell, "source": code.splitlines(True)}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


class Project:
    """A git repository whose pre-commit configuration runs one of the hooks from this environment."""

    def __init__(self, folder: Path, hook: str) -> None:
        self.folder = folder
        (found,) = [each for each in yaml.safe_load(MANIFEST.read_text()) if each["id"] == hook]
        program, _, rest = found["entry"].partition(" ")
        assert program == "tfmemlint"
        local = {**found, "language": "system", "entry": f"'{sys.executable}' -m tfmemlint {rest}"}
        local.pop("minimum_pre_commit_version")
        self.write(".pre-commit-config.yaml", yaml.safe_dump({"repos": [{"repo": "local", "hooks": [local]}]}))
        self.git("init", "--quiet")

    def git(self, *arguments: str) -> None:
        subprocess.run(("git", "-C", str(self.folder), *arguments), check=True, capture_output=True)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run(self) -> tuple[int, str]:
        """The exit code and the output of the hook on all files that git tracks."""
        self.git("add", "--all")
        command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--verbose", "--color=never"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, check=False)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "home"))
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def test_the_manifest_is_valid() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", str(MANIFEST)]
    subprocess.run(command, check=True, capture_output=True)


def test_the_hook_reports_and_changes_nothing(folder: Path) -> None:
    project = Project(folder, "tfmemlint")
    files = {name: project.write(name, text) for name, text in (("a.py", WASTE), ("b.ipynb", notebook(WASTE)))}
    project.write("notes.txt", WASTE)
    code, output = project.run()
    assert code == 1
    assert "a.py:3:44" in output and "b.ipynb:cell 1:3:44" in output and "TFM305" in output
    assert "notes.txt" not in output
    assert files["a.py"].read_text() == WASTE and files["b.ipynb"].read_text() == notebook(WASTE)


def test_the_fixing_hook_repairs_and_then_passes(folder: Path) -> None:
    project = Project(folder, "tfmemlint-fix")
    files = {name: project.write(name, text) for name, text in (("a.py", WASTE), ("b.ipynb", notebook(WASTE)))}
    code, output = project.run()
    assert code == 1 and "files were modified by this hook" in output
    assert files["a.py"].read_text() == CLEAN
    assert files["b.ipynb"].read_text() == notebook(CLEAN)
    assert project.run()[0] == 0


@pytest.mark.parametrize("hook", ["tfmemlint", "tfmemlint-fix"])
def test_excluded_files_stay_excluded_when_the_hook_names_them(folder: Path, hook: str) -> None:
    project = Project(folder, hook)
    project.write("tfmemlint.toml", "extend-exclude = ['legacy']\n")
    path = project.write("legacy/a.py", WASTE)
    code, _ = project.run()
    assert code == 0
    assert path.read_text() == WASTE
