"""Entry points of installed packages, read as `importlib.metadata` reads them, which takes 20 ms to import.

Only folders on the path are looked through. Where packages may come from elsewhere, from archives or by finders of
somebody else's, `importlib.metadata` is asked.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from typing import NamedTuple, Protocol


class Distribution(Protocol):
    """An installed package."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...


class EntryPoint(Protocol):
    """What a package offers under a name: `value` names the object."""

    @property
    def name(self) -> str: ...

    @property
    def value(self) -> str: ...

    @property
    def dist(self) -> Distribution | None: ...


class _Package(NamedTuple):
    name: str
    version: str


class _Offer(NamedTuple):
    name: str
    value: str
    dist: Distribution | None


def entry_points(group: str) -> Sequence[EntryPoint]:
    """The entry points of a group in all packages that can be imported."""
    if not _is_plain():
        from importlib.metadata import entry_points as asked

        return tuple(asked(group=group))
    found: list[_Offer] = []
    seen: set[str] = set()
    for folder in sys.path:
        for name in _listed(folder or "."):
            stem, dot, kind = name.rpartition(".")
            if not dot or kind.lower() not in ("dist-info", "egg-info"):
                continue
            package = re.sub(r"[-_.]+", "_", stem.partition("-")[0]).lower()
            if package not in seen:  # of two packages of one name, the first on the path counts
                seen.add(package)
                found += _offers(os.path.join(folder or ".", name), group)
    return found


def _is_plain() -> bool:
    """Whether packages are found in folders of the path alone."""
    others = (finder for finder in sys.meta_path if finder is not PathFinder)
    if any(hasattr(finder, "find_distributions") for finder in others):
        return False
    return not any(folder.endswith(".egg") or os.path.isfile(folder) for folder in sys.path)


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # paths may name what is not there
        return []


def _offers(info: str, group: str) -> Iterator[_Offer]:
    text = _read(os.path.join(info, "entry_points.txt"))
    if group not in text:
        return
    headers = _read(os.path.join(info, "METADATA")) or _read(os.path.join(info, "PKG-INFO"))
    package = _Package(_header(headers, "Name"), _header(headers, "Version"))
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        elif section == group and line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield _Offer(name.strip(), value.strip(), package)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError):
        return ""


def _header(text: str, name: str) -> str:
    found = re.search(rf"^{name}: *(.*)$", text, re.MULTILINE | re.IGNORECASE)
    return found[1].strip() if found is not None else ""
