"""The tree of a program, made without libcst's parser."""

from __future__ import annotations

import ast
import contextlib
import gc
import re
import unicodedata
import warnings
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from tfmemlint.syntax.first_pass import nodes
from tfmemlint.syntax.first_pass.expressions import ParseExpression
from tfmemlint.syntax.first_pass.layout import Layout, Unsupported
from tfmemlint.syntax.first_pass.places import Place, Recorder
from tfmemlint.syntax.first_pass.statements import Statements
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    import libcst as cst

_NOT_ASCII = re.compile(r"\w*[^\x00-\x7f\W]\w*")


class Reading:
    """What Python reads in a program. `parse` reads single expressions.

    Its answers raise Unsupported for a text that the first pass does not take, which may be Python all the same. What
    `ast` gives is dropped at once: it is larger than the tree, and seldom asked for places.
    """

    def __init__(self, text: str, parse: ParseExpression) -> None:
        self.text = text
        self._parse = parse
        self._layout = Layout(text)

    def module(self) -> cst.Module:
        """A tree whose indexed nodes are those that libcst's parser makes, in class, order and literals, and which has
        nothing besides."""
        return self._made(Statements(self._layout, self._parse))

    @cached_property
    def places(self) -> tuple[Place | None, ...]:
        """The offsets of each node in the text, as far as they are known, in the order of the tree: in characters."""
        recorder = Recorder(self._layout, self._parse)
        found = recorder.places
        places = (found.get(id(node)) for node in walk(self._made(recorder)))
        if self.text.isascii():
            return tuple(places)
        characters = self._layout.characters
        return tuple(place and (characters(place[0]), characters(place[1])) for place in places)

    def _made(self, statements: Statements) -> cst.Module:
        try:
            with _no_garbage():
                made: cst.Module = nodes.Module(statements.block(_statements(self.text)))
        except RecursionError:
            raise Unsupported("too deep") from None
        return made


def read(text: str, parse: ParseExpression) -> cst.Module:
    """The tree of a program. Raises Unsupported."""
    return Reading(text, parse).module()


@contextlib.contextmanager
def _no_garbage() -> Iterator[None]:
    """Makes very many objects, of which none is garbage before all are made: looking for some would take a tenth."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _statements(text: str) -> list[ast.stmt]:
    if "\r" in text or (not text.isascii() and _is_rewritten(text)):
        raise Unsupported("characters that Python reads as others")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError, SystemError) as error:
        raise Unsupported(f"{type(error).__name__}: {error}") from None


def _is_rewritten(text: str) -> bool:
    """Whether a word has characters for which Python puts others, so that `ast` tells another name than is written."""
    words = set(_NOT_ASCII.findall(text))
    return any(unicodedata.normalize("NFKC", word) != word for word in words)
