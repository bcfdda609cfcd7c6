"""Parts of a case's program: a finding's statement with few others, where no further word lets a rule speak, and the
program without its comments."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Collection, Iterator

MOST = 3
"""Statements of a piece besides its imports; more of them hold words of each other's."""


def pieces(text: str, rows: Collection[int]) -> Iterator[str]:
    """For each statement at the top level that holds one of these rows: it and up to two statements before it, behind
    the file's import statements, without comments."""
    statements = ast.parse(text).body
    imports = [node for node in statements if isinstance(node, (ast.Import, ast.ImportFrom))]
    others = [node for node in statements if node not in imports]
    head, written = "\n".join(map(ast.unparse, imports)), [ast.unparse(node) for node in others]
    for index, node in enumerate(others):
        if any(_first(node) <= row <= (node.end_lineno or 0) for row in rows):
            for count in range(1, MOST + 1):
                yield "\n".join((head, *written[max(0, index + 1 - count) : index + 1], ""))


def _first(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def without_comments(text: str) -> str:
    """The program with empty comments, those to the tool left as they are."""
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and "noqa" not in token.string and "tfmemlint" not in token.string:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column] + "#" + lines[row - 1][column + len(token.string) :]
    return "".join(lines)
