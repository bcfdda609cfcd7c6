"""What a callable takes, read from one line of text such as `shape,dtype='float32',*,name=None`."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final


class Kind(Enum):
    """How a parameter is passed."""

    POSITIONAL = "positional only"
    EITHER = "positional or keyword"
    ARGUMENTS = "*args"
    KEYWORD = "keyword only"
    KEYWORDS = "**kwargs"


class _Absent(Enum):
    REQUIRED = "required"
    OTHER = "not a literal"


REQUIRED: Final = _Absent.REQUIRED
"""The default of a parameter that must be passed."""

OTHER: Final = _Absent.OTHER
"""The default of a parameter whose default is no literal."""


@dataclass(frozen=True)
class Parameter:
    """One parameter; `default` is a literal, REQUIRED or OTHER. A dtype default is its name, such as `"float32"`."""

    name: str
    kind: Kind
    default: object


@dataclass(frozen=True)
class Signature:
    """The parameters of a callable in order, the receiver of a method left out."""

    parameters: tuple[Parameter, ...]

    @cached_property
    def positional(self) -> tuple[str, ...]:
        """The names of the parameters that can be passed by position."""
        return tuple(p.name for p in self.parameters if p.kind in (Kind.POSITIONAL, Kind.EITHER))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all parameters but `*args` and `**kwargs`."""
        return tuple(p.name for p in self.parameters if p.kind not in (Kind.ARGUMENTS, Kind.KEYWORDS))

    @cached_property
    def open(self) -> bool:
        """Whether it takes `*args` or `**kwargs`, so that other arguments may be passed too."""
        return any(p.kind in (Kind.ARGUMENTS, Kind.KEYWORDS) for p in self.parameters)

    @cached_property
    def takes_any_name(self) -> bool:
        """Whether it takes `**kwargs`, so that an argument of any name may be passed."""
        return any(p.kind is Kind.KEYWORDS for p in self.parameters)

    def position(self, name: str) -> int | None:
        """The position of a parameter from 0, or None where it can only be passed by name or does not exist."""
        return self.positional.index(name) if name in self.positional else None

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name."""
        return next((p for p in self.parameters if p.name == name), None)

    def default(self, name: str) -> object:
        """The default of a parameter, REQUIRED or OTHER; OTHER too for a parameter that does not exist."""
        found = self.parameter(name)
        return found.default if found is not None else OTHER


def parse(text: str) -> Signature:
    """The signature that a line of text stands for."""
    function = ast.parse(f"def f({text}): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    given = function.args
    either = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(either) - len(given.defaults)) + list(given.defaults)
    found = [
        Parameter(a.arg, Kind.POSITIONAL if i < len(given.posonlyargs) else Kind.EITHER, _value(default))
        for i, (a, default) in enumerate(zip(either, defaults, strict=True))
    ]
    if given.vararg is not None:
        found.append(Parameter(given.vararg.arg, Kind.ARGUMENTS, OTHER))
    for a, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        found.append(Parameter(a.arg, Kind.KEYWORD, _value(default)))
    if given.kwarg is not None:
        found.append(Parameter(given.kwarg.arg, Kind.KEYWORDS, OTHER))
    return Signature(tuple(found))


def _value(default: ast.expr | None) -> object:
    if default is None:
        return REQUIRED
    value: object = ast.literal_eval(default)
    return OTHER if value is Ellipsis else value
