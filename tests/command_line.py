"""The command line run in this process, rules made of words, and small files for it: what its tests share."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from packs import Install, rule_module

from tfmemlint.cli.commands import main

HEAD = "import keras\n"
"""Makes a file one that uses TensorFlow."""


class Result(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def run(here: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command line in this process."""

    def made(*words: str, stdin: str | bytes = b"") -> Result:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        capfd.readouterr()
        code = main(words)
        out, err = capfd.readouterr()
        return Result(code, out, err)

    return made


@pytest.fixture
def word_rules(install: Install) -> None:
    """Rules for words: shout (ABC001, safe fix, 2 MiB), whisper (ABC002, info, unsafe fix), mumble (ABC003, off),
    scream (ABC004, error, no fix that is applied)."""
    install(
        a=rule_module("ABC001", "LoudWord", "shout", bytes=2 << 20),
        b=rule_module("ABC002", "SoftWord", "whisper", severity="INFO", safety="UNSAFE"),
        c=rule_module("ABC003", "DullWord", "mumble", default=False),
        d=rule_module("ABC004", "HarshWord", "scream", severity="ERROR", safety="DISPLAY", bytes=5 << 20),
    )


def write(**files: str) -> None:
    """Writes Python files by their names without ending."""
    for name, text in files.items():
        Path(f"{name}.py").write_text(text)


def git(*words: str) -> None:
    """Runs git in the working directory."""
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", *identity, *words], check=True, capture_output=True)
