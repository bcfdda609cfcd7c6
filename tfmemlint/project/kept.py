"""The modules that a process has parsed, for the files that it reads next."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.project.siblings import Sibling

KEPT = 3 << 20
"""Characters of code whose trees a process keeps for the files that it reads next; a tree takes some hundred bytes for
each."""


class Kept:
    """Modules that this process has parsed, so that files which lead to the same one share it; the oldest go first."""

    def __init__(self) -> None:
        self._modules: OrderedDict[str, tuple[bytes, Sibling | None, int]] = OrderedDict()
        self._size = 0

    def get(self, path: str, digest: bytes) -> tuple[bool, Sibling | None]:
        """Whether these bytes of a file are known, and their module; None for those that do not parse."""
        entry = self._modules.get(path)
        if entry is None or entry[0] != digest:
            return False, None
        self._modules.move_to_end(path)
        return True, entry[1]

    def put(self, path: str, digest: bytes, sibling: Sibling | None, size: int) -> None:
        self._drop(path)
        self._modules[path] = digest, sibling, size
        self._size += size
        while self._size > KEPT and len(self._modules) > 1:
            self._drop(next(iter(self._modules)))

    def _drop(self, path: str) -> None:
        entry = self._modules.pop(path, None)
        if entry is not None:
            self._size -= entry[2]
            if entry[1] is not None:
                entry[1]._places.clear()  # they refer back to it, and it would wait for the collector of garbage
