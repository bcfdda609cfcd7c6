"""What `--verbose` says of imports that lead to no module of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfmemlint.config.settings import Config
from tfmemlint.lint.unfollowed import unfollowed

PARSE = "cannot parse: '(' was never closed"

CASES: list[tuple[str, dict[str, str], dict[str, str]]] = [
    # What leads there, or may be a library's.
    ("import data\nfrom data import load\nfrom . import data as d", {"data.py": ""}, {}),
    ("import pandas\nimport keras.layers\nfrom tensorflow.keras import layers", {"keras/engine.py": ""}, {}),
    ("from p import load, train", {"p/__init__.py": "def load(): ...", "p/train.py": ""}, {}),
    ("from p import anything", {"p/__init__.py": "from .data import *", "p/data.py": ""}, {}),
    ("from . import f", {"__init__.py": "def f(): ..."}, {}),
    # What is not there.
    ("import p.absent", {"p/__init__.py": ""}, {"p.absent": "there is no such module"}),
    ("from p.absent import x, y", {"p/__init__.py": ""}, {"p.absent": "there is no such module"}),
    ("from p import absent", {"p/__init__.py": "x = 1"}, {"p.absent": "there is no such module"}),
    ("from p.a.b import x", {"p/data.py": ""}, {"p.a": "there is no such module"}),
    ("from .absent import x", {}, {".absent": "there is no such module"}),
    ("from ... import x", {}, {"...": "it leads out of the project"}),
    # What cannot be read.
    ("import data", {"data.py": "x = 1\ny = (\n"}, {"data": f"data.py:2: {PARSE}"}),
    ("from p.data import x, y", {"p/data.py": "x = (\n"}, {"p.data": f"p/data.py:1: {PARSE}"}),
    (
        "import data",
        {"data.py": "# coding: absent\n"},
        {"data": "data.py: unknown encoding absent declared; correct the coding comment"},
    ),
    ("import data", {"data.py": "x" * (1 << 20) + "y"}, {"data": "data.py cannot be read, or is too large"}),
]


@pytest.mark.parametrize(("text", "modules", "expected"), CASES)
def test_unfollowed(text: str, modules: dict[str, str], expected: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    for name, content in {**modules, "train.py": text}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    path = str(tmp_path / "train.py")
    assert unfollowed(path, Config()) == expected
    assert not unfollowed(path, Config(follow_imports=False))


def test_a_file_that_cannot_be_read_itself_has_its_own_finding(tmp_path: Path) -> None:
    assert not unfollowed(str(tmp_path / "absent.py"), Config())
