"""The slices of a file and of the modules of its project that it needs, grown together until nothing is missing.

A kept name that an import binds asks the module that the import leads to for what that name stands for there, and so
on. A module is there only with what is asked of it, and with what importing it sets for all of TensorFlow; packages
around it likewise. What cannot be read, or is one too many, is imported as it is.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.file import File
from tfmemlint.model.imports import gives, listed
from tfmemlint.project.layout import INIT, Found
from tfmemlint.syntax.program import Program
from tfmemlint.syntax.scopes import Definition
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.plan import bound_elsewhere
from tfmemlint.verify.plan.slicing import Home, Slice
from tfmemlint.verify.plan.statements import is_setting

if TYPE_CHECKING:
    from tfmemlint.project.siblings import Siblings

MOST_MODULES = 40
"""Modules that are cut to what is needed; any further ones are imported as they are."""


class Slices:
    """The slices of one program, by module. `entry` is the module that the program runs, whose imports lead to all
    others; `sliced` are the functions whose bodies may lose statements."""

    def __init__(self, file: File, entry: Home, sliced: Iterable[cst.FunctionDef] = ()) -> None:
        self.file, self.entry = file, entry
        self.to_the_end = False
        """Whether the program calls something at its end, after all that its module does."""
        self.data_only = False
        """Whether a data set that the flagged statement makes is not followed to where it is trained on."""
        self.models_only = False
        """Whether what is made of the flagged statement is followed to the model, and not to where that is trained."""
        self.settings_only = False
        """Whether it is about device settings alone: what becomes of what they make is left out."""
        self.follows = True
        """Whether what the flagged statement makes is followed to what uses it."""
        self.whole: list[str] = []
        """The modules that are imported as they are."""
        self.made: dict[int, tuple[Node, str]] = {}
        """The statements, by id, whose values are made up: the expression that is replaced, and code in its place."""
        self.runs_itself = False
        """Whether a module imports the one that the program runs."""
        self._sliced = list(sliced)
        self._known: dict[int, Slice] = {}
        self._taken: dict[int, Slice] = {}
        self._asked: set[tuple[str | None, str | None, tuple[str, ...], bool]] = set()
        self._starred: dict[tuple[int, tuple[str, ...]], bool] = {}
        self.at(entry)

    @property
    def siblings(self) -> Siblings | None:
        """The modules of the project, None where none are followed."""
        return self.file.siblings

    def __iter__(self) -> Iterator[Slice]:
        return iter(list(self._taken.values()))

    def of(self, node: Node) -> Slice:
        """The slice of the module that holds a node."""
        return self.at(self.file.home(node))

    def at(self, home: Home) -> Slice:
        """The slice of a module, empty at first."""
        found = self._slice(home)
        if id(home) not in self._taken:
            self._taken[id(home)] = found
            if home is not self.entry:
                self._take_packages(home)
        return found

    def _slice(self, home: Home) -> Slice:
        found = self._known.get(id(home))
        if found is None:
            found = self._known[id(home)] = Slice(self, home, self._sliced)
        return found

    def path(self, home: Home) -> str:
        """The absolute path of a module."""
        if isinstance(home, File):
            return self.siblings.path if self.siblings is not None else os.path.abspath(home.source.path)
        return home.path

    def close(self) -> None:
        """Add statements until nothing is missing."""
        self._reach_settings()
        count = -1
        while count != self._size():
            count = self._size()
            for each in self:
                self._reach_module(each.home)
                each.close()

    def _size(self) -> int:
        return sum(1 + len(each.kept) + len(each.needed) for each in self)

    # -- what imports ask for ----------------------------------------------------------------------------------------

    def demand(self, definition: Definition, names: tuple[str, ...], whole: bool) -> None:
        """Have the module there that an import leads to, with what these names stand for that are asked of what it
        binds; with `whole`, all of a module of which nothing in particular is asked."""
        led = self.file.values.imports.leads_to(definition)
        if led is not None:
            self.need(led[0], (*led[1], *names), whole)

    def need(self, found: Found, names: tuple[str, ...], whole: bool) -> None:
        """Have a module there, with what a dotted name means in it."""
        key = found.path, found.folder, names, whole
        if key in self._asked:
            return
        self._asked.add(key)
        home = self._module(found.path)
        if home is not None:
            own = self.at(home)
            if not names and whole:
                own.keep_all()
            if not names or own.name(names[0], names[1:]):
                return
        folder, siblings = found.folder, self.siblings
        below = siblings.layout.below(folder, names[0]) if names and folder and siblings is not None else None
        if below is not None:
            self.need(below, names[1:], whole)
        elif home is not None:
            bound_elsewhere.from_star(self.at(home), names[0], names[1:])

    def need_starred(self, importer: Home, module: str, names: tuple[str, ...]) -> bool:
        """Have a module there that a star import takes everything from, if the first of these names is among it."""
        if self.siblings is None or (not module.startswith(".") and knowledge.is_library(module)):
            return False
        found = self.siblings.find(self.path(importer), module)
        home = self._module(found.path) if found is not None and not found.rest else None
        if found is None or home is None or home is importer or not gives(home, names[0]):
            return False
        key = id(home), names
        if key not in self._starred:
            part = self._slice(home)
            self._starred[key] = False  # while it is asked: star imports may go round in circles
            self._starred[key] = part.name(names[0], names[1:]) or bound_elsewhere.from_star(part, names[0], names[1:])
            if not self._starred[key] and names[0] in (listed(home) or ()):
                self._starred[key] = self._need_below(found, names) and part.name("__all__")
            if self._starred[key]:
                self.at(home)
        return self._starred[key]

    def _need_below(self, package: Found, names: tuple[str, ...]) -> bool:
        """Have the module of a package there that is the first of these names, if there is one."""
        siblings, folder = self.siblings, package.folder
        below = siblings.layout.below(folder, names[0]) if siblings is not None and folder else None
        if below is not None:
            self.need(below, names[1:], True)
        return below is not None

    def leads(self, definition: Definition, names: tuple[str, ...]) -> list[tuple[Slice, Node]] | None:
        """The statements in other modules that give meaning to what is imported; None where they are not known."""
        led = self.file.values.imports.leads_to(definition)
        home = self._module(led[0].path) if led is not None else None
        asked = (*led[1], *names) if led is not None else ()
        if home is None or not asked:
            return None
        bound = self.file.flow(home.module).bindings.get(asked[0], ())
        own = self._slice(home)
        return [(own, unit) for each in bound if (unit := own.unit(each.node)) is not None] or None

    def _module(self, path: str | None) -> Home | None:
        if path is None:
            return None
        home = self.file.link(path)
        known = home is not None and id(home) in self._taken
        if home is self.entry:
            self.runs_itself = True
        if home is None or (not known and len(self._taken) >= MOST_MODULES):
            self.whole += [path] if path not in self.whole else []
            return None
        assert isinstance(home, Home)
        return home

    def _take_packages(self, home: Home) -> None:
        """Importing a module runs the packages that it lies in."""
        if self.siblings is None:
            return
        folder = os.path.dirname(self.path(home))
        root = self.siblings.layout.root
        while folder != root and folder.startswith(root):
            if os.path.isfile(os.path.join(folder, INIT)):
                package = self._module(os.path.join(folder, INIT))
                if package is not None:
                    self.at(package)
            folder = os.path.dirname(folder)

    # -- modules that are imported for what that does ----------------------------------------------------------------

    def _reach_settings(self) -> None:
        """Have the modules there that set something for all of TensorFlow as they are imported."""
        for program in self.file.within_reach if self.siblings is not None else ():
            if any(is_setting(self.file, statement) and not _is_future(statement) for statement in program.module.body):
                self.at(self.file.home(program.module))

    def _reach_module(self, home: Home) -> None:
        """Keep the imports that lead from the module that runs to another one, where those kept do not."""
        if home is self.entry or os.path.basename(self.path(home)) == INIT:
            return
        before = self._ways(kept_only=True)
        if id(home) in before:
            return
        way = self._ways(kept_only=False)
        at: Program = home
        while id(at) in way:
            importer, statement = way[id(at)]
            self.of(statement).keep_import(statement)
            at = importer
            if at is self.entry:
                return

    def _ways(self, kept_only: bool) -> dict[int, tuple[Home, cst.Import | cst.ImportFrom]]:
        """For each module (by id) that the one that runs comes to: who imports it first, and where."""
        found: dict[int, tuple[Home, cst.Import | cst.ImportFrom]] = {}
        pending: deque[Home] = deque((self.entry,))
        while pending:
            home = pending.popleft()
            for statement in home.tree.of(cst.Import, cst.ImportFrom):
                if kept_only and not self._holds(home, statement):
                    continue
                for program in self.file.values.imports.runs(statement):
                    if id(program) not in found and program is not self.entry:
                        found[id(program)] = home, statement
                        pending.append(self.file.home(program.module))
        return found

    def _holds(self, home: Home, statement: Node) -> bool:
        part = self._taken.get(id(home))
        return part is not None and part.holds(statement)


def _is_future(statement: Node) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], cst.ImportFrom)
