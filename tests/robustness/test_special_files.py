"""Pipes, devices, sockets, endless and huge files in the place of what is read: one clear line, and no waiting."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import forked
import pytest

from tfmemlint.files.bounded_read import read_regular

WASTE = "import tensorflow as tf\nds = tf.data.Dataset.range(9).repeat().cache()\n"
FOUND = "good.py:2:40: TFM305 "

pytestmark = pytest.mark.skipif(os.name != "posix", reason="other systems have no such files")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("good.py").write_text(WASTE)
    return tmp_path


def check(*words: str, stdin: int = subprocess.DEVNULL) -> subprocess.CompletedProcess[str]:
    """A run that is ended with a failure when it waits."""
    return forked.check("-n", "--output-format=concise", *words, timeout=60, stdin=stdin)


def huge(name: str) -> None:
    with open(name, "wb") as stream:
        stream.truncate(1 << 40)


KINDS: dict[str, tuple[Callable[[str], object], str]] = {
    "a pipe": (os.mkfifo, "it is a named pipe, not a regular file"),
    "an endless device": (lambda name: os.symlink("/dev/zero", name), "it is a device, not a regular file"),
    "a huge file": (huge, "it is larger than "),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
def test_named_as_a_file_to_check(kind: str) -> None:
    KINDS[kind][0]("bad.py")
    done = check("--select=TFM305", "bad.py", "good.py")
    bad, good = done.stdout.splitlines()
    assert bad.startswith(f"bad.py:1:1: TFM001 the file cannot be read: {KINDS[kind][1]}")
    assert good.startswith(FOUND)
    assert (done.returncode, done.stderr) == (1, "")


@each_kind
def test_found_below_a_folder(kind: str) -> None:
    """Only what could be a program is spoken of."""
    KINDS[kind][0]("bad.py")
    done = check("--select=TFM305")
    expected = ["bad.py:1:1: ", FOUND] if kind == "a huge file" else [FOUND]
    assert [line[: len(start)] for line, start in zip(done.stdout.splitlines(), expected, strict=True)] == expected
    assert (done.returncode, done.stderr) == (1, "")


@each_kind
def test_in_the_place_of_a_configuration(kind: str) -> None:
    name = "tfmemlint.toml" if kind == "a pipe" else "pyproject.toml"
    Path("sub").mkdir()
    KINDS[kind][0](f"sub/{name}")
    Path("sub/a.py").write_text(WASTE)
    done = check("--select=TFM305")
    reason = "is larger than 4 MiB" if kind == "a huge file" else f"cannot be read: {KINDS[kind][1]}"
    assert done.stderr == f"tfmemlint: error: sub/{name}: {reason}\n"
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stdout.startswith(FOUND)
    named = check(f"--config=sub/{name}")
    assert named.stderr == f"tfmemlint: error: sub/{name}: {reason}\n"
    assert (named.returncode, named.stdout, named.stderr.count("\n")) == (2, "", 1)


@each_kind
def test_in_the_place_of_a_gitignore(kind: str) -> None:
    KINDS[kind][0](".gitignore")
    done = check("--select=TFM305")
    assert done.stderr.endswith("\n") and f".gitignore: cannot be read: {KINDS[kind][1]}" in done.stderr
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stdout.startswith(FOUND)


@each_kind
@pytest.mark.parametrize("words", [(), ("--write-baseline",)])
def test_in_the_place_of_a_baseline(kind: str, words: tuple[str, ...]) -> None:
    KINDS[kind][0]("known.json")
    Path("tfmemlint.toml").write_text("baseline = 'known.json'\n")
    before = os.lstat("known.json")
    done = check(*words)
    leads_out = words and Path("known.json").is_symlink()
    assert ("the baseline lies outside of " if leads_out else KINDS[kind][1]) in done.stderr
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    after = os.lstat("known.json")
    assert (after.st_ino, after.st_mode, after.st_size) == (before.st_ino, before.st_mode, before.st_size)


def test_what_else_is_no_regular_file() -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
    Path("missing-end").symlink_to("nowhere")
    for name, reason in {
        "socket": "it is a socket, not a regular file",
        ".": "it is a directory, not a regular file",
        "/dev/tty": "it is a device, not a regular file",
        "missing-end": "No such file or directory",
        "a\0b": "a NUL character is in the path",
    }.items():
        with pytest.raises(OSError, match=reason):
            read_regular(name)


def test_standard_input_without_end() -> None:
    zero = os.open("/dev/zero", os.O_RDONLY)
    try:
        done = check("-", stdin=zero)
    finally:
        os.close(zero)
    assert done.stderr == "tfmemlint: error: standard input is larger than 256 MiB\n"
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("key", ["cache-dir", "baseline"])
def test_a_path_with_a_nul_character(key: str) -> None:
    Path("tfmemlint.toml").write_text(f'{key} = "a\\u0000b"\n')
    done = check()
    assert done.stderr == f"tfmemlint: error: tfmemlint.toml: {key}: 'a\\x00b' is no path\n"
    assert (done.returncode, done.stdout) == (2, "")


def test_a_file_that_grows_while_it_is_read_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of /proc say that they are empty, and others may grow."""
    Path("log").write_bytes(b"12345")
    assert read_regular("log", 5) == b"12345"
    with pytest.raises(OSError, match="it is larger than 0 MiB"):
        read_regular("log", 4)
    fstat = os.fstat
    shrunk = os.stat_result((*os.stat("log")[:6], 0, *os.stat("log")[7:10]))
    monkeypatch.setattr(os, "fstat", lambda handle: shrunk if fstat(handle).st_size == 5 else fstat(handle))
    with pytest.raises(OSError, match="it is larger than 0 MiB"):
        read_regular("log", 4)
