"""Linting needs nothing that Windows and macOS lack, and takes paths with backslashes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("windows.py")
WASTE = "import tensorflow as tf\nds = tf.data.TFRecordDataset('a').repeat().cache()\n"
CLEAN = "import tensorflow as tf\nds = tf.data.TFRecordDataset('a').cache().repeat()\n"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="imitates what is there")


class Drive:
    """The drive C:, whose folder `work` is the working directory."""

    def __init__(self, root: Path) -> None:
        self.root, self.work = root, root / "work"
        self.put("src/train.py", WASTE)
        self.put("src/legacy/old.py", WASTE)

    def put(self, name: str, text: str) -> Path:
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(SCRIPT), str(self.root), *words]
        return subprocess.run(command, capture_output=True, text=True, input=stdin, cwd=self.root, check=False)

    def found(self, *words: str) -> set[tuple[str, str]]:
        """The files and codes of what is found."""
        done = self.run("check", "--output-format", "json", *words)
        assert done.returncode in (0, 1) and done.stderr == "", done.stderr
        return {(each["filename"], each["code"]) for each in json.loads(done.stdout)}


@pytest.fixture
def drive(tmp_path: Path) -> Drive:
    return Drive(tmp_path)


@pytest.mark.parametrize("path", ["src\\train.py", "src/train.py", ".\\src\\train.py", "C:\\work\\src\\train.py"])
def test_a_file_is_found_by_any_of_its_paths(drive: Drive, path: str) -> None:
    assert drive.found(path) == {("C:\\work\\src\\train.py", "TFM305")}


def test_places_below_the_working_directory_are_shown_with_slashes(drive: Drive) -> None:
    done = drive.run("check", "--output-format", "concise", ".")
    assert (done.returncode, done.stderr) == (1, "")
    assert {line.partition(":")[0] for line in done.stdout.splitlines()[:2]} == {"src/legacy/old.py", "src/train.py"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tfmemlint.toml", "extend-exclude = ['src/legacy']\n"),
        ("tfmemlint.toml", "extend-exclude = ['legacy']\n"),
        ("tfmemlint.toml", "[per-file-ignores]\n'src/legacy/**' = ['ALL']\n"),
        (".gitignore", "/src/legacy/\n"),
    ],
)
def test_patterns_with_slashes_hold(drive: Drive, name: str, text: str) -> None:
    drive.put(name, text)
    (drive.work / ".git").mkdir()
    assert drive.found(".") == {("C:\\work\\src\\train.py", "TFM305")}


def test_reports_for_services_name_files_as_these_do(drive: Drive) -> None:
    done = drive.run("check", "--output-format", "gitlab", "src\\train.py")
    assert json.loads(done.stdout)[0]["location"]["path"] == "src/train.py"
    done = drive.run("check", "--output-format", "github", "src\\train.py")
    assert done.stdout.startswith("::warning file=src/train.py,"), done.stdout


def test_repairs_are_written(drive: Drive) -> None:
    done = drive.run("check", "--fix", "src\\train.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert (drive.work / "src/train.py").read_text() == CLEAN
    assert not list(drive.work.rglob("*.tmp"))


def test_a_diff_names_files_as_patches_do(drive: Drive) -> None:
    done = drive.run("check", "--diff", "src\\train.py")
    assert done.returncode == 1 and done.stdout.startswith("--- src/train.py\n+++ src/train.py\n")


def test_a_baseline_holds_for_other_systems(drive: Drive) -> None:
    assert drive.run("check", "--write-baseline", ".").returncode == 0
    entries = json.loads((drive.work / "tfmemlint-baseline.json").read_text())["entries"]
    assert [entry["path"] for entry in entries] == ["src/legacy/old.py", "src/train.py"]
    assert drive.run("check", "--baseline", "tfmemlint-baseline.json", ".").returncode == 0


def test_imports_are_followed_and_the_cache_knows_what_a_file_rests_on(drive: Drive) -> None:
    drive.put("pyproject.toml", "[tool.tfmemlint]\nselect = ['TFM305']\n")
    drive.put("src/train.py", "from legacy.old import load\nds = load().cache()\nimport tensorflow\n")
    made = "import tensorflow as tf\n\n\ndef load():\n    return tf.data.TFRecordDataset('a'){}\n"
    drive.put("src/legacy/old.py", made.format(".repeat()"))
    for _ in range(2):
        assert drive.found(".") == {("C:\\work\\src\\train.py", "TFM305")}
    assert (drive.work / ".tfmemlint_cache").is_dir()
    drive.put("src/legacy/old.py", made.format(""))
    assert drive.found(".") == set()


@pytest.mark.parametrize("words", ["rules", "rule TFM305", "config", "check --show-files", "doctor", "init"])
def test_other_commands_work(drive: Drive, words: str) -> None:
    done = drive.run(*words.split())
    assert done.returncode == 0, done.stderr
    assert "internal error" not in done.stderr


def test_standard_input_is_read(drive: Drive) -> None:
    done = drive.run("check", "-", "--stdin-filename", "src\\new.py", "--output-format", "concise", stdin=WASTE)
    assert done.returncode == 1 and done.stdout.startswith("src/new.py:2:44: TFM305 "), done.stderr


def test_an_estimate_is_made(drive: Drive) -> None:
    drive.put(
        "model.py",
        "import tensorflow as tf\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(3)])\n"
        "model.compile('sgd', 'mse')\nmodel.fit(tf.zeros((64, 5)), tf.zeros((64, 3)))\n",
    )
    done = drive.run("estimate", "model.py")
    assert (done.returncode, done.stderr) == (0, "") and "model.py:4" in done.stdout


@pytest.mark.parametrize("words", [["verify", "src\\train.py"], ["run", "src\\train.py"]])
def test_what_cannot_be_measured_there_is_one_line(drive: Drive, words: list[str]) -> None:
    done = drive.run(*words)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
