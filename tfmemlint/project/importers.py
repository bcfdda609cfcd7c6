"""Which files of a project may import a module: found by a look at their text, before any of them is parsed."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from typing import NamedTuple

from tfmemlint.files.bounded_read import digest_of, read_regular
from tfmemlint.files.unchanged import is_settled, signature, status_of
from tfmemlint.project.layout import INIT
from tfmemlint.project.written_imports import imported_names

IMPORTERS = "importers of "
"""Before a path in what a result rests on: not the file itself but those that import it."""

MOST_FILES = 4000
MOST_FOLDERS = 4000
"""Files and folders of a project beyond which nobody is asked who calls its functions."""

LARGEST = 1 << 20
"""Bytes of a file whose imports are looked at."""

LEFT_OUT = frozenset(("__pycache__", "build", "dist", "node_modules", "site-packages", "venv"))
"""Folders in which there is no code of the project; nor is there in those whose name begins with a dot."""


class Imported(NamedTuple):
    """The words of one file's imports, and a hash of its bytes; the signature of its status tells whether it is as it
    was, and is empty where that cannot be told (see `files.unchanged`)."""

    signature: bytes
    digest: bytes
    words: frozenset[str]


class Importers:
    """The files of a project by the words that stand in their imports. `unsaved` has those that an editor has changed,
    by path; `known` is what was seen before, and is kept up to date."""

    def __init__(
        self, root: str, unsaved: Mapping[str, bytes] | None = None, known: dict[str, Imported] | None = None
    ) -> None:
        self._root = root
        self._unsaved = unsaved or {}
        self._known = _KNOWN if known is None else known
        self._files: dict[str, Imported] = {}
        self._by_word: dict[str, list[str]] | None = None

    def of(self, path: str) -> list[str]:
        """The files that may import the module in a file, by their names; none for a project of too many files."""
        return [each for each in self._index().get(module_word(path), ()) if each != path]

    def state(self, path: str) -> bytes:
        """A hash of those files and of what stands in them."""
        found = hashlib.blake2b(digest_size=16)
        for each in self.of(path):
            found.update(os.path.relpath(each, self._root).encode(errors="replace") + self._files[each].digest)
        return found.digest()

    def _index(self) -> dict[str, list[str]]:
        if self._by_word is None:
            self._by_word = {}
            for path in _program_files(self._root):
                imported = self._imported(path)
                if imported is not None:
                    self._files[path] = imported
                    for word in imported.words:
                        self._by_word.setdefault(word, []).append(path)
        return self._by_word

    def _imported(self, path: str) -> Imported | None:
        unsaved = self._unsaved.get(path)
        if unsaved is not None:
            return Imported(b"", digest_of(unsaved), imported_words(unsaved))
        now, status = time.time(), status_of(path)
        if status is None:
            return None
        known = self._known.get(path)
        if known is not None and known.signature == signature(status):
            return known
        try:
            data = read_regular(path, LARGEST)
        except OSError:
            return None
        sure = signature(status) if is_settled(status, now) else b""
        found = self._known[path] = Imported(sure, digest_of(data), imported_words(data))
        return found


_KNOWN: dict[str, Imported] = {}
"""What this process has seen, so that a second look at a project reads only what has changed."""


def module_word(path: str) -> str:
    """The name by which imports call the module in a file."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) if name == INIT else name.removesuffix(".py")


def imported_words(data: bytes) -> frozenset[str]:
    """All parts of the dotted names that stand in the imports of a program text."""
    names = imported_names(data.decode("utf-8", "replace"))
    return frozenset(word for name in names for word in name.split(".") if word)


def _program_files(root: str) -> list[str]:
    """The files with code below a folder, in order; none where there are too many of them, or of folders."""
    found: list[str] = []
    for number, (folder, folders, names) in enumerate(os.walk(root)):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT and not name.startswith("."))
        found += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".py")]
        if len(found) > MOST_FILES or number >= MOST_FOLDERS:
            return []
    return found
