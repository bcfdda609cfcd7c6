"""What a person or a command line would tell a program: arguments, answers, and the time that it waits; loaded by
`main.py`."""

from __future__ import annotations

import argparse
import ast
import builtins
import functools
import importlib
import importlib.util
import re
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

Note = Callable[[str], None]

ANSWER = "1"
PARSERS = ("argparse", "absl", "click", "fire", "optparse", "getopt", "typer")
"""Modules that read the command line and have defaults."""

LONGEST = 0.01

NEEDED = (
    r"\b(int|float|open|listdir|walk|exists|isdir|isfile|makedirs|mkdir|join|i?glob|Path|read_csv|read_json|imread"
    r"|load_model|loadtxt|load)\(\s*(?:\w+\.)+{}\s*[,)]"
)
"""Code that an option is given to as it is, and that takes no None."""

ASKED = r"\b(?:if|and|or|not|elif)\s+(?:not\s+)?(?:\w+\.)+{0}\b|\b(?:\w+\.)+{0}\s*(?:or\b|is\b|==|!=)"
"""Code that asks whether an option was given."""


def install(asked: Callable[[], bool], note: Note, made_up: Note, texts: str, usual: Callable[[str], Any]) -> None:
    """Answer what the program's own files ask, as `asked` tells, and let them not wait; `made_up` notes what has a
    size of its own. `texts` are those files, `usual` gives the usual value of a name."""

    def answer(*_: object) -> str:
        note(f"{ANSWER!r} was the answer to input()")
        return ANSWER

    builtins.input = answer
    parser: Any = argparse.ArgumentParser
    parser.parse_known_args = _completed(parser.parse_known_args, note, texts, usual)
    named: Any = argparse.Namespace
    named.__getattr__ = _further(asked, made_up)
    module: Any = time
    module.sleep = _short(time.sleep, asked)
    if "absl.flags" in sys.modules:
        flags: Any = importlib.import_module("absl.flags")
        flags.FlagValues.validate_all_flags = flags.FlagValues._assert_validators = lambda *_: None
        flags.FlagValues.__getattr__ = _parsed(flags.FlagValues.__getattr__, flags.UnparsedFlagAccessError, note)


def wanted(source: str, usual: Callable[[str], Any], note: Note) -> list[str]:
    """Arguments for a program that looks for them by their places: a number where it makes one of them, else what the
    name that they are given usually is."""
    tree = ast.parse(source)
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    if "sys.argv" not in source or any(name.partition(".")[0] in PARSERS for name in imported):
        return []
    shifted = 1 if "sys.argv[1:]" in source else 0
    spared = _spared(tree)
    found: dict[int, str] = {}
    for node in ast.walk(tree):
        for inner in ast.iter_child_nodes(node):
            at = _place(inner, shifted)
            if at is not None and at > 0 and id(inner) not in spared:
                name = getattr(node.targets[0], "id", "") if isinstance(node, ast.Assign) else ""
                number = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("int", "float")
                value = None if number else usual(name)
                found[at] = "2" if number else value if isinstance(value, str) else found.get(at, ANSWER)
        if isinstance(node, ast.Compare) and _is_length(node.left) and not _is_more(node):
            count = getattr(node.comparators[0], "value", 0)
            for at in range(1, count + isinstance(node.ops[0], ast.LtE) if isinstance(count, int) else 0):
                found.setdefault(at, ANSWER)
    words = [found.get(at, ANSWER) for at in range(1, max(found, default=0) + 1)]
    if words:
        note(f"the program was run with the arguments {' '.join(words)}")
    return words


def complete_click(source: str, usual: Callable[[str], Any], note: Note) -> None:
    """Give the commands of an installed click, in a program that imports it, the arguments that they must be given."""
    if "click" not in source or importlib.util.find_spec("click") is None:
        return
    click: Any = importlib.import_module("click")
    click.Command.make_context = _with_required(click.Command.make_context, usual, note)


def _with_required(make_context: Any, usual: Callable[[str], Any], note: Note) -> Any:
    @functools.wraps(make_context)
    def make(self: Any, info_name: Any, args: list[str], *rest: Any, **extra: Any) -> Any:
        added: list[str] = []
        for each in self.params if not args else ():
            if each.required and not isinstance(each.default, (str, int, float, list, tuple)):
                options = [name for name in each.opts if name.startswith("-")]
                added = [*added, options[-1], _word(each, usual)] if options else [_word(each, usual), *added]
        if added:
            note(f"the program was run with the arguments {' '.join(added)}")
        return make_context(self, info_name, [*added, *args], *rest, **extra)

    return make


def _word(parameter: Any, usual: Callable[[str], Any]) -> str:
    """What is given for a parameter of click: the first of its choices, or something of its type."""
    kind, known = parameter.type, {"integer": "1", "float": "0.1", "boolean": "1"}
    value = usual(parameter.name)
    if getattr(kind, "choices", None):
        return str(next(iter(kind.choices)))
    return known.get(kind.name) or (value if isinstance(value, str) else parameter.name)


def _place(node: ast.AST, shifted: int) -> int | None:
    """The place of an argument that an expression reads, of all that the program is given."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return None
    at, of = node.slice.value, ast.unparse(node.value)
    if not isinstance(at, int) or of not in ("sys.argv", "argv"):
        return None
    return at + shifted if of == "argv" else at


def _is_more(node: ast.Compare) -> bool:
    """Whether a length of the command line is one with which a program does more, and without which it goes on."""
    return not isinstance(node.ops[0], (ast.NotEq, ast.Lt, ast.LtE))


def _spared(tree: ast.AST) -> frozenset[int]:
    """What is read, by id, only where there are so many arguments, by programs that go on without them: each name that
    is bound there is bound elsewhere, too."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, (ast.If, ast.IfExp)):
            continue
        tests = [each for each in ast.walk(node.test) if isinstance(each, ast.Compare) and _is_length(each.left)]
        body = node.body if isinstance(node.body, list) else [node.body]
        inside = [each for statement in body for each in ast.walk(statement)]
        within = {id(each) for each in inside}
        bound = {each.id for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        others = (each for each in ast.walk(tree) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
        if any(map(_is_more, tests)) and bound <= {each.id for each in others if id(each) not in within}:
            found |= within
    return frozenset(found)


def _is_length(node: ast.expr) -> bool:
    return ast.unparse(node) in ("len(sys.argv)", "len(argv)")


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


def _further(asked: Callable[[], bool], made_up: Note) -> Any:
    """What an argument is that no parser knows, as the slice of a program has it of which other modules fill the
    parser: made up by its name, where code reads it, rather than asks whether it is there."""

    def __getattr__(self: Any, name: str) -> Any:
        reads = name in sys._getframe(1).f_code.co_names
        if name.startswith("_") or not reads or not asked():
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        made_up(f"the argument {name} is made up, as no parser has it")
        settings: Any = builtins
        made = getattr(settings.tfmemlint_settings("args"), name)
        setattr(self, name, made)
        return made

    return __getattr__


def _completed(parse: Any, note: Note, texts: str, usual: Callable[[str], Any]) -> Any:
    """The method with the arguments that must be given, and are not: the parser refuses to go on without them, or the
    code does."""

    @functools.wraps(parse)
    def parse_known_args(self: Any, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> Any:
        words = list(sys.argv[1:] if args is None else args)
        added: list[str] = []
        for action in self._actions if not words else ():
            value = _value(action)
            if action.option_strings and action.required:
                added += [action.option_strings[-1], *value]
            elif action.option_strings and (taker := _taker(action, texts)):
                added += [action.option_strings[-1], _given_to(taker, usual(action.dest), value[0])]
            elif not action.option_strings and action.nargs not in ("?", "*"):
                added[:0] = value
        if added:
            note(f"the program was run with the arguments {' '.join(added)}")
        return parse(self, [*added, *words], *rest, **options)

    return parse_known_args


def _taker(action: Any, texts: str) -> str:
    """The function that code gives an option to which has no default, without asking whether it was given; empty where
    there is none."""
    if action.default is not None or action.nargs is not None or action.choices or action.dest == "help":
        return ""
    name = re.escape(action.dest)
    found = re.search(NEEDED.format(name), texts)
    return found[1] if found is not None and re.search(ASKED.format(name), texts) is None else ""


def _given_to(taker: str, value: object, word: str) -> str:
    """What an option is, of which the usual value is known or not, so that this function takes it."""
    if taker in ("int", "float"):
        return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else "1"
    return value if isinstance(value, str) else word


def _value(action: Any) -> list[str]:
    """What is given for one argument: what it would be by default, the first of its choices, or something of its
    type."""
    if action.nargs == 0:
        return []
    if isinstance(action.default, (int, float, str)) and action.default != argparse.SUPPRESS:
        return [str(action.default)]
    one = str(next(iter(action.choices))) if action.choices else {int: "1", float: "0.1"}.get(action.type, action.dest)
    return [one] * (action.nargs if isinstance(action.nargs, int) else 1)
