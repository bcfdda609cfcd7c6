"""The pre-commit hooks: which files they get, what they report and repair, and the block of docs/ci.md as printed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import tfmemlint

CHECKOUT = Path(__file__).parent.parent
MANIFEST = CHECKOUT / ".pre-commit-hooks.yaml"
HEAD = "import tensorflow as tf\n\n"
WASTE = HEAD + "ds = tf.data.TFRecordDataset('a').repeat().cache()\n"
CLEAN = HEAD + "ds = tf.data.TFRecordDataset('a').cache().repeat()\n"

INSTALLED = (".pre-commit-hooks.yaml", "LICENSE", "README.md", "pyproject.toml", "tfmemlint", "rules", "fixtures")
"""What of the checkout its installation is made of."""


def notebook(code: str) -> str:
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [{**cell, "source": code.splitlines(True)}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


class Project:
    """A git repository in which pre-commit runs."""

    def __init__(self, folder: Path, configuration: str) -> None:
        self.folder = folder
        self.write(".pre-commit-config.yaml", configuration)
        git(folder, "init", "--quiet")

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def git(self, *words: str) -> str:
        return git(self.folder, *words)

    def stage(self, name: str, text: str) -> Path:
        path = self.write(name, text)
        self.git("add", name)
        return path

    def commit(self) -> None:
        """All that there is, past the hooks."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--no-verify", "-m", "all")

    def run(self, *words: str) -> tuple[int, str]:
        """The exit code and the output of the hooks on what is staged, as at a commit."""
        command = [sys.executable, "-m", "pre_commit", "run", "--verbose", "--color=never", *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, check=False)
        return done.returncode, done.stdout + done.stderr

    def run_on_all(self) -> tuple[int, str]:
        """The same on all files that git tracks."""
        self.git("add", "--all")
        return self.run("--all-files")


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(("git", "-C", str(folder), *identity, *words), check=True, capture_output=True, text=True)
    return done.stdout


def with_hook(folder: Path, hook: str) -> Project:
    """A project with one of the hooks, run from this environment."""
    (found,) = [each for each in yaml.safe_load(MANIFEST.read_text()) if each["id"] == hook]
    program, _, rest = found["entry"].partition(" ")
    assert program == "tfmemlint"
    local = {**found, "language": "system", "entry": f"'{sys.executable}' -m tfmemlint {rest}"}
    local.pop("minimum_pre_commit_version")
    return Project(folder, yaml.safe_dump({"repos": [{"repo": "local", "hooks": [local]}]}))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "home"))
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def test_the_manifest_is_valid() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", str(MANIFEST)]
    subprocess.run(command, check=True, capture_output=True)


def test_the_hook_reports_and_changes_nothing(folder: Path) -> None:
    project = with_hook(folder, "tfmemlint")
    files = {name: project.write(name, text) for name, text in (("a.py", WASTE), ("b.ipynb", notebook(WASTE)))}
    project.write("notes.txt", WASTE)
    code, output = project.run_on_all()
    assert code == 1
    assert "a.py:3:44" in output and "b.ipynb:cell 1:3:44" in output and "TFM305" in output
    assert "notes.txt" not in output
    assert files["a.py"].read_text() == WASTE and files["b.ipynb"].read_text() == notebook(WASTE)


def test_the_fixing_hook_repairs_and_then_passes(folder: Path) -> None:
    project = with_hook(folder, "tfmemlint-fix")
    files = {name: project.write(name, text) for name, text in (("a.py", WASTE), ("b.ipynb", notebook(WASTE)))}
    code, output = project.run_on_all()
    assert code == 1 and "files were modified by this hook" in output
    assert files["a.py"].read_text() == CLEAN
    assert files["b.ipynb"].read_text() == notebook(CLEAN)
    assert project.run_on_all()[0] == 0


@pytest.mark.parametrize("hook", ["tfmemlint", "tfmemlint-fix"])
def test_excluded_files_stay_excluded_when_the_hook_names_them(folder: Path, hook: str) -> None:
    project = with_hook(folder, hook)
    project.write("tfmemlint.toml", "extend-exclude = ['legacy']\n")
    path = project.write("legacy/a.py", WASTE)
    code, _ = project.run_on_all()
    assert code == 0
    assert path.read_text() == WASTE


def test_at_a_commit_only_what_is_staged_is_looked_at(folder: Path) -> None:
    project = with_hook(folder, "tfmemlint")
    project.write("tracked.py", WASTE)
    project.commit()
    project.stage("staged.py", WASTE)
    project.stage("staged.ipynb", notebook(WASTE))
    project.write("unstaged.py", WASTE)
    code, output = project.run()
    assert code == 1
    assert "staged.py:3:44" in output and "staged.ipynb:cell 1:3:44" in output
    assert "tracked.py" not in output and "unstaged.py" not in output


def test_of_a_partially_staged_file_the_staged_text_counts_and_the_rest_comes_back(folder: Path) -> None:
    project = with_hook(folder, "tfmemlint")
    project.stage("a.py", WASTE)
    path = project.write("a.py", CLEAN + "x = 1\n")
    code, output = project.run()
    assert code == 1 and "a.py:3:44" in output
    assert path.read_text() == CLEAN + "x = 1\n"
    project.stage("a.py", CLEAN)
    path.write_text(WASTE)
    assert project.run()[0] == 0
    assert path.read_text() == WASTE


def test_a_repair_of_a_partially_staged_file_keeps_what_is_not_staged(folder: Path) -> None:
    """Lines far from the repair: where both change one line, pre-commit takes the repair back by itself."""
    project = with_hook(folder, "tfmemlint-fix")
    below = "".join(f"x{number} = {number}\n" for number in range(20))
    project.stage("a.py", WASTE + below)
    path = project.write("a.py", WASTE + below + "unstaged = True\n")
    code, output = project.run()
    assert code == 1 and "files were modified by this hook" in output
    assert path.read_text() == CLEAN + below + "unstaged = True\n"


def test_renamed_files_are_read_by_their_new_names_and_deleted_ones_not_at_all(folder: Path) -> None:
    project = with_hook(folder, "tfmemlint")
    for name in ("old.py", "gone.py"):
        project.write(name, WASTE)
    project.commit()
    project.git("mv", "old.py", "new name.py")
    project.git("rm", "--quiet", "gone.py")
    code, output = project.run()
    assert code == 1
    assert "new name.py:3:44" in output and "no such file" not in output
    assert "gone.py" not in output and "old.py" not in output
    project.git("rm", "--quiet", "--force", "new name.py")
    code, output = project.run()
    assert code == 0 and "no files to check" in output


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A repository of the files that an installation is made of, with the tag of its version."""
    source = tmp_path / "released"
    source.mkdir()
    for name in INSTALLED:
        path, skipped = CHECKOUT / name, shutil.ignore_patterns("__pycache__")
        shutil.copytree(path, source / name, ignore=skipped) if path.is_dir() else shutil.copy(path, source)
    git(source, "init", "--quiet")
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "-m", "release")
    git(source, "tag", f"v{tfmemlint.__version__}")
    return source


def test_the_block_of_the_documentation_works_against_the_tag_of_this_version(folder: Path, released: Path) -> None:
    """The one test that lets pre-commit build its environment. It is to need nothing of the one that tests run in."""
    page = (CHECKOUT / "docs/ci.md").read_text("utf-8")
    shown = re.search(r"^```yaml\n(repos:.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert shown
    (entry,) = yaml.safe_load(shown[1])["repos"]
    assert [each["id"] for each in entry["hooks"]] == ["tfmemlint", "tfmemlint-fix"]
    assert entry["rev"] == f"v{tfmemlint.__version__}"
    project = Project(folder, shown[1].replace(entry["repo"], released.as_posix()))
    path = project.stage("a.py", WASTE)
    code, output = project.run()
    assert code == 1 and "a.py:3:44" in output and "Fixed 1" in output, output
    assert path.read_text() == CLEAN
    project.stage("b.ipynb", notebook(CLEAN))
    project.git("add", "a.py")
    code, output = project.run()
    assert code == 0, output
