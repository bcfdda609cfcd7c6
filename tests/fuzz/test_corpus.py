"""Inputs that failed once and must not again. Each says in its first lines what must hold; its folder is its kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from .case import Case
from .kinds import KINDS

worker = pytest.importorskip("fuzz.worker", reason="processes with limits are those of POSIX")

INPUTS = sorted(path for path in Path(__file__).with_name("corpus").glob("*/*") if path.is_file())


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_failed_once_holds(path: Path) -> None:
    verdict = worker.run(KINDS[path.parent.name], Case(path.name, path.read_bytes()))
    assert not verdict.words
