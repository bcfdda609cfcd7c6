"""Case folders: what they hold, how they are read, and what is said of one that is not well formed."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from tfmemlint.config.settings import Config, ConfigError, from_table

_RULE = re.compile(r"([A-Z]{3,6}\d{3})(-[a-z0-9]+)+")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_CASE_KEYS = frozenset(("unsafe-fixes", "also", "options"))
_RULE_KEYS = _CASE_KEYS | {"measure"}


class CaseError(AssertionError):
    """A case that does not hold, or a case folder that is not well formed; the message says what and where."""


def hide_from_tracebacks(raised: Any) -> bool:
    """Tells pytest to leave out the frames of this harness where a case fails: its message says it all."""
    return bool(raised.errisinstance(CaseError))


__tracebackhide__ = hide_from_tracebacks


@dataclass(frozen=True)
class Case:
    """One folder with sample programs of one rule, such as `TFM305-cache-after-repeat/basic`."""

    folder: Path
    code: str
    unsafe_fixes: bool = True
    also: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return f"{self.folder.parent.name}/{self.folder.name}"

    def file(self, name: str) -> Path:
        """The path of one of the case's files, whether it exists or not."""
        return self.folder / name

    def text(self, name: str) -> str:
        """The text of one of the case's files. Raises CaseError where it does not exist."""
        if not self.file(name).is_file():
            fail(self, name, "the file is missing", "`python -m tfmemlint.dev bless` writes findings.txt and fixed.py")
        return self.file(name).read_bytes().decode()

    @property
    def config(self) -> Config:
        """The configuration that the case is linted with; its folder is a project of its own.

        Raises CaseError for wrong `[options]`.
        """
        try:
            return Config(**{"project_root": str(self.folder), **from_table(self.options, "case.toml", "[options]")})
        except ConfigError as error:
            fail(self, "case.toml", str(error))


def cases(root: str | Path) -> list[Case]:
    """The cases of all rules below a folder, by rule and name. Folders that start with `_` or `.` are left out."""
    return [load_case(folder) for rule in _folders(Path(root)) for folder in _folders(rule)]


def load_case(folder: str | Path) -> Case:
    """Read a case folder. Raises CaseError where a name or a `case.toml` is not well formed.

    The keys of the `case.toml` beside the rule's cases hold for all of them that say nothing else themselves.
    """
    folder = Path(folder)
    named = _RULE.fullmatch(folder.parent.name)
    if not named:
        raise CaseError(f"{folder.parent}: a rule's folder is named after code and name, as TFM305-cache-after-repeat")
    if not _NAME.fullmatch(folder.name):
        raise CaseError(f"{folder}: a case is named after what it shows, in words with hyphens, as entry-points")
    if (astray := folder.parent / "bad.py").exists():
        raise CaseError(f"{astray}: put it into a folder named after what it shows, such as basic")
    table = {**_table(folder.parent / "case.toml", _RULE_KEYS), **_table(folder / "case.toml", _CASE_KEYS)}
    unsafe, also = table.get("unsafe-fixes", True), tuple(table.get("also", ()))
    return Case(folder, named[1], unsafe, also, table.get("options", {}))


def _folders(root: Path) -> list[Path]:
    return sorted(path for path in root.iterdir() if path.is_dir() and path.name[0] not in "_.")


def _table(path: Path, keys: frozenset[str]) -> dict[str, Any]:
    """The keys of a `case.toml`, none where there is no such file."""
    table = _toml(path) if path.exists() else {}
    if unknown := sorted(table.keys() - keys):
        raise CaseError(f"{path}: unknown key '{unknown[0]}'; known are {', '.join(sorted(keys))}")
    return table


def _toml(path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise CaseError(f"{path}: {error}") from None


def fail(case: Case, name: str, what: str, *more: str) -> NoReturn:
    """Raise a CaseError about one of the case's files."""
    raise CaseError("\n".join((f"{case}/{name}: {what}", *more)))
