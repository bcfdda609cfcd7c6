"""What results rest on besides their own files: other files of the project, and who imports what. Asked anew in each
run, once for all results that have a condition in common."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cached_property

import msgspec

from tfmemlint.project.importers import IMPORTERS, Imported, Importers
from tfmemlint.project.layout import project_root
from tfmemlint.run.seen import Seen

Condition = tuple[str, bytes | None]
"""Another file that had a part in a result, and how it was: see `FileResult.rests_on`; paths as keys of the cache."""

NOTHING = msgspec.Raw(b"\x80")
"""An empty map, encoded."""


class Conditions:
    """The conditions of one cache's results, by number. `path_of` leads from a key to the file, `root` is the
    project's, where that is known."""

    def __init__(self, seen: Seen, path_of: Callable[[str], str], root: str | None) -> None:
        self.listed: list[Condition] = []
        self.raw_imported = NOTHING
        """What earlier runs saw of the imports of projects, not yet decoded."""
        self._seen = seen
        self._path_of = path_of
        self._root = root
        self._numbers: dict[Condition, int] = {}
        self._answers: dict[int, bool] = {}
        self._importers: dict[str, Importers] = {}
        self._roots: dict[str, str] = {}

    def number(self, condition: Condition) -> int:
        """The number of a condition, which may be a new one and is true now."""
        if len(self._numbers) < len(self.listed):
            self._numbers = {each: number for number, each in enumerate(self.listed)}
        found = self._numbers.setdefault(condition, len(self.listed))
        if found == len(self.listed):
            self.listed.append(condition)
        key, was = condition
        if was and not key.startswith(IMPORTERS):
            self._seen.look(key)
            self._seen.read(key, was)
        return found

    def hold(self, numbers: Iterable[int]) -> bool:
        """Whether all of these are as they were."""
        answers = self._answers
        for number in numbers:
            if number not in answers:
                answers[number] = number < len(self.listed) and self.is_as(*self.listed[number])
            if not answers[number]:
                return False
        return True

    def imported(self) -> msgspec.Raw:
        """What is known now of the imports of projects, encoded."""
        return msgspec.Raw(msgspec.msgpack.encode(self._imported)) if self._importers else self.raw_imported

    def is_as(self, key: str, was: bytes | None) -> bool:
        """Whether another file is as it was."""
        if key.startswith(IMPORTERS):
            return self._importers_of(self._path_of(key.removeprefix(IMPORTERS))) == was
        if not was:
            return self._seen.is_there(key) is (was is not None)
        return self._seen.digest(key) == was

    def _importers_of(self, path: str) -> bytes:
        folder = os.path.dirname(path)
        if folder not in self._roots:
            self._roots[folder] = project_root(path) if self._root is None else self._root
        root = self._roots[folder]
        if root not in self._importers:
            self._importers[root] = Importers(root, known=self._imported)
        return self._importers[root].state(path)

    @cached_property
    def _imported(self) -> dict[str, Imported]:
        try:
            return msgspec.msgpack.decode(self.raw_imported, type=dict[str, Imported])
        except (msgspec.DecodeError, ValueError, TypeError):
            return {}
