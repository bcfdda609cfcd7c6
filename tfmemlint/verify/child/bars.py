"""Stands in for progress bars of libraries that are not there; loaded by `main.py`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Bar:
    """A progress bar that shows nothing of what it goes through."""

    def __init__(self, items: Any) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None
