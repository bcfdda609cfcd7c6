"""Reads the probed tables, each once and only when it is asked for."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec

FOLDER = Path(__file__).parent


@cache
def table(name: str) -> dict[str, Any]:
    """The table `name` as a dictionary, which callers must not change."""
    found: dict[str, Any] = msgspec.json.decode((FOLDER / f"{name}.json").read_bytes())
    return found


@cache
def texts(name: str) -> dict[str, str]:
    """A table of which every entry is a text."""
    found: dict[str, str] = msgspec.json.decode((FOLDER / f"{name}.json").read_bytes())
    return found
