"""The texts of a program from the slices of its modules, before and after a repair."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from tfmemlint.finding import Edit
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.plan.across import Slices
from tfmemlint.verify.plan.examples import Example
from tfmemlint.verify.plan.programs import Assembly, PlanError, merged, program_text
from tfmemlint.verify.plan.slicing import Home

MOST_TEXT = 4 << 20
"""Characters of all modules of a program."""

MOST_NAMED = 12
"""Modules that the notes name."""


@dataclass(frozen=True)
class Texts:
    """The program that is run, and the modules that lie beside it: paths from the project's folder, and texts."""

    source: str
    modules: tuple[tuple[str, str], ...] = ()


class Composer:
    """Makes the texts of the slices. `examples` gives those of a module, `around` is the loop around the finding."""

    def __init__(self, slices: Slices, examples: Callable[[Home], dict[str, Example]], around: Node | None) -> None:
        self._slices = slices
        self._tails: dict[int, list[str]] = {}
        self._assemblies: dict[int, Assembly] = {}
        for part in slices:
            name = "" if part.runs else self.name(part.home)
            self._assemblies[id(part.home)] = Assembly(part, examples(part.home), around, name)

    def name(self, home: Home) -> str:
        """The path of a module as notes and programs have it."""
        siblings, path = self._slices.siblings, self._slices.path(home)
        return os.path.relpath(path, siblings.layout.root).replace(os.sep, "/") if siblings is not None else path

    def add(self, lines: Sequence[str], home: Home | None = None) -> None:
        """Put lines at the end of a module, of the one that runs where none is named; each once."""
        tail = self._tails.setdefault(id(home or self._slices.entry), [])
        tail += [line for line in lines if line not in tail]

    def insert_after(self, statement: Node, line: str) -> None:
        """Put a line behind a statement inside of a function."""
        self._assemblies[id(self._slices.of(statement).home)].insert_after(statement, line)

    def insert_before(self, statement: Node, line: str) -> None:
        """Put a line before a statement."""
        self._assemblies[id(self._slices.of(statement).home)].insert_before(statement, line)

    def between(self, statement: Node, before: str, call: str, closing: str) -> None:
        """Put a line before a statement, and a call behind it: around what is returned, where it returns."""
        self.insert_before(statement, before)
        small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
        if isinstance(small, cst.Return) and small.value is not None:
            self.wrap(small.value, f"{call}(", f"){closing}")
        else:
            self.insert_after(statement, f"{call}{closing}")

    def wrap(self, node: Node, before: str, after: str) -> None:
        """Put text around an expression."""
        self._assemblies[id(self._slices.of(node).home)].wrap(node, before, after)

    def replace(self, node: Node, code: str) -> None:
        """Put code in the place of what is in a statement."""
        self._assemblies[id(self._slices.of(node).home)].replace(node, code)

    def texts(self, flagged: Home, repair: Sequence[Edit]) -> tuple[Texts, Texts]:
        """The program as it is and with the repair, which is made in the flagged module. Raises PlanError."""
        edits = {key: assembly.edits() for key, assembly in self._assemblies.items()}
        before = self._written(edits)
        after = self._written({**edits, id(flagged): merged(edits[id(flagged)], repair)})
        if before == after:
            raise PlanError("the repair changes nothing in the programs")
        return before, after

    def text(self) -> Texts:
        """The program as it is. Raises PlanError."""
        return self._written({key: assembly.edits() for key, assembly in self._assemblies.items()})

    def _written(self, edits: dict[int, list[Edit]]) -> Texts:
        source, modules = "", {}
        for part in self._slices:
            own, text = edits[id(part.home)], part.home.source.text
            with_tail = program_text(text, (*own, *self._tail(part.home)))
            if part.runs:
                source = with_tail
            if not part.runs or self._slices.runs_itself:
                modules[self.name(part.home)] = program_text(text, own) if part.runs else with_tail
        if sum(map(len, modules.values())) > MOST_TEXT:
            raise PlanError("the modules that the code needs are too large to be run")
        return Texts(source, tuple(sorted(modules.items())))

    def _tail(self, home: Home) -> list[Edit]:
        lines, text = self._tails.get(id(home), ()), home.source.text
        lead = "" if text.endswith("\n") else "\n"
        return [Edit(len(text), len(text), lead + "\n".join(lines) + "\n")] if lines else []

    def notes(self) -> Iterator[str]:
        """What was replaced, and which modules are there in part or as they are."""
        for assembly in self._assemblies.values():
            yield from assembly.replaced
        cut = [part for part in self._slices if not part.runs]
        for part in cut[:MOST_NAMED]:
            statements = part.home.module.body
            count = sum(id(each) in part.kept for each in statements)
            if count < len(statements):
                yield f"{self.name(part.home)} is cut to {count} of its {len(statements)} statements"
        if len(cut) > MOST_NAMED:
            yield f"{len(cut) - MOST_NAMED} more modules are cut to what is needed"
        whole = self._slices.whole
        for path in whole[:MOST_NAMED]:
            siblings = self._slices.siblings
            name = os.path.relpath(path, siblings.layout.root).replace(os.sep, "/") if siblings is not None else path
            yield f"{name} is imported as it is"
