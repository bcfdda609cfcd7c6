"""What the first pass over a program must not change: its tree, the places of its nodes, and what is found.

`python tests/first_pass.py PATHS` tries it on all programs and notebooks in these paths, those without TensorFlow too,
and prints what differs; `tests/test_first_pass.py` tries the samples.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import libcst as cst

from tfmemlint.config.settings import Config
from tfmemlint.lint.first_pass import SWITCH
from tfmemlint.lint.linter import Linter
from tfmemlint.lint.parsing import Pieces
from tfmemlint.lint.recursion import with_deep_stack
from tfmemlint.lint.result import FileResult
from tfmemlint.project.projects import Projects
from tfmemlint.syntax.first_pass.layout import Unsupported
from tfmemlint.syntax.first_pass.reading import Reading
from tfmemlint.syntax.spans import PositionsUnknown, Spans
from tfmemlint.syntax.tree import FIELDS, children, walk
from tfmemlint.text.decoding import SourceError
from tfmemlint.text.prefilter import mentions_tensorflow
from tfmemlint.text.read import read_source

LITERALS = ("value", "star", "start", "end", "conversion")
"""Fields that are no nodes and of which the model makes something."""
CLASSES_OF = ("operator", "asynchronous")
"""Fields that are read for their class alone."""
FILES = (".py", ".ipynb", ".md")


def unlike(text: str) -> str:
    """What of a text's first tree differs from libcst's tree, or of the places that it tells; "" where nothing does.

    Raises Unsupported where there is no first tree.
    """
    reading = Reading(text, Pieces())
    made, parsed = reading.module(), cst.parse_module(text)
    return tree_unlike(made, parsed) or _place_unlike(reading, parsed)


def tree_unlike(made: cst.CSTNode, parsed: cst.CSTNode) -> str:
    """The first node in which two trees differ, "" where none does."""
    pairs = [(made, parsed)]
    while pairs:
        one, other = pairs.pop()
        if _facts(one) != _facts(other):
            return f"{_facts(one)} for {_facts(other)}"
        pairs.extend(zip(children(one), children(other), strict=True))
    return ""


def _facts(node: cst.CSTNode) -> list[Any]:
    fields = {field.name for field in dataclasses.fields(node)}
    found: list[Any] = [type(node).__name__]
    for name in FIELDS[node.__class__]:
        value = getattr(node, name)
        found.append((name, len(value) if isinstance(value, (list, tuple)) else type(value).__name__))
    found += [(name, getattr(node, name)) for name in LITERALS if name in fields and name not in FIELDS[node.__class__]]
    found += [(name, type(getattr(node, name)).__name__) for name in CLASSES_OF if name in fields]
    if isinstance(node, cst.ImportFrom):
        found.append(len(node.relative))
    if isinstance(node, cst.SimpleStatementLine):
        comment = node.trailing_whitespace.comment
        found.append(comment and comment.value)
    return found


def _place_unlike(reading: Reading, parsed: cst.Module) -> str:
    try:
        spans = Spans(parsed, reading.text)
    except PositionsUnknown:
        return ""
    for node, place in zip(walk(parsed), reading.places, strict=True):
        if place is not None and place != spans[node]:
            return f"a {type(node).__name__} at {place}, which stands at {spans[node]}"
    return ""


def results(data: bytes, path: str, linters: tuple[Linter, Linter]) -> tuple[FileResult, FileResult]:
    """What is found in a file without the first pass and with it."""
    before, after = linters
    os.environ[SWITCH] = "0"
    try:
        without = before.lint(data, path)
    finally:
        del os.environ[SWITCH]
    return without, after.lint(data, path)


def findings_unlike(without: FileResult, with_it: FileResult) -> str:
    """What differs between the results; "" where nothing does."""
    for what in ("findings", "silenced", "failures", "suppressed", "rests_on"):
        one, other = getattr(without, what), getattr(with_it, what)
        if one != other:
            return f"{what}: {other!r} for {one!r}"
    return ""


def main() -> int:
    """Try every program of some paths; 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--only", choices=("trees", "reports"), help="try only this")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    with_deep_stack(lambda: [_try(path, options.only, counts) for path in _files(options.paths)])
    print(", ".join(f"{count} {what}" for what, count in counts.most_common()))
    return 1 if counts["trees differ"] + counts["reports differ"] else 0


def _try(path: Path, only: str | None, counts: Counter[str]) -> None:
    data = path.read_bytes()
    if only != "reports":
        try:
            text = read_source(data, str(path)).text
            different = unlike(text)
            counts["trees differ" if different else "trees equal"] += 1
            counts["lines"] += text.count("\n")
            if different:
                print(f"{path}: {different}", flush=True)
        except Unsupported:
            counts["trees left to libcst"] += 1
        except (SourceError, cst.ParserSyntaxError, RecursionError):
            counts["not read by libcst"] += 1
    if only != "trees" and mentions_tensorflow(data):
        different = findings_unlike(*results(data, str(path), _LINTERS))
        counts["reports differ" if different else "reports equal"] += 1
        if different:
            print(f"{path}: {different}", flush=True)


_LINTERS = Linter(Config(), projects=Projects()), Linter(Config(), projects=Projects())


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        found = [path] if path.is_file() else sorted(path.rglob("*"))
        yield from (each for each in found if each.suffix in FILES and each.is_file())


if __name__ == "__main__":
    sys.exit(main())
