"""Which versions of libraries a project requires for a program: the files that say so, and where they lie."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.text.pins import NONE, Pins, pins_described, pins_of

if TYPE_CHECKING:
    from tfmemlint.project.siblings import Siblings

DESCRIPTION = "README.md"
FILES = (
    "requirements.txt", "environment.yml", "environment.yaml", "Pipfile", "pyproject.toml", "setup.cfg", "setup.py",
    DESCRIPTION,
)  # fmt: skip
"""Files in which projects say what they are run with, in the order in which one folder's are asked."""


def required(siblings: Siblings) -> Pins:
    """What the nearest folder above a file that pins anything asks for, up to the root of its project."""
    for folder in _folders(siblings):
        told = [siblings.pins(path) for path in _files(siblings, folder)]
        told = [each for each in told if each.tell]
        if told:
            return told[0]
    return NONE


def told_by(path: str, text: str) -> Pins:
    """What the text of one of these files says."""
    return pins_described(text) if path.endswith(DESCRIPTION) else pins_of(text)


def _folders(siblings: Siblings) -> Iterator[str]:
    folder, root = os.path.dirname(siblings.path), siblings.layout.root
    while folder != root and folder.startswith(os.path.join(root, "")):
        yield folder
        folder = os.path.dirname(folder)
    yield root


def _files(siblings: Siblings, folder: str) -> list[str]:
    return [path for name in FILES if siblings.layout.is_file(path := os.path.join(folder, name))]
