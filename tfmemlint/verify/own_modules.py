"""The modules of its project that a program imports, as they are, so that they can lie beside it where it runs."""

from __future__ import annotations

import ast
import contextlib
import os
from collections import deque
from collections.abc import Iterator, Sequence

from tfmemlint.files.bounded_read import read_regular
from tfmemlint.project.layout import INIT

MOST = 40
"""Modules that are followed; others are imported from where they lie."""
LARGEST = 1 << 20
"""Bytes of one of them."""


def own_modules(path: str, text: str, folders: Sequence[str], root: str) -> tuple[tuple[str, str], ...]:
    """The modules below the folder `root` that the program at `path` comes to by its imports and those of what it
    imports, found in `folders`: their paths from the root, with their texts. What cannot be read is left out."""
    found: dict[str, str] = {}
    waiting = deque([(path, text)])
    while waiting and len(found) < MOST:
        at, source = waiting.popleft()
        for each in _imported(at, source, folders):
            name = os.path.relpath(each, root)
            if name in found or each == path or name.startswith(os.pardir):
                continue
            with contextlib.suppress(OSError, UnicodeDecodeError):
                if os.path.getsize(each) <= LARGEST:
                    found[name] = read_regular(each).decode("utf-8-sig")
                    waiting.append((each, found[name]))
    return tuple(found.items())


def _imported(at: str, source: str, folders: Sequence[str]) -> Iterator[str]:
    """The files of what a module imports, and of the packages around that."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files(alias.name.split("."), folders)
        elif isinstance(node, ast.ImportFrom):
            words = node.module.split(".") if node.module else []
            places = [_above(at, node.level)] if node.level else folders
            yield from _files(words, places)
            for alias in node.names:
                yield from _files([*words, alias.name], places)


def _above(at: str, dots: int) -> str:
    folder = os.path.dirname(at)
    for _ in range(dots - 1):
        folder = os.path.dirname(folder)
    return folder


def _files(words: list[str], places: Sequence[str]) -> Iterator[str]:
    for count in range(1, len(words) + 1):
        for place in places:
            stem = os.path.join(place, *words[:count])
            yield from (each for each in (f"{stem}.py", os.path.join(stem, INIT)) if os.path.isfile(each))
