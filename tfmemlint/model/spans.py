"""Where nodes stand in the text. The only file that leans on libcst's internals.

libcst nodes carry no positions. They follow from the lengths of the tokens that code generation emits, so a
generation state that counts characters instead of joining them gives every node's span in one pass
(20-50 thousand lines a second, against 5-10 for `PositionProvider`). A test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import libcst as cst
from libcst._nodes.internal import CodegenState


class _Offsets(CodegenState):
    """Code generation that keeps the offset reached and the span of each node, and no text."""

    def __init__(self, default_indent: str, default_newline: str) -> None:
        super().__init__(default_indent=default_indent, default_newline=default_newline)
        # Module generation looks whether any token came before it closes the file with a newline.
        self.tokens = [""]
        self.offset = 0
        self.starts: list[int] = []
        self.spans: dict[int, tuple[int, int]] = {}

    def before_codegen(self, node: cst.CSTNode) -> None:
        self.starts.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        self.spans.setdefault(id(node), (self.starts.pop(), self.offset))

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.offset += len(token)

    def add_token(self, value: str) -> None:
        self.offset += len(value)

    def pop_trailing_newline(self) -> None:
        # The last token of a file that has any is a newline; LF only, for Source.text has no other line ends.
        if self.offset:
            self.offset -= 1

    @contextmanager
    def record_syntactic_position(
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> Iterator[None]:
        start = self.offset
        try:
            yield
        finally:
            first = self.spans[id(start_node)][0] if start_node is not None else start
            last = self.spans[id(end_node)][1] if end_node is not None else self.offset
            self.spans[id(node)] = (first, last)


class Spans:
    """Start and end offsets of every node of a module, without the whitespace around it.

    Raises ValueError when the tree generates another text, blank space at the file's end aside: then no offset can be
    trusted.
    """

    def __init__(self, module: cst.Module, text: str) -> None:
        state = _Offsets(module.default_indent, module.default_newline)
        module._codegen(state)
        # libcst drops empty lines before blanks at the end of a file. Its text takes as long to make as all offsets:
        # texts are compared only where their lengths differ.
        if state.offset != len(text) and module.code.rstrip() != text.rstrip():
            raise ValueError(
                f"positions unknown: the tree generates {state.offset} characters, the text has {len(text)}"
            )
        self._spans = state.spans

    def __getitem__(self, node: cst.CSTNode) -> tuple[int, int]:
        return self._spans[id(node)]
