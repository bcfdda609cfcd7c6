"""What a person or a command line would tell a program: arguments, answers, and the time that it waits; loaded by
`main.py`."""

from __future__ import annotations

import argparse
import builtins
import functools
import importlib
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

Note = Callable[[str], None]

ANSWER = "1"
LONGEST = 0.01


def install(asked: Callable[[], bool], note: Note) -> None:
    """Answer what the program's own files ask, as `asked` tells, and let them not wait."""

    def answer(*_: object) -> str:
        note(f"{ANSWER!r} was the answer to input()")
        return ANSWER

    builtins.input = answer
    parser: Any = argparse.ArgumentParser
    parser.parse_known_args = _completed(parser.parse_known_args, note)
    module: Any = time
    module.sleep = _short(time.sleep, asked)
    if "absl.flags" in sys.modules:
        flags: Any = importlib.import_module("absl.flags")
        flags.FlagValues.validate_all_flags = flags.FlagValues._assert_validators = lambda *_: None
        flags.FlagValues.__getattr__ = _parsed(flags.FlagValues.__getattr__, flags.UnparsedFlagAccessError, note)


def _short(sleep: Callable[[float], None], asked: Callable[[], bool]) -> Callable[[float], None]:
    @functools.wraps(sleep)
    def waits(seconds: float) -> None:
        sleep(min(seconds, LONGEST) if asked() else seconds)

    return waits


def _parsed(read: Any, unparsed: type[Exception], note: Note) -> Any:
    """The method that reads a flag of absl, which has its default where no command line was parsed."""

    def __getattr__(self: Any, name: str) -> Any:
        try:
            return read(self, name)
        except unparsed:
            note("the flags have their defaults")
            self.mark_as_parsed()
            return read(self, name)

    return __getattr__


def _completed(parse: Any, note: Note) -> Any:
    """The method with the arguments that must be given, and are not."""

    @functools.wraps(parse)
    def parse_known_args(self: Any, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> Any:
        words = list(sys.argv[1:] if args is None else args)
        added: list[str] = []
        for action in self._actions if not words else ():
            value = _value(action)
            if action.option_strings and action.required:
                added += [action.option_strings[-1], *value]
            elif not action.option_strings and action.nargs not in ("?", "*"):
                added[:0] = value
        if added:
            note(f"the program was run with the arguments {' '.join(added)}")
        return parse(self, [*added, *words], *rest, **options)

    return parse_known_args


def _value(action: Any) -> list[str]:
    """What is given for one argument: the first of its choices, or something of its type."""
    if action.nargs == 0:
        return []
    one = str(next(iter(action.choices))) if action.choices else {int: "1", float: "0.1"}.get(action.type, action.dest)
    return [one] * (action.nargs if isinstance(action.nargs, int) else 1)
