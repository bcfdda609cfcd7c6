"""The layers of the package: what each part may import, read from where it says so, and what it does import.

The docstring of each package ends in "May import `finding`, `text`." or "May import nothing of the package."; what
stands after "for annotations" may be named in types only. The modules at the top are listed here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
RULES = "tfmemlint_rules"
"""The built-in rules: a package beside this one, as those of any other pack are."""

MODULES: dict[str, tuple[str, ...]] = {
    "__init__": (),
    "__main__": ("cli",),
    "finding": (),
    "units": (),
    "shown": (),
    "rule": ("finding", "units", "~model", "~query", "~syntax"),
    "flake8_plugin": ("__init__", "config", "~finding", "lint", "run", "text", "units"),
    RULES: ("api",),
}
"""What the modules at the top of the package and the rules may import; `~` stands before what is for annotations."""


class Import(NamedTuple):
    """One import of the package: the module that it stands in, what it names, and whether for annotations alone."""

    by: str
    of: str
    for_types: bool


@dataclass
class Part:
    """A package or a module at the top: what it may import, what it may name in annotations besides, what it does."""

    name: str
    may_import: frozenset[str]
    may_annotate: frozenset[str] = frozenset()
    imports: set[str] = field(default_factory=set)


def parts(root: Path = ROOT) -> dict[str, Part]:
    """Every package and module at the top, by name, with what it imports. Raises ValueError for one that does not say
    what it may import."""
    found = {}
    for path in sorted(root.iterdir()):
        name = path.name.removesuffix(".py")
        if path.suffix == ".py":
            found[name] = _module(name)
        elif (path / "__init__.py").exists():
            found[name] = _package(name, ast.get_docstring(ast.parse((path / "__init__.py").read_text("utf-8"))) or "")
    for each in imports(root):
        by, of = part_of(each.by), part_of(each.of)
        if by != of:
            found[by].imports.add(of)
    return found


def _module(name: str) -> Part:
    if name not in MODULES:
        raise ValueError(f"tfmemlint/{name}.py: dev/layers.py does not say what it may import")
    runs = frozenset(each for each in MODULES[name] if not each.startswith("~"))
    return Part(name, runs, frozenset(each[1:] for each in MODULES[name] if each.startswith("~")))


def _package(name: str, docstring: str) -> Part:
    said = re.search(r"May import ([^.]*)\.", docstring)
    if said is None:
        raise ValueError(f"tfmemlint/{name}/__init__.py does not say what the package may import")
    runs, _, types = said.group(1).partition("for annotations")
    return Part(name, frozenset(re.findall(r"`(\w+)`", runs)), frozenset(re.findall(r"`(\w+)`", types)))


def part_of(module: str) -> str:
    """The part to which a dotted module name belongs, such as `model` for `tfmemlint.model.file`."""
    words = module.split(".")
    return words[1] if len(words) > 1 else "__init__"


def imports(root: Path = ROOT) -> Iterator[Import]:
    """All imports of the package by its own modules."""
    modules = {_dotted(path, root): path for path in sorted(root.rglob("*.py"))}
    for by, path in modules.items():
        for name, for_types in _named_in(path.read_text("utf-8")):
            of = next((each for each in _and_above(name) if each in modules), None)
            if of is not None and of != by:
                yield Import(by, of, for_types)


@cache
def _named_in(text: str) -> tuple[tuple[str, bool], ...]:
    return tuple(named(ast.parse(text)))


def named(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """The dotted names that a module imports, and whether for annotations alone."""
    nodes = list(ast.walk(tree))
    blocks = [n for n in nodes if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test)]
    for_types = {inner for block in blocks for child in block.body for inner in ast.walk(child)}
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node in for_types) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((f"{node.module}.{alias.name}", node in for_types) for alias in node.names)


def _dotted(path: Path, root: Path) -> str:
    words = path.relative_to(root.parent).with_suffix("").parts
    return ".".join(words[:-1] if words[-1] == "__init__" else words)


def _and_above(name: str) -> Iterator[str]:
    while name:
        yield name
        name = name.rpartition(".")[0]


def wrong(root: Path = ROOT) -> list[str]:
    """One line for each import that points the wrong way."""
    rooms, found = parts(root), []
    for by, of, for_types in imports(root):
        part, other = rooms[part_of(by)], part_of(of)
        allowed = part.may_import | (part.may_annotate if for_types else frozenset())
        if other not in allowed | {part.name}:
            found.append(f"{by} imports {of}; `{part.name}` may import {', '.join(sorted(allowed)) or 'nothing'}")
    return found


def circles(arrows: Mapping[str, set[str]]) -> list[list[str]]:
    """The groups of names that can reach each other, each sorted; none where all arrows point one way."""
    reached = {name: _reached(name, arrows) for name in arrows}
    groups = {tuple(sorted(b for b in reached[a] if a in reached.get(b, ()))) for a in arrows if a in reached[a]}
    return sorted(list(group) for group in groups)


def _reached(start: str, arrows: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    left = [start]
    while left:
        for name in arrows.get(left.pop(), ()):
            if name not in found:
                found.add(name)
                left.append(name)
    return found


def floors(rooms: Mapping[str, Part]) -> Iterator[list[Part]]:
    """The parts from the ground up: each floor imports only from those before it. Raises ValueError at a circle."""
    left, built = dict(rooms), set[str]()
    while left:
        floor = [part for part in left.values() if part.imports <= built]
        if not floor:
            raise ValueError(f"a circle of imports among {', '.join(sorted(left))}")
        yield floor
        for part in floor:
            del left[part.name]
        built.update(part.name for part in floor)


def between_modules(root: Path = ROOT) -> dict[str, set[str]]:
    """Module -> the modules that it imports when it runs, annotations left out."""
    arrows: dict[str, set[str]] = {}
    for by, of, for_types in imports(root):
        arrows.setdefault(by, set())
        if not for_types and not by.startswith(f"{of}."):
            arrows[by].add(of)
    return arrows


def layers() -> int:
    """Print the packages from the ground up and what each may import; 0, or 1 where something points the wrong way."""
    try:
        rooms = parts()
        for number, floor in enumerate(floors(rooms)):
            for part in sorted(floor, key=lambda part: part.name):
                may = [*sorted(part.may_import), *(f"({name})" for name in sorted(part.may_annotate))]
                print(f"{number:2}  {part.name:14} may import {', '.join(may) or 'nothing'}")
    except ValueError as error:
        print(error)
        return 1
    found = [*wrong(), *(f"a circle of imports: {', '.join(circle)}" for circle in circles(between_modules()))]
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(rooms)} parts, {sum(len(part.imports) for part in rooms.values())} arrows between them")
    return 1 if found else 0
