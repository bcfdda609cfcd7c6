"""The offsets of nodes without generating the code of a whole file."""

from __future__ import annotations

from functools import cached_property

import libcst as cst

from tfmemlint.syntax.first_pass.layout import Unsupported
from tfmemlint.syntax.first_pass.nodes import is_absent
from tfmemlint.syntax.first_pass.places import Place
from tfmemlint.syntax.first_pass.reading import Reading
from tfmemlint.syntax.spans import Spans
from tfmemlint.syntax.tree import Tree


class PlaceUnknown(Exception):
    """A node of which only libcst's tree tells the place."""


def wants_libcst(error: BaseException) -> bool:
    """Whether an error is that of code which asks for what only libcst's own tree tells."""
    return isinstance(error, PlaceUnknown) or is_absent(error)


class Positions:
    """Start and end offsets of most nodes of a tree of the first pass. Raises PlaceUnknown for the others."""

    def __init__(self, tree: Tree, reading: Reading) -> None:
        self._tree = tree
        self._reading = reading

    def __getitem__(self, node: cst.CSTNode) -> Place:
        place = self._reading.places[self._tree.order(node)]
        if place is None:
            raise PlaceUnknown(f"the place of a {type(node).__name__}")
        return place


class AllPositions:
    """Start and end offsets of all nodes of libcst's tree: those of `ast`, and where these do not tell those of the
    code that libcst generates."""

    def __init__(self, tree: Tree, reading: Reading) -> None:
        self._tree = tree
        self._reading = reading

    @cached_property
    def _places(self) -> tuple[Place | None, ...]:
        try:
            places = self._reading.places
        except Unsupported:
            return ()
        # Else libcst has read something in another way than we thought.
        return places if len(places) == len(self._tree) else ()

    @cached_property
    def _generated(self) -> Spans:
        return Spans(self._tree.module, self._reading.text)

    def __getitem__(self, node: cst.CSTNode) -> Place:
        place = self._places[self._tree.order(node)] if self._places and node in self._tree else None
        return self._generated[node] if place is None else place
