"""The flake8 plugin: the same places as the command line, under our own configuration."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import forked
import pytest
import tfmemlint_fixtures
from daily import share
from flake8.main.cli import main as flake8

from tfmemlint.config.settings import Configs
from tfmemlint.flake8_plugin import encode
from tfmemlint.lint.baseline import write_baseline
from tfmemlint.lint.linter import Linter

FIXTURES = Path(tfmemlint_fixtures.__file__).parent
HEAD = "import tensorflow as tf\n\n"
WASTE = "ds = tf.data.Dataset.range(9).repeat().cache()\n"

DAYS = 8
"""On how many days each rule's fixtures have been linted by flake8 once."""

Places = Callable[..., list[str]]


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Places:
    """Runs flake8 in a folder of its own; its TFM lines as `path:row:column:code`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tfmemlint.toml").write_text("select = ['TFM305']\nextend-select = ['TFM003']\n")

    def run(*arguments: str) -> list[str]:
        flake8(["--isolated", "--jobs=1", "--select=TFM", "--format=%(path)s:%(row)d:%(col)d:%(code)s", *arguments])
        return capsys.readouterr().out.splitlines()

    return run


def test_flake8_lists_the_plugin() -> None:
    done = subprocess.run([sys.executable, "-m", "flake8", "--version"], capture_output=True, text=True, check=True)
    assert "tfmemlint: " in done.stdout


PRICED = """import numpy as np
import tensorflow as tf

array = np.random.rand(1 << 20)
constant = tf.constant(array)
ds = tf.data.TFRecordDataset("a").map(lambda x: tf.ones([1 << 20])).batch(4).prefetch(100)
for x in ds:
    print(x)
"""


def test_lines_say_how_grave_a_finding_is_and_once_what_it_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(PRICED)
    Path("tfmemlint.toml").write_text("select = ['TFM202', 'TFM304', 'TFM313']\n[severity]\nTFM202 = 'error'\n")
    flake8(["--isolated", "--jobs=1", "--select=TFM", "--format=%(text)s", "train.py"])
    found = {line[1:].partition("]")[0]: line for line in capsys.readouterr().out.splitlines()}
    assert found.keys() == {"error", "warning", "info"}
    assert found["error"].count("8 MiB") == 1
    assert found["warning"].count("1.6 GiB") == 1


@pytest.mark.parametrize("settings", ["", "select = ['ALL']\n"])
def test_fixtures_give_the_places_of_the_command_line(settings: str, places: Places, tmp_path: Path) -> None:
    """Of all rules in turn, an eighth of them each day: linting all of them four times takes two minutes."""
    rules = sorted(each for each in FIXTURES.iterdir() if each.name.startswith("TFM"))
    always = [each for each in rules if each.name.startswith(("TFM102", "TFM402"))]
    for each in {*share(rules, DAYS), *always}:
        shutil.copytree(each, tmp_path / "samples" / each.name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tfmemlint.toml").write_text(settings)
    done = forked.check("--output-format=json", "--no-cache", "samples")
    expected = {
        (finding["filename"], finding["location"]["row"], finding["location"]["column"], finding["code"])
        for finding in json.loads(done.stdout)
        if finding["filename"].endswith(".py")
    }
    found = set()
    for line in places("samples"):
        name, row, column, code = line.split(":")
        found.add((str((tmp_path / name).resolve()), int(row), int(column), code))
    assert {code for *_, code in expected} >= {"TFM102", "TFM402"}
    assert found == expected


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ((HEAD + WASTE).encode(), "3:40"),
        (b"\xef\xbb\xbf" + WASTE.replace("ds", "import tensorflow as tf; ds").encode(), "1:65"),
        ((HEAD + WASTE).replace("\n", "\r\n").encode(), "3:40"),
        (("# coding: latin-1\n" + HEAD + "x = 'é'; " + WASTE).encode("latin-1"), "4:49"),
        ((HEAD + "x = '\U0001f600é'; " + WASTE).encode(), "3:50"),
        ((HEAD + "if tf:\n\t" + WASTE).encode(), "4:41"),
        ((HEAD + "\f\n" + WASTE).encode(), "4:40"),
        ((HEAD + WASTE.rstrip("\n")).encode(), "3:40"),
        ((HEAD + WASTE.replace(".cache", " \\\n  .cache")).encode(), "4:4"),
    ],
)
def test_rows_and_columns_are_those_of_the_file(data: bytes, place: str, places: Places, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_bytes(data)
    assert places("train.py") == [f"train.py:{place}:TFM305"]
    result = Linter(Configs().for_file("train.py")).lint(data, "train.py")
    assert result.source is not None
    position = result.source.position(result.findings[0].span.start)
    assert f"{position.row}:{position.column}" == place


@pytest.mark.parametrize("name", [None, "src/train.py"])
def test_standard_input_is_read(name: str | None, tmp_path: Path) -> None:
    (tmp_path / "tfmemlint.toml").write_text("select = ['TFM305']\n[per-file-ignores]\n'other.py' = ['ALL']\n")
    arguments = ["--isolated", "--select=TFM", "-", *((f"--stdin-display-name={name}",) if name else ())]

    def run(*more: str) -> str:
        command = [sys.executable, "-m", "flake8", *arguments, *more]
        return subprocess.run(command, input=HEAD + WASTE, capture_output=True, text=True, cwd=tmp_path).stdout

    assert run().startswith(f"{name or 'stdin'}:3:40: TFM305 [warning] cache() ")
    assert run("--stdin-display-name=other.py") == ""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (WASTE.replace("\n", "  # noqa: TFM305\n"), []),
        (WASTE.replace("\n", "  # noqa\n"), []),
        (WASTE.replace("\n", "  # tfmemlint: ignore[TFM305]\n"), []),
        (WASTE.replace("ds = ", "ds = (  # noqa: TFM305\n").replace("\n", "\n", 1).rstrip() + "\n)\n", []),
        (WASTE.replace("ds = ", "ds = (\n").rstrip() + "\n)  # tfmemlint: ignore[TFM305]\n", []),
        ("# tfmemlint: disable[TFM305]\n" + WASTE, []),
        (WASTE.replace("\n", "  # noqa: E501\n"), ["3:40:TFM305"]),
        ("x = tf.cache  # noqa: TFM305\n", ["3:15:TFM003"]),
        ("x = tf.cache  # noqa\n", []),
        ("x = tf.cache  # noqa: TFM402\n", []),
        ("x = tf.cache  # tfmemlint: ignore[TFM402]\n", []),
        ("x = tf.cache  # tfmemlint: ignore[TFM402, TFM999]\n", ["3:15:TFM003"]),
        (WASTE.replace("\n", "  # tfmemlint: ignore[cache-after-repeat]\n"), []),
    ],
)
def test_comments_silence_once_and_unused_ones_are_reported(
    code: str, expected: list[str], places: Places, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(HEAD + code)
    assert places("train.py") == [f"train.py:{each}" for each in expected]


@pytest.mark.parametrize(
    "settings",
    [
        "select = ['TFM402']",
        "ignore = ['cache-after-repeat']",
        "per-file-ignores = {'src/*.py' = ['TFM3']}",
        "exclude = ['src']",
        "extend-exclude = ['train.py']",
    ],
)
def test_our_configuration_decides_what_runs_where(settings: str, places: Places, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(HEAD + WASTE)
    assert places("src") == ["src/train.py:3:40:TFM305"]
    (tmp_path / "tfmemlint.toml").write_text(settings)
    assert places("src/train.py") == []


def test_flake8_selects_among_what_is_found(places: Places, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEAD + WASTE + "x = 1  # noqa: TFM305\n")
    assert places("--extend-ignore=TFM003", "train.py") == ["train.py:3:40:TFM305"]
    assert places("--select=TFM0", "train.py") == ["train.py:4:8:TFM003"]
    assert places("--select=E", "train.py") == []


def test_disable_noqa_brings_nothing_back(places: Places, tmp_path: Path) -> None:
    """As the README says: what a comment silences is silent before flake8 hears of it."""
    (tmp_path / "train.py").write_text(HEAD + WASTE.replace("\n", "  # noqa: TFM305\n") + WASTE)
    assert places("--disable-noqa", "train.py") == ["train.py:4:40:TFM305"]


def test_the_baseline_is_honoured(places: Places, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + WASTE)
    result = Linter(Configs().for_file(str(path))).lint(path.read_bytes(), str(path))
    write_baseline(str(tmp_path / "accepted.json"), [result])
    with (tmp_path / "tfmemlint.toml").open("a") as stream:
        stream.write("baseline = 'accepted.json'\n")
    path.write_text(HEAD + "\n" + WASTE + WASTE.replace("ds", "other"))
    assert places("train.py") == ["train.py:5:43:TFM305"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("select = [", "tfmemlint.toml: is not valid TOML"),
        ("selct = ['TFM305']", "tfmemlint.toml: selct: unknown key; did you mean 'select'?"),
        ("baseline = 'none.json'", "none.json: no such baseline"),
    ],
)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_cannot_be_used_gives_one_line(settings: str, words: str, jobs: str, tmp_path: Path) -> None:
    (tmp_path / "tfmemlint.toml").write_text(settings)
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(HEAD + WASTE)
    command = [sys.executable, "-m", "flake8", "--isolated", f"--jobs={jobs}", "a.py", "b.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert words in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_file_without_tensorflow_imports_nothing_heavy() -> None:
    code = (
        "import ast, sys; from tfmemlint.flake8_plugin import Plugin;"
        "assert not list(Plugin(ast.parse('x = 1'), 'a.py', ['x = 1\\n']).run());"
        "print({'libcst', 'tfmemlint_rules', 'tfmemlint.config'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def run_twice(folder: Path, change: Callable[[], object], *words: str) -> list[tuple[list[str], bool]]:
    """The lines of two runs in processes of their own, with something changed between them, each with whether the
    rules were needed."""
    found = []
    command = [sys.executable, "-X", "importtime", "-m", "flake8", "--isolated", "--select=TFM", *words]
    for between in (change, lambda: None):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        found.append((sorted(done.stdout.splitlines()), "tfmemlint.lint.engine" in done.stderr))
        between()
    return found


def test_what_has_not_changed_is_not_linted_again(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEAD + WASTE)
    (first, linted), (second, again) = run_twice(tmp_path, lambda: None, "--jobs=1", "train.py")
    assert (first, linted, again) == (second, True, False)
    assert ["TFM305" in line for line in first] == [True]
    code = [sys.executable, "-X", "importtime", "-m", "tfmemlint", "check", "train.py"]
    assert "tfmemlint.lint.engine" not in subprocess.run(code, cwd=tmp_path, capture_output=True, text=True).stderr


def test_each_process_keeps_what_it_found(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"train_{number}.py").write_text(HEAD + WASTE)
    (first, _), (second, _) = run_twice(tmp_path, lambda: None, "--jobs=2", ".")
    assert first == second
    assert len(first) == 6
    (third, linted), _ = run_twice(tmp_path, lambda: None, "--jobs=1", ".")
    assert (third, linted) == (first, False)


@pytest.mark.parametrize("changed", ["train.py", "data.py", "tfmemlint.toml"])
def test_what_has_changed_is_linted_again(changed: str, tmp_path: Path) -> None:
    texts = {
        "train.py": "from data import load\n\nds = load().repeat().cache()  # a tensorflow pipeline\n",
        "data.py": "import tensorflow as tf\n\n\ndef load():\n    return tf.data.Dataset.range(9)\n",
        "tfmemlint.toml": "select = ['TFM305']\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    emptied = {
        "train.py": "# tensorflow\n",
        "data.py": "def load():\n    return []\n",
        "tfmemlint.toml": "select = ['TFM304']\n",
    }
    found = run_twice(tmp_path, lambda: (tmp_path / changed).write_text(emptied[changed]), "--jobs=1", "train.py")
    assert [len(lines) for lines, _ in found] == [1, 0]
    assert found[1][1]


def test_a_folder_that_cannot_be_written_is_no_matter(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEAD + WASTE)
    (tmp_path / ".tfmemlint_cache").write_text("somebody's file")
    (first, linted), (second, again) = run_twice(tmp_path, lambda: None, "--jobs=1", "train.py")
    assert (len(first), linted, again) == (1, True, True)
    assert first == second
    assert (tmp_path / ".tfmemlint_cache").read_text() == "somebody's file"


def test_a_syntax_error_is_left_to_flake8(places: Places, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEAD + "x = (\n")
    assert places("train.py") == []
    assert places("--select=E9,TFM", "train.py") != []


def test_lines_are_encoded_as_they_declare() -> None:
    assert encode(["# coding: latin-1\n", "é"]) == b"# coding: latin-1\n\xe9"
    assert encode(["é\n"]) == "é\n".encode()
    assert encode(["# coding: nonesuch\n", "é"]) == "# coding: nonesuch\né".encode()
    assert encode(["# coding: ascii\n", "x\n", "é"]) == "# coding: ascii\nx\né".encode()
    assert encode([]) == b""
