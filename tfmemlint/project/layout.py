"""Where an import leads in a project: its folders, packages with and without `__init__.py`, scripts side by side.

Python looks in the folders of `sys.path`, which a reader of files does not know. What users mean by it are few: the
folder of the script, the folder above the package that a file belongs to, the project's own folder and its `src`, and
for scripts of folders that are put on the path, those between. They are asked in this order, nearest first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar, cast

ROOT_MARKS = ("pyproject.toml", "setup.cfg", "setup.py", "tfmemlint.toml", ".git", ".hg")
"""What the folder of a project holds: the nearest one above a file is its root."""

T = TypeVar("T")

INIT = "__init__.py"
MOST_FOLDERS = 24
"""Folders above a file in which a module is looked for."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a dotted name leads to: a file of code, a folder with further modules (a package has both), and the parts
    of the name that are left, which are attributes of it."""

    path: str | None
    folder: str | None
    rest: tuple[str, ...] = ()


class Seen:
    """What was seen of the folders of one project: whether files were there, and answers with what was looked for."""

    def __init__(self) -> None:
        self.there: dict[str, bool] = {}
        self.answers: dict[tuple[str, ...], tuple[Any, dict[str, bool]]] = {}


def project_root(path: str) -> str:
    """The folder of the project that a file belongs to: the nearest above it with a mark of one, else the folder above
    the outermost package that holds the file."""
    folder = os.path.dirname(os.path.abspath(path))
    for above in _upwards(folder):
        if any(os.path.exists(os.path.join(above, mark)) for mark in ROOT_MARKS):
            return above
    while os.path.isfile(os.path.join(folder, INIT)) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


class Layout:
    """Where the modules of one project lie. `probed` holds, for each path that was looked for, whether it was there.

    `seen` is what layouts of the same project have found, and will: for as long as nothing in it changes.
    """

    def __init__(self, root: str, seen: Seen | None = None) -> None:
        self.root = os.path.abspath(root)
        self.probed: dict[str, bool] = {}
        self._seen = Seen() if seen is None else seen

    def once(self, question: tuple[str, ...], answer: Callable[[], T]) -> T:
        """The answer to a question that was perhaps asked before, with all that was looked for then."""
        known = self._seen.answers.get(question)
        if known is None:
            outer, self.probed = self.probed, {}
            known = self._seen.answers[question] = answer(), self.probed
            self.probed = outer
        self.probed.update(known[1])
        return cast(T, known[0])

    def find(self, importer: str, name: str) -> Found | None:
        """What a dotted name leads to for the file that imports it, leading dots as in `from ..a import b`; None where
        the project has no such module."""
        return self.once(("find", os.path.dirname(importer), name), lambda: self._find(importer, name))

    def _find(self, importer: str, name: str) -> Found | None:
        level = len(name) - len(name.lstrip("."))
        parts = [part for part in name[level:].split(".") if part]
        if level:
            folder = os.path.dirname(importer)
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._descend(folder, parts, self._package(folder)) if self._inside(folder) else None
        chosen = self._choose(importer, parts)
        return chosen[1] if chosen is not None else None

    def top(self, importer: str, name: str) -> Found | None:
        """What the first part of a dotted name is, where importing the whole of it binds that one: `import a.b`."""
        return self.once(("top", os.path.dirname(importer), name), lambda: self._top(importer, name))

    def _top(self, importer: str, name: str) -> Found | None:
        chosen = self._choose(importer, name.split("."))
        return chosen[0] if chosen is not None else None

    def _choose(self, importer: str, parts: list[str]) -> tuple[Found, Found] | None:
        """What the first part of a name that is written from the top is, and what the whole leads to."""
        later: tuple[Found, Found] | None = None
        for folder in self._searched(importer) if parts else ():
            first = self.below(folder, parts[0])
            if first is None or self._is_above(folder, first, parts):
                continue
            found = Found(first.path, None, tuple(parts[1:]))
            if first.folder is not None:
                found = self._descend(first.folder, parts[1:], first)
            if first.path is not None:
                return first, found
            deeper = found.path is not None or len(found.rest) < len(parts) - 1
            if later is None and (deeper or (first.folder is not None and self._holds_module(first.folder))):
                later = first, found  # a folder of that name counts only where nothing else has it
        return later

    def _is_above(self, folder: str, first: Found, parts: list[str]) -> bool:
        """Whether a name means the folder that the importer is in, and no file of that name there: it goes on with what
        else is in that folder, `net.layers` beside `net/net.py`. The program is started above then."""
        if first.folder is not None or len(parts) < 2 or os.path.basename(folder) != parts[0]:
            return False
        return folder != self.root and self.below(folder, parts[1]) is not None

    def below(self, folder: str, name: str) -> Found | None:
        """The module or package of this name in a folder, or the folder of that name, if there is code in it."""
        return self.once(("below", folder, name), lambda: self._find_below(folder, name))

    def _find_below(self, folder: str, name: str) -> Found | None:
        inner = os.path.join(folder, name)
        if self.is_file(os.path.join(inner, INIT)):
            return Found(os.path.join(inner, INIT), inner)
        if self.is_file(f"{inner}.py"):
            return Found(f"{inner}.py", None)
        return Found(None, inner) if self._holds_code(inner) else None

    def _descend(self, folder: str, parts: list[str], at: Found) -> Found:
        for number, part in enumerate(parts):
            below = self.below(folder, part)
            if below is None:
                return Found(at.path, at.folder, tuple(parts[number:]))
            at = below
            if below.folder is None:
                return Found(below.path, None, tuple(parts[number + 1 :]))
            folder = below.folder
        return at

    def _package(self, folder: str) -> Found:
        init = os.path.join(folder, INIT)
        return Found(init if self.is_file(init) else None, folder)

    def _searched(self, importer: str) -> Iterator[str]:
        """The folders in which a module is looked for that a file names from the top."""
        inside: list[str] = []
        for folder in _upwards(os.path.dirname(importer)):
            if not self._inside(folder):
                break
            if self.is_file(os.path.join(folder, INIT)):
                inside.append(folder)  # Python would not look here, unless the file is run as a script
            else:
                yield folder
        yield os.path.join(self.root, "src")
        yield from inside

    def _inside(self, folder: str) -> bool:
        return folder == self.root or folder.startswith(os.path.join(self.root, ""))

    def is_file(self, path: str) -> bool:
        """Whether there is a file of this path, in the project: links lead nowhere else."""
        there = self._seen.there
        known = there.get(path)
        if known is None:
            known = there[path] = os.path.isfile(path) and self._stays(path)
        self.probed[path] = known
        return known

    def _holds_code(self, folder: str) -> bool:
        """Whether there is a folder with a module or a further folder in it."""
        return self.once(("holds code", folder), lambda: self._look(folder))

    def _holds_module(self, folder: str) -> bool:
        """Whether a module lies in a folder itself: others that have the name of a library hold what it wrote."""
        try:
            with os.scandir(folder) as entries:
                return any(entry.name.endswith(".py") for entry in entries)
        except OSError:
            return False

    def _look(self, folder: str) -> bool:
        self.probed[folder] = os.path.isdir(folder) and self._stays(folder)
        if not self.probed[folder]:
            return False
        try:
            with os.scandir(folder) as entries:
                return any(entry.name.endswith(".py") or entry.is_dir(follow_symlinks=False) for entry in entries)
        except OSError:
            return False

    def _stays(self, path: str) -> bool:
        """Whether links lead out of the project: a clone must not choose what else is read."""
        real = os.path.realpath(path)
        return real.startswith(os.path.join(os.path.realpath(self.root), "")) or real == os.path.realpath(self.root)


def _upwards(folder: str) -> Iterator[str]:
    for _ in range(MOST_FOLDERS):
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above
