"""The tree of a program, made without libcst's parser."""

from __future__ import annotations

import ast
import re
import unicodedata
import warnings
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

    Raises Unsupported for a text that the first pass does not take, which may be Python all the same.
    """

    def __init__(self, text: str, parse: ParseExpression) -> None:
        self.text = text
        self._parse = parse
        self._layout = Layout(text)
        self._statements = _statements(text)

    def module(self) -> cst.Module:
        """A tree whose indexed nodes are those that libcst's parser makes, in class, order and literals, and which has
        nothing besides. Raises Unsupported where there is none."""
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
            made: cst.Module = nodes.Module(statements.block(self._statements))
        except RecursionError:
            raise Unsupported("too deep") from None
        return made


def read(text: str, parse: ParseExpression) -> cst.Module:
    """The tree of a program. Raises Unsupported."""
    return Reading(text, parse).module()


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
