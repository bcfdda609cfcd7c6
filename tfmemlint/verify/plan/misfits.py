"""Parameters that were made up as the wrong kind of thing, by what an error says of them and where it was raised."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tfmemlint.verify.child.usual import usual
from tfmemlint.verify.plan.roles import OF_ARRAYS, OF_TEXT
from tfmemlint.verify.run.runs import Failure

NUMBER, TEXT, OBJECT, FUNCTION, ARRAY = "a number", "a text", "an object", "a function", "an array"
PAIR = "two numbers"

KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (FUNCTION, re.compile(r"object is not callable")),
    (PAIR, re.compile(r"must be a 1-D (?:int32 )?Tensor of 2 elements|size must have length 2|tensor with 2 elements")),
    (TEXT, re.compile(
        r"expected str\b|must be str|concatenate str|argument should be a str|join\(\) argument|bytes-like object"
        r"|[Ee]xpected string, but got"
    )),
    (NUMBER, re.compile(
        r"interpreted as an integer|only integer scalar arrays|only (?:length-1|0-dimensional) arrays|array of size 1"
        r"|truth value of an array|unhashable type: '(?:numpy\.)?ndarray'|Tensor is unhashable|must be integers or None"
        r"|Only integers, slices .*are valid indices, got"
        r"|requested dtype int\d+ for Tensor with dtype float|must be an int|[Ee]xpected int|shape must be rank 0"
        r"|unsupported operand type.*'str'|by non-int of type|between instances of '\w+' and '(?:str|int|float)'"
    )),
    (OBJECT, re.compile(
        r"indices must be integers|only integers, slices|is not subscriptable|is not iterable|has no len\(\)"
        r"|unpack non-iterable"
    )),
)  # fmt: skip
"""What is asked for by messages that are about a value of another kind."""

NO_ATTRIBUTE = re.compile(r"object has no attribute '(\w+)'")
TYPES = (TypeError.__name__, AttributeError.__name__, ValueError.__name__, IndexError.__name__)
TYPES_OF_TENSORFLOW = ("InvalidArgumentError", "OperatorNotAllowedInGraphError")
PYTHON_TYPES = {
    ARRAY: frozenset(("EagerTensor", "SymbolicTensor", "Tensor", "ndarray")),
    NUMBER: frozenset(("bool", "float", "int")),
    OBJECT: frozenset(("_Metric", "Text", "_Thing")),
    TEXT: frozenset(("Text", "str")),
    FUNCTION: frozenset(("function",)),
    "None": frozenset(("NoneType",)),
}
"""The names that messages have for things of these kinds."""

QUOTED = re.compile(r"'(?:\w+\.)*(\w+)'")
WORD = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


@dataclass(frozen=True)
class Made:
    """A parameter that was made up, or left at None: its name, the names that its object keeps it by, and the code for
    it."""

    name: str
    stored: frozenset[str]
    code: str

    def is_read_in(self, line: str) -> bool:
        """Whether a line of a program names it."""
        words = set(WORD.findall(line))
        heads = {word.partition(".")[0] for word in words}
        return self.name in heads or any(f"{word}.".startswith(f"{kept}.") for word in words for kept in self.stored)


def misfit(error: Failure, lines: Sequence[str], made: Iterable[tuple[int, Made]]) -> tuple[int, str] | None:
    """The key of the one parameter that an error is about, and the kind that it should be of; None where the error does
    not tell. `lines` are those of the program on the way to the error, the outer ones first."""
    kind = _asked_for(error)
    if kind is None:
        return None
    known = list(made)
    for line in reversed(lines):
        read = [(key, each) for key, each in known if each.is_read_in(line)]
        found = [key for key, each in read if of_kind(each.code) != kind and _may_be_about(error, each)]
        if read:
            return (found[0], kind) if len(found) == 1 else None
    return None


def _asked_for(error: Failure) -> str | None:
    if error.type not in (*TYPES, *TYPES_OF_TENSORFLOW):
        return None
    missing = NO_ATTRIBUTE.search(error.message)
    if missing is not None:
        return ARRAY if missing[1] in OF_ARRAYS else TEXT if missing[1] in OF_TEXT else OBJECT
    return next((kind for kind, pattern in KINDS if pattern.search(error.message)), None)


def _may_be_about(error: Failure, made: Made) -> bool:
    """Whether the types that a message names, if it names any, are those of what was made up."""
    named = set(QUOTED.findall(error.message)) & frozenset().union(*PYTHON_TYPES.values())
    return not named or not named.isdisjoint(PYTHON_TYPES.get(of_kind(made.code), ()))


def of_kind(code: str) -> str:
    """The kind of what code makes; the code itself for another one."""
    if code.startswith(("tfmemlint_array", "tfmemlint_tensor")):
        return ARRAY
    if code.startswith(("tfmemlint_thing", "tfmemlint_settings")):
        return OBJECT
    if code.startswith("tfmemlint_function"):
        return FUNCTION
    if code.startswith("("):
        return PAIR
    if code[:1] in "'\"":
        return TEXT
    return NUMBER if code.lstrip("-")[:1].isdigit() or code in ("True", "False") else code


def code_of(kind: str, name: str) -> str:
    """Code for something of a kind."""
    value = usual(name)
    if kind == NUMBER:
        return repr(value) if isinstance(value, int) and not isinstance(value, bool) else "2"
    if kind == TEXT:
        return repr(value if isinstance(value, str) else "text")
    if kind == PAIR:
        return f"({value}, {value})" if isinstance(value, int) and not isinstance(value, bool) else "(64, 64)"
    made = {OBJECT: f'tfmemlint_thing("{name}")', FUNCTION: f'tfmemlint_function("{name}")'}
    return made.get(kind, 'tfmemlint_array("float32", (1024, 1021))')
