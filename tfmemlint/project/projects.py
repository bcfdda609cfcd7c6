"""What the files of one run are told alike about their projects, so that nobody looks twice."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tfmemlint.project.by_words import Outline
from tfmemlint.project.importers import Importers
from tfmemlint.project.layout import Seen, project_root
from tfmemlint.project.texts import Text
from tfmemlint.text.pins import Pins

NOTHING: Mapping[str, bytes] = {}


class Project:
    """What was seen of one project, for as long as nothing in it changes.

    `unsaved` has files that an editor has changed, by absolute path: they are read as they are there, not on disk.
    """

    def __init__(self, root: str, unsaved: Mapping[str, bytes] = NOTHING) -> None:
        self.root = root
        self.unsaved = unsaved
        self.layout = Seen()
        self.layout.there.update(dict.fromkeys(unsaved, True))
        self.importers = Importers(os.path.abspath(root), unsaved)
        self.texts: dict[str, tuple[bytes | None, Text | None]] = {}
        """The digests of the files that were read, None for those that could not be, and what their texts tell."""
        self.outlines: dict[str, Outline | None] = {}
        self.calls: dict[str, frozenset[str]] = {}
        """The words by which the code of files may call something."""
        self.pins: dict[str, tuple[bytes | None, Pins]] = {}
        """The digests of files of requirements, likewise, and which versions they ask for."""


class Projects:
    """The projects of a run. A run that changes files must not keep them from one file to the next. `unsaved` is as
    for a Project."""

    def __init__(self, unsaved: Mapping[str, bytes] = NOTHING) -> None:
        self._unsaved = unsaved
        self._roots: dict[str, str] = {}
        self._projects: dict[str, Project] = {}

    def of(self, path: str, root: str | None) -> Project:
        """The project of a file, whose root may be known."""
        if root is None:
            folder = os.path.dirname(os.path.abspath(path))
            root = self._roots.get(folder)
            if root is None:
                root = self._roots[folder] = project_root(path)
        found = self._projects.get(root)
        if found is None:
            found = self._projects[root] = Project(root, self._unsaved)
        return found
