"""What a program holds while it is followed: besides the model's values those that have an identity and change."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as MappingOf
from dataclasses import dataclass, field
from typing import Any

from tfmemlint.model.values import (
    BOTTOM,
    Api,
    Array,
    Class,
    Const,
    Function,
    Instance,
    Mapping,
    Sequence,
    Unknown,
    Value,
    one_of,
)

MISSING: Any = object()
NONE = Const(None)


class Env:
    """The variables of one module, class or call of a function; `around` is where it was defined."""

    __slots__ = ("around", "names", "outer", "returns")

    def __init__(self, around: Env | None = None) -> None:
        self.names: dict[str, Value] = {}
        self.around = around
        self.outer: dict[str, Env] = {}
        """Names that `global` or `nonlocal` give to another one."""
        self.returns: list[Value] = []
        """What the function may already have returned, on ways that others leave open."""

    @property
    def module(self) -> Env:
        """The variables of the module."""
        env = self
        while env.around is not None:
            env = env.around
        return env

    def home(self, name: str) -> Env | None:
        """The variables among which a name is found."""
        if name in self.outer:
            return self.outer[name]
        env: Env | None = self
        while env is not None:
            if name in env.names:
                return env
            env = env.around
        return None


@dataclass(frozen=True, slots=True)
class Origin:
    """An expression of the program that is not known: its text, as Python prints it, and its line in the file (from 1;
    0 where it stands in another module). `call` says whether it is a call, and `decides` whether a condition or a
    number of turns rests on it: then even a tensor is known when it is."""

    text: str
    line: int = field(default=0, compare=False)
    call: bool = field(default=False, compare=False)
    decides: bool = field(default=False, compare=False)


Lacks = tuple[Origin, ...]
"""What is not known and would have to be."""


@dataclass(frozen=True, slots=True)
class Open(Unknown):
    """What is not known, with the expressions that would have to be; none where no expression stands for it."""

    origins: tuple[Origin, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Object(Instance):
    """One object of a class of a library or of the program, by its identity; `fields` are its attributes."""

    serial: int = 0
    fields: dict[str, Value] = field(default_factory=dict)
    of: Kind | None = None

    __eq__ = object.__eq__
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True, eq=False)
class Kind(Class):
    """A class of the program, with what its body and those above it define."""

    env: Env = field(default_factory=Env)
    above: tuple[Value, ...] = ()

    __eq__ = object.__eq__
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True, eq=False)
class Closure(Function):
    """A function of the program with the variables around it; `owner` is the class whose method it is, and `remat` says
    that what it does is computed again in the backward pass."""

    env: Env = field(default_factory=Env)
    owner: Kind | None = None
    eager: bool = False
    remat: bool = False

    __eq__ = object.__eq__
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True, eq=False)
class Bound(Value):
    """A method of an object of a library, by its plain name."""

    receiver: Object
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Held(Value):
    """`functools.partial(of, ...)`."""

    of: Value
    positions: tuple[Value, ...]
    names: MappingOf[str, Value]


@dataclass(frozen=True, slots=True, eq=False)
class Listed(Value):
    """A list or dictionary, which may grow: `fields["items"]` is a Sequence or Mapping."""

    fields: dict[str, Value]

    @property
    def items(self) -> Sequence | Mapping:
        """What is in it now."""
        items = self.fields["items"]
        return items if isinstance(items, (Sequence, Mapping)) else Sequence((), "list", open=True)


@dataclass(frozen=True, slots=True)
class Traced(Array):
    """A tensor with the number by which the layers that take and give it know it."""

    number: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Variables(Value):
    """The weights of some layers and models that are to be trained; None among them for others."""

    of: tuple[Object | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Gradients(Value):
    """What a tape gives: gradients of the loss of one pass."""

    taken: int


@dataclass(frozen=True, slots=True, eq=False)
class Loop(Value):
    """An iterable of known items that is no list: `range`, `zip`, `enumerate`, a generator."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Super(Value):
    """`super()` in a method: its object, and the class behind which is looked."""

    receiver: Value
    owner: Kind


def plain(value: Value) -> Value:
    """The value as the model knows it: lists and dictionaries as they are now, tensors without their numbers."""
    if isinstance(value, Listed):
        return plain(value.items)
    if isinstance(value, Sequence):
        return Sequence(tuple(map(plain, value.items)), value.kind, value.open)
    if isinstance(value, Mapping):
        return Mapping(tuple((key, plain(item)) for key, item in value.items), value.open)
    if isinstance(value, Loop):
        return Sequence(tuple(map(plain, value.items)), "list")
    if isinstance(value, Traced):
        return Array(value.library, value.dtype, value.shape)
    return value


def leaves(value: Value) -> list[Value]:
    """The leaves of nested lists, tuples and dictionaries."""
    if isinstance(value, Listed):
        return leaves(value.items)
    if isinstance(value, (Sequence, Loop)):
        return [leaf for item in value.items for leaf in leaves(item)]
    if isinstance(value, Mapping):
        return [leaf for _, item in value.items for leaf in leaves(item)]
    return [value]


def traced(value: Value) -> list[Traced]:
    """The tensors among the leaves."""
    return [leaf for leaf in leaves(value) if isinstance(leaf, Traced)]


def join(one: Value, other: Value) -> Value:
    """What a name holds after one of two ways: None drops out, as it stands for what is set later."""
    if one is other or one == other:
        return one
    if one is MISSING or one == NONE:
        return other
    if other is MISSING or other == NONE:
        return one
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        if len(one.items) == len(other.items) and not one.open and not other.open:
            return Sequence(tuple(map(join, one.items, other.items)), one.kind)
        return Sequence((), one.kind, open=True)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        keys = dict.fromkeys([*(k for k, _ in one.items), *(k for k, _ in other.items)])
        mine, others = dict(one.items), dict(other.items)
        both = ((k, join(mine.get(k, MISSING), others.get(k, MISSING))) for k in keys)
        return Mapping(tuple(both), one.open or other.open)
    if isinstance(one, Traced) or isinstance(other, Traced):
        return Open("one of several tensors")
    return opened(one_of((one, other)), (one, other))


def opened(made: Value, of: Iterable[Value]) -> Value:
    """What was made of some values: where it is not known, with the origins of those that are not."""
    if not isinstance(made, Unknown) or isinstance(made, Open) or made in (EXITS, BOTTOM):
        return made
    begun = [each for each in of if isinstance(each, Open)]
    if not begun:
        return made
    return Open(made.why, tuple(dict.fromkeys(origin for each in begun for origin in each.origins)))


def ancestry(kind: Kind) -> list[Kind]:
    """A class of the program and those above it, nearest first."""
    found = [kind]
    for above in kind.above:
        if isinstance(above, Kind):
            found += [each for each in ancestry(above) if each not in found]
    return found


def api_above(kind: Kind) -> str | None:
    """The first class of a library above one of the program."""
    for each in ancestry(kind):
        for above in each.above:
            if isinstance(above, Api) and above.name != "builtins.object":
                return above.name
    return None


EXITS = Unknown("the program ends")
"""What a call gives behind which nothing runs."""
