"""What code of other modules does when a program calls or imports it: walked once, and added wherever it happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tfmemlint.model.happened import State
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.project.siblings import Sibling

Walk = Callable[[], State]


class DoneElsewhere:
    """The effects of functions and imports of other modules in one walk, that of the classifier `name`."""

    def __init__(self, file: File, name: str) -> None:
        self._file = file
        self._name = name
        self._functions: dict[int, State] = {}
        self._imports: dict[str, tuple[dict[str, bytes], State]] = {}
        """What importing the module in a file does, with the digests of the files on which that rests."""
        self._rests_on: dict[str, bytes] = {}
        self.importing = 0
        """How many modules are being imported."""

    def by_function(self, function: Node, walk: Walk) -> State:
        """What a function does that is no part of the file."""
        done = self._functions.get(id(function))
        if done is None:
            self._functions[id(function)] = {}  # as far as it calls itself
            done = self._functions[id(function)] = walk()
        return done

    def by_import(self, program: Sibling, walk: Walk) -> State:
        """What importing a module does; remembered with it, for the other files of the project that do."""
        known = self._imports.get(program.path) or program.imported.get(self._name)
        if known is None or not all(self._file.has(path, digest) for path, digest in known[0].items()):
            known = self._imports[program.path] = {program.path: program.digest}, {}  # for what leads back to it
            outer, self._rests_on = self._rests_on, known[0]
            self.importing += 1
            done = walk()
            self.importing -= 1
            known = self._imports[program.path] = self._rests_on, done
            self._rests_on = outer
            if not self.importing:  # else a circle of imports may have been entered in its middle
                program.imported[self._name] = known
        self._rests_on.update(known[0])
        state: State = known[1]
        return state
