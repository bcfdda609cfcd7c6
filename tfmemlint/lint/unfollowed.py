"""The imports of a program that ought to lead to a module of its project, and lead to none that can be read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.files.bounded_read import read_regular
from tfmemlint.lint.engine import siblings_of
from tfmemlint.lint.parsing import is_python, parse
from tfmemlint.project.written_imports import imported_names
from tfmemlint.text.read import read_source
from tfmemlint.text.source import SourceError

if TYPE_CHECKING:
    from tfmemlint.config.settings import Config
    from tfmemlint.project.siblings import Siblings


def unfollowed(path: str, config: Config) -> dict[str, str]:
    """The names that a file imports from its own project to no avail, and why; empty where nothing is followed.

    What leads nowhere at all may be a library that is not installed, and is not named.
    """
    siblings = siblings_of(path, config)
    if siblings is None:
        return {}
    try:
        source = read_source(read_regular(path), path)
    except (OSError, SourceError):
        return {}  # its own TFM001 says so
    found: dict[str, str] = {}
    for name in imported_names(source.text):
        module, why = _looked_for(name, siblings)
        if why and not any(module == each or module.startswith(_inside(each)) for each in found):
            found[module] = why
    return found


def _looked_for(name: str, siblings: Siblings) -> tuple[str, str]:
    """The module of a dotted name, and why it is not followed; nothing for one that is, or that may be a library's."""
    if not name.startswith(".") and knowledge.is_library(name):
        return name, ""
    found = siblings.find(siblings.path, name)
    if found is None:
        return name, "it leads out of the project" if name.startswith("..") else ""
    parts = len(found.rest)
    if parts and found.folder is not None:
        text = siblings.data(found.path) if found.path is not None else None
        is_bound = any(each.encode() in (text or b"") for each in (found.rest[0], "import *", "__getattr__"))
        return _without(name, parts - 1), "" if is_bound else "there is no such module"
    is_other = found.path is not None and found.path != siblings.path
    return _without(name, parts), _unread(found.path, siblings) if is_other and found.path else ""


def _inside(name: str) -> str:
    """What the names of the modules in one begin with."""
    return name if name.endswith(".") else f"{name}."


def _without(name: str, parts: int) -> str:
    """A dotted name without its last parts."""
    return name.rsplit(".", parts)[0] if parts else name


def _unread(path: str, siblings: Siblings) -> str:
    """Why a module cannot be read; empty where it can."""
    name = os.path.relpath(path, siblings.layout.root).replace(os.sep, "/")
    data = siblings.data(path)
    if data is None:
        return f"{name} cannot be read, or is too large"
    try:
        source = read_source(data, path)
    except SourceError as error:
        return f"{name}: {error.message}"
    if is_python(source.text):
        return ""
    _, _, found = parse(source)
    return f"{name}:{source.position(found[0].span.start).row}: {found[0].message.partition(';')[0]}" if found else ""
