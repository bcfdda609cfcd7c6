"""Input that cannot be used: one clear line each, the right exit code, other files linted, nothing changed."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import forked
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
        1,
    ),
    "undecodable": Case(
        bad(b"import tensorflow as tf\nx = '\xff'\n"),
        "bad.py:2:6: TFM001 byte 0xff cannot be decoded as utf-8; save the file as UTF-8",
        1,
    ),
    "unknown encoding": Case(
        bad(b"# coding: klingon\nimport tensorflow\n"),
        "bad.py:1:1: TFM001 unknown encoding klingon declared; correct the coding comment",
        1,
    ),
    "NUL bytes": Case(
        bad(b"import tensorflow\nx = '\0'\n"),
        "bad.py:2:6: TFM001 the file contains a NUL byte, which Python source must not",
        1,
    ),
    "UTF-16": Case(
        bad("import keras\n".encode("utf-16") + b"keras"),
        "bad.py:1:1: TFM001 the file is coded in UTF-16, which Python does not read; save it as UTF-8",
        1,
    ),
    "a notebook that is no JSON": Case(
        bad(b'{"cells": [ keras', "bad.ipynb"),
        "bad.ipynb:1:",
        1,
    ),
    "a notebook that is none": Case(
        bad(b'{"keras": 1}', "bad.ipynb"),
        "bad.ipynb:1:1: TFM001 the file is not a Jupyter notebook: it has no list of cells",
        1,
    ),
    "an undecodable notebook": Case(
        bad(b'{"cells": [\n"keras \xff"]}', "bad.ipynb"),
        "bad.ipynb:2:8: TFM001 byte 0xff cannot be decoded as utf-8; save the file as UTF-8",
        1,
    ),
    "huge file": Case(
        bad(
            b"import tensorflow as tf\nx = [\n" + b"    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,\n" * 400_000 + b"]\n"
        ),
        "bad.py:1:1: TFM001 17 MiB of code, and 16 MiB are the limit; exclude the file",
        1,
    ),
    "huge file without TensorFlow": Case(bad(b"x = 1\n" * 4_000_000), "", 1),
    "nested brackets": Case(
        bad(b"import keras\nx = " + b"(" * 5000 + b")" * 5000 + b"\n"),
        "bad.py:2:1: TFM002 cannot parse: brackets are nested too deeply",
        1,
    ),
    "links in a circle": Case(
        lambda: (Path("one.py").symlink_to("two.py"), Path("two.py").symlink_to("one.py")),
        "one.py:1:1: TFM001 the file cannot be read: too many levels of symbolic links",
        1,
        paths=("one.py", "good.py"),
    ),
    "unreadable": Case(
        unreadable, "bad.py:1:1: TFM001 the file cannot be read: ", 1, paths=("bad.py", "good.py")
    ),
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
    "unknown rule": Case(
        lambda: broken_below("[tool.tfmemlint]\nignore = ['TFM3O5']\n"),
        "tfmemlint: error: bad/pyproject.toml: ignore: unknown rule selector 'TFM3O5'; did you mean TFM305?",
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
    return forked.check("--select=TFM305", "--output-format=concise", *words)


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
    assert fixed.returncode == (0 if case.code == 1 and "TFM00" not in told else case.code)


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


def test_an_unknown_rule_of_the_command_line_stops_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.py").write_text(WASTE)
    slips = {"TFM3O5": "TFM305", "TFMIO5": "TFM105", "TFM3055": "TFM305", "cache-after-repeet": "cache-after-repeat"}
    for word, near in slips.items():
        done = check("--fix", "--select", word)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"tfmemlint: error: --select: unknown rule selector '{word}'; did you mean {near}?\n"
    assert Path("good.py").read_text() == WASTE


def give_up_powers() -> None:
    """Before a program starts: let the rights of files hold for the superuser too (Linux)."""
    library = ctypes.CDLL(None)
    for capability in (1, 2):  # to pass over the rights of files, and to read and search all
        library.prctl(24, capability, 0, 0, 0)


def test_what_may_not_be_read_or_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is closed to whom runs this, everything is repaired."""
    monkeypatch.chdir(tmp_path)
    for name in ("closed", "sealed"):
        Path(name).mkdir()
        Path(name, "a.py").write_text(WASTE)
    Path("good.py").write_text(WASTE)
    Path("closed").chmod(0)
    Path("sealed").chmod(0o555)
    words = ["-m", "tfmemlint", "check", "--fix", "-n", "--isolated", "--select=TFM305", "--output-format=concise"]
    powers = give_up_powers if sys.platform == "linux" and os.geteuid() == 0 else None
    try:
        probe = subprocess.run([sys.executable, "-c", "import os; os.listdir('closed')"], preexec_fn=powers, stderr=-3)
        done = subprocess.run([sys.executable, *words], preexec_fn=powers, capture_output=True, text=True)
    finally:
        Path("closed").chmod(0o755)
        Path("sealed").chmod(0o755)
    assert "repeat().cache()" not in Path("good.py").read_text()
    assert [os.listdir(name) for name in ("closed", "sealed")] == [["a.py"], ["a.py"]]
    if probe.returncode == 0:
        assert (done.returncode, done.stdout) == (0, "")
        assert "repeat().cache()" not in Path("closed/a.py").read_text() + Path("sealed/a.py").read_text()
        return
    assert done.returncode == 2
    assert sorted(done.stderr.splitlines()) == [
        "tfmemlint: error: ./closed: directory cannot be read: permission denied",
        "tfmemlint: error: sealed/a.py: not repaired: Permission denied",
    ]
    assert done.stdout.startswith("sealed/a.py:2:40: TFM305 ") and done.stdout.count("\n") == 1
