"""Where nodes stand in the text. The only file that leans on libcst's internals.

libcst nodes carry no positions. They follow from the lengths of the tokens that code generation emits, so a
generation state that looks each token up in the text instead of joining them gives every node's span in one pass
(20-50 thousand lines a second, against 5-10 for `PositionProvider`). A test holds the two against each other.

The tree is not quite lossless: libcst forgets the blank of `except A :`, a line of nothing but a backslash and some
others. What stands between two tokens and is not in the tree is passed over, as long as Python would pass over it too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import libcst as cst
from libcst._nodes.internal import CodegenState

from tfmemlint.syntax.tree import Tree

# What Python passes over between two tokens, one at a time: blanks, a continued line, a comment. Libcst loses each of
# them somewhere.
_SPACE = re.compile(r"[ \t\n]|\\\n|#[^\n]*")
_SPACES = re.compile(rf"(?:{_SPACE.pattern})*")


class Offsets(Protocol):
    """Tells where nodes of one tree start and end in its text."""

    def __getitem__(self, node: cst.CSTNode, /) -> tuple[int, int]: ...


MakeSpans = Callable[[Tree, str], Offsets]


class PositionsUnknown(ValueError):
    """The tree holds another text than the file, so that no offset of it can be trusted."""


class _Generated(CodegenState):
    """Code generation that finds each token in the text and keeps the span of each node."""

    def __init__(self, default_indent: str, default_newline: str, text: str) -> None:
        super().__init__(default_indent=default_indent, default_newline=default_newline)
        # Module generation looks whether any token came before it closes the file with a newline.
        self.tokens = [""]
        self.text = text
        self.offset = 0
        self.starts: list[int] = []
        self.spans: dict[int, tuple[int, int]] = {}
        self.lost: dict[int, int] = {}
        """Where the tree lacks something of the text: the offset before it and the one behind."""

    def before_codegen(self, node: cst.CSTNode) -> None:
        self.starts.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        self.spans.setdefault(id(node), (self.starts.pop(), self.offset))

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.add_token(token)

    def add_token(self, value: str) -> None:
        if not self.text.startswith(value, self.offset):
            self._pass_over_lost(value)
        self.offset += len(value)

    def _pass_over_lost(self, value: str) -> None:
        """Go on to where `value` stands, over what Python would pass over too."""
        start = self.offset
        while not self.text.startswith(value, self.offset):
            space = _SPACE.match(self.text, self.offset)
            if space is None:
                raise PositionsUnknown(f"positions unknown: the tree has {value!r} where the text has another token")
            self.offset = space.end()
        self.lost[start] = self.offset

    def pop_trailing_newline(self) -> None:
        # The last token of a file that has any is a newline; LF only, for Source.text has no other line ends.
        if self.offset:
            self.offset -= 1

    @contextmanager
    def record_syntactic_position(
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> Iterator[None]:
        start = self.offset
        yield  # what is raised here leaves nothing to record
        first = self.spans[id(start_node)][0] if start_node is not None else start
        last = self.spans[id(end_node)][1] if end_node is not None else self.offset
        self.spans[id(node)] = (first, last)


class Spans:
    """Start and end offsets of every node of a module, without the whitespace around it.

    Raises PositionsUnknown when the module is not the tree of the text: then no offset can be trusted.
    """

    def __init__(self, module: cst.Module, text: str) -> None:
        # The tree of a file without a last newline generates one and takes it back.
        state = _Generated(module.default_indent, module.default_newline, f"{text}\n")
        try:
            module._codegen(state)
        except RecursionError:  # of Python 3.12.0 and 3.12.1, which let C call Python only 1 500 times
            raise PositionsUnknown("positions unknown: the code is nested too deeply for this Python") from None
        if _SPACES.fullmatch(text, min(state.offset, len(text))) is None:
            raise PositionsUnknown("positions unknown: the text goes on where the tree ends")
        self._spans = state.spans
        self._lost = state.lost

    def __getitem__(self, node: cst.CSTNode) -> tuple[int, int]:
        start, end = self._spans[id(node)]
        # What is lost before a node's first token is none of its.
        return (self._lost.get(start, start) if end > start else start), end


def generated(tree: Tree, text: str) -> Spans:
    """The offsets of all nodes of a tree that libcst's parser has made."""
    return Spans(tree.module, text)
