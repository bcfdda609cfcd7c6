"""The files of a project as they were at a git revision, in a folder of their own: for `estimate --compare`.

What a step takes may have changed in another module than its own, so all modules of the revision are written there.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from types import TracebackType

import msgspec

from tfmemlint.config.paths import steps_below
from tfmemlint.config.settings import Config
from tfmemlint.files.bounded_read import SOURCES
from tfmemlint.lint.git import GitError, blobs, commit_of, renamed, repository_of
from tfmemlint.project.layout import ROOT_MARKS
from tfmemlint.project.required import FILES

_OPTION = "--compare"
_MOST = 1 << 20
"""Bytes of a module beside the file; larger ones are not followed."""


@dataclass(frozen=True, slots=True)
class OldFile:
    """A file as it was: its bytes, where a copy lies, and the configuration that governs the copy."""

    data: bytes
    path: str
    config: Config


@dataclass(frozen=True, slots=True)
class _Repository:
    """A repository, the commit that is meant (None before the first), and the folder with what it had."""

    top: str
    commit: str | None
    folder: str


class Revision:
    """What git has stored of a revision. Use it as a context: its folder is removed at the end."""

    def __init__(self, ref: str) -> None:
        self.ref = ref
        self._folder = tempfile.TemporaryDirectory(prefix="tfmemlint-")
        self._repositories: dict[str, _Repository] = {}

    def __enter__(self) -> Revision:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._folder.cleanup()

    @staticmethod
    def failed(error: Exception) -> bool:
        """Whether an error is one of git, so that no other file of the revision can be had either."""
        return isinstance(error, GitError)

    def file(self, path: str, config: Config) -> OldFile | None:
        """What a file of the working tree was; None where it was not there. Raises GitError and OSError."""
        real = os.path.realpath(path)
        repository = self._repository(repository_of(os.path.dirname(real), path, _OPTION))
        if repository.commit is None:
            return None
        name = os.path.relpath(real, repository.top).replace(os.sep, "/")
        name = renamed(repository.top, repository.commit, [name]).get(name, name)
        data = blobs(repository.top, repository.commit, name.__eq__).get(name)
        if data is None or not _write(repository.folder, name, data):
            return None
        root = repository.folder
        if config.project_root:
            below = steps_below(repository.top, os.path.realpath(config.resolve(config.project_root)))
            root = os.path.join(repository.folder, *below)
        old = msgspec.structs.replace(config, project_root=root if config.project_root else None)
        return OldFile(data, os.path.join(repository.folder, *name.split("/")), old)

    def _repository(self, top: str) -> _Repository:
        found = self._repositories.get(top)
        if found is None:
            folder = os.path.join(os.path.realpath(self._folder.name), str(len(self._repositories)))
            os.makedirs(os.path.join(folder, ".git"))  # as a mark of the project's root; nobody asks git there
            commit = commit_of(top, self.ref, _OPTION)
            found = self._repositories[top] = _Repository(top, commit, folder)
            for name, data in blobs(top, commit, _is_of_project, _MOST).items() if commit else ():
                _write(folder, name, data)
        return found


def _is_of_project(name: str) -> bool:
    """Whether a file is a module, or says where a project begins and what it requires."""
    return name.endswith(".py") or name.rpartition("/")[2] in (*ROOT_MARKS, *FILES)


def _write(folder: str, name: str, data: bytes) -> bool:
    """Write a file below a folder; whether it is there. A tree may hold names that lead elsewhere, or that this system
    does not take."""
    path = os.path.normpath(os.path.join(folder, *name.split("/")))
    if not steps_below(folder, path) or len(data) > SOURCES:
        return False
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(data)
    except (OSError, ValueError):
        return False
    return True
