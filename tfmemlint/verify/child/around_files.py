"""What a program does around files that are not there, beside reading them: it asks how large they are, takes tables of
them apart, logs to them and styles figures by them; loaded by `main.py`."""

from __future__ import annotations

import csv
import functools
import io
import logging
import os
import types
from collections.abc import Callable
from typing import Any

Note = Callable[[str], None]

SEPARATORS = (",", "\t", ";", "|")
BEGINNING = 1 << 16
"""Bytes of a text in which its first line is looked for."""

OTHERS = ".npy"
"""What a file is like that nothing but its size is asked of."""


class AroundFiles:
    """Does so in one run. `files` makes them up, `contents` is the module that writes what is in them; `usual` gives
    the usual value of a name."""

    def __init__(self, files: Any, contents: Any, usual: Callable[[str], Any], note: Note) -> None:
        self._files, self._contents, self._usual, self._note = files, contents, usual, note

    def install(self) -> None:
        """Put this in front of the standard library."""
        path: Any = os.path
        path.getsize = self._files.if_asked(os.path.getsize, self._sized)
        csv.reader = self._parted(csv.reader)
        self._give_columns(csv.DictReader)
        log: Any = logging.FileHandler
        log.__init__ = self._logging(log.__init__)

    def changes(self) -> dict[str, Callable[[types.ModuleType], None]]:
        """What is done to libraries when they are imported, by the names of modules."""
        return {"matplotlib.style": self._style}

    def _sized(self, path: str) -> str:
        return str(self._files.file(path, like="" if self._contents.kind(path) else OTHERS))

    def _separator(self, lines: Any) -> str | None:
        """What stands between the columns of a text that was made up, a blank where it is no table; None for anything
        else."""
        name = getattr(lines, "name", None)
        if not isinstance(name, str) or not name.startswith(os.path.join(self._files.root, "")):
            return None
        with io.FileIO(name) as file:
            start = file.read(BEGINNING).decode("utf-8", "replace").partition("\n")[0]
        return next((each for each in SEPARATORS if each in start), " ")

    def _parted(self, function: Any) -> Any:
        """`csv.reader`, which takes a made-up table apart as that was made."""

        @functools.wraps(function)
        def reader(lines: Any, *args: Any, **how: Any) -> Any:
            separator = self._separator(lines)
            return function(lines, *args, **how) if separator is None else function(lines, delimiter=separator)

        return reader

    def _give_columns(self, kind: Any) -> None:
        """Let the rows of a made-up table have whatever column the code asks for."""
        make, following = kind.__init__, kind.__next__

        @functools.wraps(make)
        def __init__(it: Any, f: Any, *args: Any, **how: Any) -> None:
            it.lines = f
            make(it, f, *args, **how)

        @functools.wraps(following)
        def __next__(it: Any) -> Any:
            row = following(it)
            return row if self._separator(it.lines) is None else _Row(self._usual, row)

        kind.__init__, kind.__next__ = __init__, __next__

    def _logging(self, make: Any) -> Any:
        """A handler that logs to a file, whose folder is there."""

        @functools.wraps(make)
        def __init__(it: Any, filename: Any, *args: Any, **how: Any) -> None:
            make(it, self._files.written(os.fspath(filename)), *args, **how)

        return __init__

    def _style(self, module: Any) -> None:
        """Let figures be as they are where a style is not there: they give nothing."""
        use = module.use

        @functools.wraps(use)
        def styled(*args: Any, **how: Any) -> None:
            try:
                use(*args, **how)
            except OSError:
                self._note(f"the style {args[0] if args else ''} of figures is not there, and was left out")

        module.use = styled


class _Row(dict[str, Any]):
    """A row of a made-up table, which has any column."""

    def __init__(self, usual: Callable[[str], Any], row: Any) -> None:
        super().__init__(row)
        self._usual = usual

    def __missing__(self, key: str) -> str:
        value = self._usual(key) if isinstance(key, str) else None
        return str(1 if value is None or isinstance(value, bool) else value)
