"""The first look at a program: what rules find in it without libcst's parser, and which of them need that.

The tree of `syntax.first_pass` has the same nodes as libcst's, at the same places, so rules and model work on it
unchanged. A rule that offers a repair there, that fails, or that asks for what only libcst's tree holds, runs again on
that tree, which is the only source of repairs. What all others find, mostly nothing, stands.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from tfmemlint.lint.let_go import let_go
from tfmemlint.lint.parsing import Pieces, is_bounded, parse
from tfmemlint.project.kept import Kept
from tfmemlint.project.siblings import Reader, Siblings
from tfmemlint.syntax.first_pass.layout import Unsupported
from tfmemlint.syntax.first_pass.nodes import complete, is_first_tree
from tfmemlint.syntax.first_pass.positions import AllPositions, Positions
from tfmemlint.syntax.first_pass.reading import Reading, read
from tfmemlint.syntax.spans import Offsets, generated

if TYPE_CHECKING:
    import libcst as cst

    from tfmemlint.config.settings import Config
    from tfmemlint.finding import Finding
    from tfmemlint.model.file import File
    from tfmemlint.rule import Rule
    from tfmemlint.syntax.tree import Tree
    from tfmemlint.text.source import Source

SWITCH = "TFMEMLINT_FIRST_PASS"
"""An environment variable; at "0" libcst reads everything, which must give the same findings."""


def is_on() -> bool:
    """Whether programs are looked at before libcst's parser reads them."""
    return os.environ.get(SWITCH) != "0"


class Look:
    """A first look at one program: what is `found`, and the rules that must run `again` on libcst's tree, in their
    order, of which all findings come from there; all rules where nothing can be told."""

    def __init__(self, source: Source, config: Config, rules: Sequence[Rule], siblings: Siblings | None) -> None:
        self._source = source
        self.found: list[Finding] = []
        self.again = rules
        self._file: File | None = None
        module = self._module(siblings)
        if module is None:
            return
        from tfmemlint.lint.dispatch import first_findings
        from tfmemlint.model.file import File

        if siblings is not None:
            siblings.parsed(source, module)
        with contextlib.suppress(Exception):  # whatever it is, it is told where libcst's tree is asked
            self._file = File(source, module, config, siblings, self._positions)
            self.found, self.again = first_findings(self._file, rules)

    def done(self) -> None:
        """Give back what the look has taken, but for what was found."""
        if self._file is not None:
            let_go(self._file)
            self._file = None

    def without_repairs(self) -> list[Finding] | None:
        """What all rules find, with nothing to apply, for a program that libcst refuses; None where something of it can
        be told on libcst's tree alone."""
        if self._file is None:
            return None
        from tfmemlint.lint.dispatch import dispatch

        try:
            complete(self._file.tree.all())
            found = [*self.found, *dispatch(self._file, self.again)]
        except Exception:  # what asks for libcst's tree, or for places that are known only there
            return None
        return [replace(each, fix=None, contrast=()) for each in found]

    @cached_property
    def _reading(self) -> Reading:
        return Reading(self._source.text, Pieces())

    def _module(self, siblings: Siblings | None) -> cst.Module | None:
        known = siblings.kept(self._source) if siblings is not None else None
        if known is not None:
            return known.module if is_first_tree(known.module) else None
        try:
            return self._reading.module() if is_bounded(self._source.text) else None
        except Unsupported:
            return None

    def _positions(self, tree: Tree, text: str) -> Offsets:
        return Positions(tree, self._reading)

    def spans(self, tree: Tree, text: str) -> Offsets:
        """The offsets of the nodes of libcst's tree of the program, or of what of it can be parsed."""
        return AllPositions(tree, self._reading if text == self._source.text else Reading(text, Pieces()))


def _first_spans(tree: Tree, text: str) -> Offsets:
    return Positions(tree, Reading(text, Pieces())) if is_first_tree(tree.module) else generated(tree, text)


def _first_tree(source: Source) -> cst.Module | None:
    if is_bounded(source.text):
        with contextlib.suppress(Unsupported):
            return read(source.text, Pieces())
    return parse(source)[0]


LIBCST = Reader(lambda source: parse(source)[0], generated, Kept())
"""How modules of the project are read where something asks for what only libcst's tree holds."""

READER = Reader(_first_tree, _first_spans, Kept())
"""How modules of the project are read for others that are linted: no finding and no repair stands in them."""
