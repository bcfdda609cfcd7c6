"""What imports give: names of libraries, and modules of the project, whose values come from their own code."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, cast

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Api, Const, Module, Unknown, Value, one_of
from tfmemlint.syntax.literals import texts
from tfmemlint.syntax.program import Program
from tfmemlint.syntax.reaching import is_guarded, is_main_guard
from tfmemlint.syntax.scopes import Definition, dotted, written

if TYPE_CHECKING:
    from tfmemlint.model.evaluate import Evaluator
    from tfmemlint.project.layout import Found
    from tfmemlint.project.siblings import Sibling, Siblings

CONSTANTS = {
    **dict.fromkeys(("np.newaxis", "tf.newaxis"), Const(None)),
    **dict.fromkeys(("np.pi", "math.pi"), Const(math.pi)), **dict.fromkeys(("np.e", "math.e"), Const(math.e)),
}  # fmt: skip
"""API names that are plain constants."""

MOST_STARS = 4
"""Star imports that lead into each other."""


def named(path: str) -> Value:
    """What a dotted name of a library stands for: the few constants by their value."""
    path = knowledge.canonical(path)
    return CONSTANTS[path] if path in CONSTANTS else Api(path)


class Imports:
    """The imports of one file, and of the modules of its project that they lead to."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._ends: dict[tuple[int, str], tuple[Definition, ...]] = {}
        self._run: dict[int, list[Program]] = {}

    def value(self, definition: Definition) -> Value:
        """What an import gives a name."""
        led = self.leads_to(definition)
        if led is None:
            return named(definition.api)
        found, rest = led
        value: Value = Module(definition.api.strip("."), found.path, found.folder)
        for part in rest:
            value = self._evaluator.attribute(value, part)
        return value

    def leads_to(self, definition: Definition) -> tuple[Found, tuple[str, ...]] | None:
        """The module of the project from which an import takes a name, and the names that it asks of it, none where it
        binds the module itself. None for libraries, and for what is not there."""
        siblings = self._siblings(definition.api)
        if siblings is None:
            return None
        importer = self._path(self._evaluator.file.home(definition.node), siblings)
        if isinstance(self._evaluator.tree.parent(definition.node), cst.ImportFrom):
            found, rest = self._taken(definition.api, importer, siblings)
        else:
            whole = self._bound_by(definition)
            found = siblings.find(importer, definition.api) if whole is None else siblings.layout.top(importer, whole)
            rest = found.rest if found is not None else ()
        return None if found is None else (found, rest)

    def _taken(self, name: str, importer: str, siblings: Siblings) -> tuple[Found | None, tuple[str, ...]]:
        """The module that `from ... import` takes a name from, and what is asked of it."""
        plain = name.lstrip(".")
        head, _, last = plain.rpartition(".")
        found = siblings.find(importer, name[: -len(plain)] + head) if plain else None
        if found is not None and found.path == importer and found.folder is not None:
            own = siblings.layout.below(found.folder, last)  # a package takes a module of its own
            if own is not None:
                return own, ()
        return found, (*found.rest, last) if found is not None else ()

    def _bound_by(self, definition: Definition) -> str | None:
        """The dotted name whose first part an import binds, `import a.b`; None where it binds what it names."""
        alias = definition.node
        whole = dotted(alias.name) if isinstance(alias, cst.ImportAlias) and alias.asname is None else None
        return whole if whole is not None and whole != definition.api else None

    def attribute(self, module: Module, name: str) -> Value:
        """What a module of the project holds under a name once it is imported, or its module of that name."""
        program = self._evaluator.file.link(module.path) if module.path is not None else None
        if program is not None:
            found = self._exported(program, name, MOST_STARS)
            if found is not None:
                return found
        siblings = self._evaluator.file.siblings
        below = siblings.layout.below(module.folder, name) if siblings is not None and module.folder else None
        if below is not None:
            return Module(f"{module.name}.{name}", below.path, below.folder)
        if program is None and module.path is not None:
            return Unknown(f"the module {module.name} cannot be read")
        return Unknown(f"{name} is not defined in {module.name}")

    def starred(self, name: str, program: Program, depth: int = MOST_STARS) -> Value | None:
        """What a star import of a module gives a name that it does not bind itself; None where none does."""
        for module in program.star_imports:
            path = knowledge.canonical(module.lstrip(".") + f".{name}")
            if not module.startswith(".") and knowledge.exists(path):
                return Api(path)
            siblings = self._siblings(module) if depth else None
            if siblings is None:
                continue
            found = siblings.find(self._path(program, siblings), module)
            source = self._evaluator.file.link(found.path) if found is not None and found.path else None
            if source is None or source is program or (found is not None and found.rest):
                continue
            if not gives(source, name):
                continue
            value = self._exported(source, name, depth - 1)
            if value is not None:
                return value
            below = siblings.layout.below(found.folder, name) if found is not None and found.folder else None
            if below is not None and name in (listed(source) or ()):
                return Module(f"{module}.{name}", below.path, below.folder)
        return None

    def run_by(self, statement: cst.Import | cst.ImportFrom) -> list[Sibling]:
        """The other modules of the project that an import runs, packages before what is in them."""
        return [cast("Sibling", each) for each in self.runs(statement) if each is not self._evaluator.file]

    def runs(self, statement: cst.Import | cst.ImportFrom) -> list[Program]:
        """The modules of the project that an import runs, this file among them."""
        found = self._run.get(id(statement))
        if found is None:
            found = self._run[id(statement)] = list(self._find_run(statement))
        return found

    def _find_run(self, statement: cst.Import | cst.ImportFrom) -> Iterator[Program]:
        prefix = ""
        if isinstance(statement, cst.ImportFrom):
            prefix = "." * len(statement.relative) + (dotted(statement.module) or "" if statement.module else "")
        aliases = statement.names if not isinstance(statement.names, cst.ImportStar) else ()
        names = [dotted(alias.name) or "" for alias in aliases]
        if prefix:
            between = "" if prefix.endswith(".") else "."
            names = [prefix, *(f"{prefix}{between}{name}" for name in names)]
        siblings = self._siblings(prefix or names[0])
        if siblings is None:
            return
        file = self._evaluator.file
        importer = self._path(file.home(statement), siblings)
        for name in names:
            parts = name.lstrip(".").split(".")
            level = len(name) - len(name.lstrip("."))
            paths = [name[:level] + ".".join(parts[: count + 1]) for count in range(len(parts))]
            for path in dict.fromkeys(paths):
                found = siblings.find(importer, path)
                program = file.link(found.path) if found is not None and found.path and not found.rest else None
                if program is not None:
                    yield program

    # -- where names lead --------------------------------------------------------------------------------------------

    def _siblings(self, name: str) -> Siblings | None:
        """The modules of the project, where a name may be one of theirs."""
        siblings = self._evaluator.file.siblings
        return None if siblings is None or (not name.startswith(".") and knowledge.is_library(name)) else siblings

    def _path(self, program: Program, siblings: Siblings) -> str:
        return siblings.path if program is self._evaluator.file else str(getattr(program, "path", siblings.path))

    def _exported(self, program: Program, name: str, depth: int) -> Value | None:
        """What a name holds at the end of a module, as those see it who import it; None where it has no such name."""
        key = (id(program), name)
        ends = self._ends.get(key)
        if ends is None:
            ends = (*self._imported(program, name), *self._evaluator.file.inner_writes(name, program.module))
            self._ends[key] = ends
        if ends:
            values = [self._evaluator.definition(d, None) for d in ends]
            kept = [v for v in values if v != Const(None)]
            return one_of(kept or values)
        return self.starred(name, program, depth) if depth else None

    def _imported(self, program: Program, name: str) -> list[Definition]:
        """What binds a name of a module once it is imported, which does not run its main guard."""
        file = self._evaluator.file
        flow = file.flow(program.module)
        ends = written(flow.end.get(name, ()))
        kept = [each for each in ends if not is_guarded(file.tree, each.node)]
        if len(kept) < len(ends):
            guards = (each for each in program.module.body if isinstance(each, cst.If) and is_main_guard(each.test))
            before = next((flow.before[id(each)] for each in guards if id(each) in flow.before), flow.end)
            kept += [each for each in written(before.get(name, ())) if each not in kept]
        return kept


def gives(program: Program, name: str) -> bool:
    """Whether `import *` takes a name from a module: one of `__all__`, or without that any but private ones."""
    names = listed(program)
    return not name.startswith("_") if names is None else name in names


def listed(program: Program) -> Collection[str] | None:
    """The names of a module's `__all__`, of which a star import of a package imports its own modules; None without."""
    found = (texts(assign.value) for assign in program.assigned_paths.get("__all__", ()))
    return next((names for names in found if names is not None), None)
