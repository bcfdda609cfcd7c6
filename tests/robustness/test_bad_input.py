"""Input that cannot be used: one clear line each, the right exit code, other files linted, nothing changed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

WASTE = "import tensorflow as tf\nds = tf.data.Dataset.range(9).repeat().cache().batch(3).prefetch(1)\n"
FOUND = "good.py:2:40: TFM305 "


class Case(NamedTuple):
    """Something bad beside `good.py`: how it is made, what is said of it, where, and the exit code."""

    make: Callable[[], object]
    line: str
    code: int
    on_stderr: bool = False
    paths: tuple[str, ...] = (".",)


def unreadable() -> None:
    """A file that even the superuser cannot read."""
    path = Path("bad.py")
    path.write_text(WASTE)
    path.chmod(0)
    if os.access(path, os.R_OK):
        path.unlink()
        path.symlink_to("/proc/self/mem")


def broken_below(text: str) -> None:
    Path("bad").mkdir()
    Path("bad/pyproject.toml").write_text(text)
    Path("bad/b.py").write_text(WASTE)


def loop() -> None:
    Path("sub").mkdir()
    Path("sub/loop").symlink_to(os.pardir, target_is_directory=True)


def bad(data: bytes, name: str = "bad.py") -> Callable[[], object]:
    return lambda: Path(name).write_bytes(data)


CASES = {
    "syntax error": Case(
        bad(b"import tensorflow as tf\nx = 1\ndef f(:\n"),
        "bad.py:3:7: TFM002 cannot parse: invalid syntax; nothing in this part was checked or changed",
        2,
    ),
    "undecodable": Case(
        bad(b"import tensorflow as tf\nx = '\xff'\n"),
        "bad.py:2:6: TFM001 byte 0xff cannot be decoded as utf-8; save the file as UTF-8",
        2,
    ),
    "unknown encoding": Case(
        bad(b"# coding: klingon\nimport tensorflow\n"),
        "bad.py:1:1: TFM001 unknown encoding klingon declared; correct the coding comment",
        2,
    ),
    "NUL bytes": Case(
        bad(b"import tensorflow\nx = '\0'\n"),
        "bad.py:2:6: TFM001 the file contains a NUL byte, which Python source must not",
        2,
    ),
    "UTF-16": Case(
        bad("import keras\n".encode("utf-16") + b"keras"),
        "bad.py:1:1: TFM001 the file is coded in UTF-16, which Python does not read; save it as UTF-8",
        2,
    ),
    "a notebook that is no JSON": Case(
        bad(b'{"cells": [ keras', "bad.ipynb"),
        "bad.ipynb:1:",
        2,
    ),
    "unreadable": Case(unreadable, "bad.py:1:1: TFM001 the file cannot be read: ", 2),
    "directory loop": Case(
        loop,
        "tfmemlint: warning: ./sub/loop: link to a directory above it (a loop); not followed",
        1,
        on_stderr=True,
    ),
    "empty file": Case(bad(b""), "", 1),
    "file of blanks": Case(bad(b" \n\t\n\f\n"), "", 1),
    "missing path": Case(
        lambda: None,
        "tfmemlint: error: gone.py: no such file or directory",
        2,
        on_stderr=True,
        paths=("gone.py", "good.py"),
    ),
    "broken pyproject.toml": Case(
        lambda: broken_below("[tool.tfmemlint\n"),
        "tfmemlint: error: bad/pyproject.toml: is not valid TOML: ",
        2,
        on_stderr=True,
    ),
    "unknown key": Case(
        lambda: broken_below("[tool.tfmemlint]\nslect = []\n"),
        "tfmemlint: error: bad/pyproject.toml: [tool.tfmemlint] slect: unknown key; did you mean 'select'?",
        2,
        on_stderr=True,
    ),
}


def state() -> dict[str, str]:
    """A hash of each file, but the cache."""
    found = {}
    for path in sorted(Path().rglob("*")):
        if path.is_file() and not path.is_symlink() and ".tfmemlint_cache" not in path.parts and path.name != "good.py":
            found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest() if os.access(path, os.R_OK) else "closed"
    return found


def check(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tfmemlint", "check", "--select=TFM305", "--output-format=concise", *words]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("name", CASES)
def test_one_line_and_the_right_code_and_other_files_are_linted(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    case = CASES[name]
    Path("good.py").write_text(WASTE)
    case.make()
    before = state()
    done = check(*case.paths)
    told, other = (done.stderr, done.stdout) if case.on_stderr else (done.stdout, done.stderr)
    lines = [line for line in told.splitlines() if not line.startswith("good.py")]
    assert len(lines) == bool(case.line)
    if lines:
        assert lines[0].startswith(case.line)
    assert FOUND in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert case.on_stderr or other == ""
    assert done.returncode == case.code

    fixed = check("--fix", *case.paths)
    assert state() == before
    assert "repeat().cache()" not in Path("good.py").read_text()
    assert fixed.returncode == (0 if case.code == 1 else case.code)


@pytest.mark.parametrize("text", ["[tool.tfmemlint", "min = = 1", "\x00", "[tool.tfmemlint]\nselect = 5\n"])
def test_a_broken_configuration_of_the_run_stops_it(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.py").write_text(WASTE)
    Path("pyproject.toml").write_text(text)
    done = check("--fix")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("tfmemlint: error: pyproject.toml: ")
    assert done.stderr.count("\n") == 1
    assert Path("good.py").read_text() == WASTE
    assert check("--isolated").returncode == 1
