"""What has not changed is not run again, and what may have changed is."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tfmemlint.cli import commands
from tfmemlint.files.tagged_folder import FOLDER
from tfmemlint.verify.run import kept, measure
from tfmemlint.verify.run.kept import Kept
from tfmemlint.verify.run.measure import Program, Settings
from tfmemlint.verify.run.runs import Failure, Run
from tfmemlint.verify.run.variants import OTHERS

TRAIN = """import tensorflow as tf

x = tf.cast(tf.ones([4096, 4096]), tf.float16)
print(x[0, 0])
"""
OK = Run("ok", peak_bytes=1 << 20, marks=((0.5, 1, 2, None, 0, 0),), versions={"tensorflow": "2.21.0"})


class Project:
    """A folder with a program, its data, and a count of how often it was run."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.ran = folder, 0
        self.known, self.run = "3.11", OK
        (folder / "train.py").write_text("x = 1\ny = 2\n", encoding="utf-8")
        (folder / "data.csv").write_text("1\n", encoding="utf-8")
        file = str(folder / "train.py")
        self.program = Program("x = 1\n", folder=str(folder), path=(str(folder),), file=file)
        self.settings = Settings(device="cpu", repeat=2)
        monkeypatch.setattr(measure, "run_once", self._run_once)

    def _run_once(self, *_: object) -> Run:
        self.ran += 1
        return self.run

    def measure(self) -> tuple[Run, ...]:
        """The program's runs, as a new process that verifies has them."""
        known = Kept(str(self.folder / FOLDER), self.known, "tool")
        return measure.measure(self.program, replace(self.settings, kept=known))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def test_an_unchanged_program_is_not_run_again(project: Project) -> None:
    first = project.measure()
    (project.folder / "train.py").write_text("x = 1\nanother = 3\n", encoding="utf-8")
    assert project.measure() == first == (OK, OK)
    assert project.ran == 2
    assert (project.folder / FOLDER / "CACHEDIR.TAG").exists()


CHANGES: dict[str, Callable[[Project], object]] = {
    "text": lambda made: setattr(made, "program", replace(made.program, source="x = 2\n")),
    "module": lambda made: setattr(made, "program", replace(made.program, modules=(("helper.py", "y = 1\n"),))),
    "cards": lambda made: setattr(made, "program", replace(made.program, simulated_gpus=2)),
    "repeats": lambda made: setattr(made, "settings", replace(made.settings, repeat=3)),
    "variant": lambda made: setattr(made, "settings", replace(made.settings, variant=OTHERS[0])),
    "memory limit": lambda made: setattr(made, "settings", replace(made.settings, allocator_limit=1 << 30)),
    "packages": lambda made: setattr(made, "known", "3.11 and numpy"),
    "data": lambda made: (made.folder / "data.csv").write_text("1\n2\n", encoding="utf-8"),
    "another file": lambda made: (made.folder / "helper.py").write_text("", encoding="utf-8"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_a_program_depends_on_has_it_run_again(project: Project, what: str) -> None:
    project.measure()
    before = project.ran
    CHANGES[what](project)
    project.measure()
    assert project.ran == before + project.settings.repeat


NEVER: dict[str, Callable[[Project], object]] = {
    "seconds": lambda made: setattr(made, "settings", replace(made.settings, timed=True)),
    "a failure": lambda made: setattr(made, "run", Run("error", error=Failure("ValueError"))),
    "a crash": lambda made: setattr(made, "run", Run("crash")),
    "a file elsewhere": lambda made: setattr(made, "program", Program("open('/data/x.csv')")),
    "a folder elsewhere": lambda made: os.symlink("/usr", made.folder / "data"),
    "an interpreter that does not tell": lambda made: setattr(made, "known", ""),
}


@pytest.mark.parametrize("what", NEVER)
def test_what_may_come_out_otherwise_is_never_kept(project: Project, what: str) -> None:
    NEVER[what](project)
    project.measure()
    before = project.ran
    project.measure()
    assert project.ran == 2 * before > 0


def test_what_a_clone_brings_is_not_believed(project: Project) -> None:
    project.measure()
    tag = project.folder / FOLDER / "CACHEDIR.TAG"
    text = tag.read_bytes()
    tag.unlink()
    tag.write_bytes(text)
    project.measure()
    assert project.ran == 4


def test_what_is_installed_is_told_by_the_interpreter(tmp_path: Path) -> None:
    assert "tfmemlint-" in kept.installed(Settings())
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\necho no\n", encoding="utf-8")
    script.chmod(0o755)
    assert kept.installed(Settings(python=str(script))) == ""


@pytest.mark.tensorflow
def test_the_command_says_what_it_has_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    words = ["verify", "--device", "cpu", "--repeat", "1", "--select", "TFM206", "--fixtures", "fixtures", "train.py"]
    said = []
    for more in ([], [], ["--no-cache"]):
        assert commands.main([*words, *more]) == 0
        shown = capsys.readouterr()
        said.append((shown.out, "not changed and were not run again; --no-cache runs all" in shown.err))
    assert [known for _, known in said] == [False, True, False]
    assert said[0][0] == said[1][0] == said[2][0]
    assert "1 confirmed" in said[0][0]
