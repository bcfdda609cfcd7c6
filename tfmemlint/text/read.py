"""Which reader makes the program text of a file."""

from __future__ import annotations

from importlib import import_module

from tfmemlint.text.decoding import decode_python
from tfmemlint.text.scripts import read as read_script
from tfmemlint.text.source import Source

READERS = {
    ".ipynb": "notebook",
    **dict.fromkeys((".md", ".markdown", ".qmd", ".rmd", ".rst"), "markdown"),
}
"""Endings of names, and the module of this package whose `read` makes a source of such files; all others are Python."""


def read_source(data: bytes, path: str) -> Source:
    """Read a file's bytes as program text; the ending of `path` says what kind of file it is.

    Raises SourceError for files that cannot be decoded and for notebooks that are not valid JSON or nbformat.
    """
    lowered = path.lower()
    for ending, module in READERS.items():
        if lowered.endswith(ending):
            source: Source = import_module(f"tfmemlint.text.{module}").read(data, path)
            return source
    decoded = decode_python(data)
    return read_script(data, path, decoded) or Source(data, path, decoded)
