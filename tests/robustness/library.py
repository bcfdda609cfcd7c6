"""What goes wrong with a file of somebody else's code: for runs over whole libraries.

    python tests/robustness/library.py /usr/lib/python3.12

prints one line for each trouble, and how many files were read.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import libcst as cst

from tfmemlint.config.settings import Config
from tfmemlint.lint.linter import Linter
from tfmemlint.lint.parsing import parse
from tfmemlint.lint.recursion import with_deep_stack
from tfmemlint.syntax.spans import PositionsUnknown, Spans
from tfmemlint.syntax.tree import walk
from tfmemlint.text.read import read_source
from tfmemlint.text.source import SourceError

LINTER = Linter(Config(select=("ALL",)))


def troubles(path: Path) -> Iterator[str]:
    """One line for each: a failure of the tool, a file refused that Python reads, a name or call at another place."""
    data = path.read_bytes()
    for finding in LINTER.lint(data + b"\n# keras\n", str(path)).findings:
        if finding.code == "TFM000":
            yield f"{path}: {finding.message}"
    try:
        source = read_source(data, "a.py")
        tree = _tree(source.text)
    except (SourceError, SyntaxError, ValueError):
        return
    module, _, found = parse(source)
    if module is None:
        yield f"{path}: Python reads it, and we do not: {found[0].message}"
        return
    try:
        spans = Spans(module, source.text)
    except PositionsUnknown as error:
        yield f"{path}: {error}"
        return
    ours = {spans[node] for node in walk(module) if isinstance(node, (cst.Name, cst.Call))}
    missing = _places(tree, source.text) - ours
    if missing:
        start, end = min(missing)
        yield f"{path}: {len(missing)} places differ, the first of {source.text[start:end]!r} at {start}"


def _tree(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _places(tree: ast.Module, text: str) -> set[tuple[int, int]]:
    """Where Python sees names and calls. In strings, whose fields older versions misplace, it is not asked."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def offset(row: int, column: int) -> int:
        line = lines[row - 1]
        return starts[row - 1] + (column if line.isascii() else len(line.encode()[:column].decode("utf-8", "replace")))

    found: set[tuple[int, int]] = set()
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.JoinedStr):
            continue
        if isinstance(node, (ast.Name, ast.Call)):
            assert node.end_lineno is not None and node.end_col_offset is not None
            found.add((offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)))
        stack.extend(ast.iter_child_nodes(node))
    return found


def main(folder: str) -> int:
    """Read all Python files below a folder; the number of troubles."""
    count = wrong = 0
    for path in sorted(Path(folder).rglob("*.py")):
        if "site-packages" in path.parts:
            continue
        count += 1
        for line in with_deep_stack(lambda path=path: list(troubles(path))):  # type: ignore[misc]
            wrong += 1
            print(line, flush=True)
    print(f"{count} files, {wrong} troubles")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1])))
