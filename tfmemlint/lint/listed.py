"""Rules as a list tells them: what selection and triggers ask of a rule, known before its module is imported.

A small file wakes some ten rules, and to import all of them with what they ask the model takes longer than linting it.
So what was once read of the rules that come with the tool is kept beside their compiled modules, and trusted as Python
trusts those: while each file that was imported for it has the size and the time that it had. Packs of others may make
their rules of anything that they import, and are always imported.
"""

from __future__ import annotations

import importlib.util
import marshal
import os
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from tfmemlint.lint import subjects
from tfmemlint.lint.triggers import Wait, waits
from tfmemlint.rule import Rule

OWN = "tfmemlint_rules"
"""The pack that comes with the tool."""

_TOOL = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_TOLD = ("code", "name", "default", "in_tests", "worth_in_bytes", "spared")
_NOT_TOLD = ("summary", "severity", "fix_safety", "no_fix", "handlers", "finding")

_Stamp = tuple[bool, str, int, int]
"""Whether a file belongs to the rules or to the tool, its path there, when it was changed (nanoseconds), its bytes."""


class Listed(Rule):
    """A rule whose module is not imported yet: it can be selected and woken, and `loaded` runs."""

    abstract = True
    told_waits: tuple[Wait, ...]
    module: str
    kind: str

    def __init__(self, told: dict[str, Any]) -> None:
        self.__dict__.update(told)

    def loaded(self) -> Rule:
        """The rule itself, one for the process."""
        return _loaded(self.module, self.kind)


def _of_the_rule(word: str) -> property:
    def asked(rule: Listed) -> Any:
        return getattr(rule.loaded(), word)

    return property(asked)


for _word in _NOT_TOLD:  # else they would be those of any rule
    setattr(Listed, _word, _of_the_rule(_word))


@cache
def _loaded(module: str, kind: str) -> Rule:
    made: Rule = getattr(importlib.import_module(module), kind)()
    return made


def read(folder: str) -> tuple[Rule, ...] | None:
    """The rules of a folder as the list there tells them; None where there is none, or a file is not as it was."""
    try:
        with open(_place(folder), "rb") as stream:
            modules, stamps, told, origins = marshal.loads(stream.read())
        if modules != _modules(folder) or any(_stamp(folder, *stamp[:2]) != stamp for stamp in stamps):
            return None
    except (OSError, ValueError, EOFError, TypeError):  # not there, or cut off
        return None
    subjects.install(origins)
    return tuple(map(Listed, told))


def write(folder: str, rules: Sequence[Rule]) -> None:
    """Keep what is asked of the rules of a folder, all of them; where Python may keep compiled modules, too."""
    if sys.dont_write_bytecode:
        return
    from tfmemlint.files.replace_file import replace_file

    told = [
        {**{word: getattr(rule, word) for word in _TOLD}, "told_waits": waits(rule),
         "module": type(rule).__module__, "kind": type(rule).__name__}
        for rule in rules
    ]  # fmt: skip
    place, origins = _place(folder), subjects.origins()
    try:
        stamps = [_stamp(folder, own, path) for own, path in _imported(folder)]
        os.makedirs(os.path.dirname(place), exist_ok=True)
        replace_file(place, marshal.dumps((_modules(folder), stamps, told, origins)))
    except (OSError, ValueError):  # a folder of somebody else's: the rules are imported each time
        return


def _place(folder: str) -> str:
    compiled = importlib.util.cache_from_source(os.path.join(folder, "rules.py"))
    return compiled.removesuffix(".pyc") + ".list"


def _modules(folder: str) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.endswith(".py"))


def _stamp(folder: str, own: bool, path: str) -> _Stamp:
    status = os.stat(os.path.join(folder if own else _TOOL, path))
    return own, path, status.st_mtime_ns, status.st_size


def _imported(folder: str) -> Iterator[tuple[bool, str]]:
    """The files of the tool and of the rules that are imported, and the tables that may have been read."""
    files = {os.path.abspath(f) for module in [*sys.modules.values()] if (f := getattr(module, "__file__", None))}
    tables = os.path.join(_TOOL, "knowledge")
    files.update(os.path.join(tables, name) for name in os.listdir(tables) if name.endswith(".json"))
    for own, root in ((True, folder), (False, _TOOL)):
        prefix = os.path.join(os.path.abspath(root), "")
        yield from ((own, path.removeprefix(prefix)) for path in sorted(files) if path.startswith(prefix))
