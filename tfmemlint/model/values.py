"""The domain of abstract values: what an expression can be known to be, without running it.

`Unknown` says "not known" and why; a rule that meets it stops. Values are frozen and compare by content, so that
joins of equal values stay one value. Calls inside values compare by identity: one source place is one call.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

from tfmemlint.model.array import ITEM_BYTES, Array, Shape
from tfmemlint.model.value import BOTTOM, Composite, Unknown, Value, agreed, hashed_once
from tfmemlint.syntax.numbers import bounded

if TYPE_CHECKING:
    import libcst as cst

    from tfmemlint.model.calls import Call

__all__ = [
    "BOTTOM", "COMPREHENSION", "ITEM_BYTES", "MOST_OPTIONS", "MOST_STEPS", "PIPELINE_WEIGHT", "Api", "Array",
    "Class", "Const", "Dataset", "Devices", "Function", "Instance", "Iterator", "Length", "Mapping", "Method",
    "OneOf", "Sequence", "Shape", "Step", "Unknown", "Value", "constant", "integer", "number", "one_of", "shared",
]  # fmt: skip

MOST_OPTIONS = 8
"""Alternatives that a join keeps apart: three optional steps, or two and a loop. Of more it keeps what all share."""

MOST_STEPS = 64
"""Steps of a pipeline that are remembered."""

PIPELINE_WEIGHT = 64
"""What a pipeline made of others adds to their weights: rules go through it step by step."""


@dataclass(frozen=True, slots=True)
class Const(Value):
    """A Python number, string, boolean, None or bytes."""

    value: object

    @property
    def weight(self) -> int:
        return 1 + len(self.value) // 64 if isinstance(self.value, (str, bytes)) else 1


@hashed_once
@dataclass(frozen=True, slots=True)
class Length(Composite):
    """`len(x)`, `x.shape[0]` or a dataset's cardinality: `count` where it is known, and of what."""

    of: Value
    count: int | None = None

    @property
    def parts(self) -> Iterable[Value]:
        return (self.of,)


@hashed_once
@dataclass(frozen=True, slots=True)
class Sequence(Composite):
    """A tuple, list or set display; `open` means that more items may have been added."""

    items: tuple[Value, ...]
    kind: str = "tuple"
    open: bool = False

    @property
    def parts(self) -> Iterable[Value]:
        return self.items


@hashed_once
@dataclass(frozen=True, slots=True)
class Mapping(Composite):
    """A dictionary display with constant keys; `open` means that more may be in it."""

    items: tuple[tuple[object, Value], ...]
    open: bool = False

    @property
    def parts(self) -> Iterable[Value]:
        return (value for _, value in self.items)

    def get(self, key: object) -> Value:
        for known, value in self.items:
            if known == key:
                return value
        return Unknown("no such key")


@dataclass(frozen=True, slots=True)
class Api(Value):
    """A module, function or class of a library by its canonical name: `tf.data.Dataset`, `np.float32`, `cv2.imread`."""

    name: str


@hashed_once
@dataclass(frozen=True, slots=True)
class Method(Composite):
    """A bound method of a value, by its canonical name: `tf.data.Dataset.map`."""

    receiver: Value
    name: str

    @property
    def parts(self) -> Iterable[Value]:
        return (self.receiver,)


@dataclass(frozen=True, slots=True)
class Function(Value):
    """A function or lambda of this module, with `self` where it is bound; `traced` if `tf.function` wraps it.

    `partial` is the `functools.partial` that holds some of its arguments.
    """

    node: cst.FunctionDef | cst.Lambda
    receiver: Value | None = None
    traced: bool = False
    frame: object = None
    partial: Call | None = None


@dataclass(frozen=True, slots=True)
class Class(Value):
    """A class of this module."""

    node: cst.ClassDef


@dataclass(frozen=True, slots=True)
class Instance(Value):
    """An object: of an API class (`type_name` is canonical), of a class of this module, or of one derived from both."""

    type_name: str | None
    call: Call | None = None
    class_node: cst.ClassDef | None = None

    def shared(self, others: Iterable[Instance]) -> Value:
        """An object of the class that all are of, made nobody knows where."""
        if all(o.type_name == self.type_name and o.class_node is self.class_node for o in others):
            return Instance(self.type_name, None, self.class_node)
        return Unknown("objects of several classes")


UNSEEN = Unknown("element")
"""The element of a pipeline of which none is seen."""


@dataclass(frozen=True, slots=True)
class Step:
    """One method applied to a dataset: the last part of its name and the call (None where it came by other ways)."""

    name: str
    call: Call | None


@hashed_once
@dataclass(frozen=True, slots=True)
class Dataset(Composite):
    """A tf.data pipeline: where it comes from, the steps applied since, and what one element is.

    `source` is the canonical name of the constructor, or None when the beginning is not known (a parameter that is
    annotated or used as a dataset): then absence of a step proves nothing.
    """

    source: str | None
    call: Call | None = None
    steps: tuple[Step, ...] = ()
    element: Value = UNSEEN
    count: int | None = None
    parents: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        pipelines = PIPELINE_WEIGHT + sum(parent.weight for parent in self.parents) if self.parents else 1
        object.__setattr__(self, "_weight", pipelines + self.element.weight)

    def shared(self, others: Iterable[Dataset]) -> Value:
        """A pipeline whose beginning is not known: of its steps the last ones that all have."""
        pipelines = (self, *others)
        last: list[Step] = []
        for steps in zip(*(reversed(each.steps) for each in pipelines), strict=False):
            if agreed(steps) is None:
                break
            last.append(steps[0])
        return Dataset(None, None, tuple(reversed(last)), one_of(each.element for each in pipelines))

    def with_step(self, step: Step) -> Dataset:
        """The pipeline after one step more. Of a very long one only the last steps are kept: its beginning is not
        known any more."""
        if len(self.steps) < MOST_STEPS:
            return replace(self, steps=(*self.steps, step))
        return replace(self, source=None, call=None, parents=(), steps=(*self.steps[-MOST_STEPS // 2 :], step))

    def names(self) -> tuple[str, ...]:
        """The names of the steps, in order."""
        return tuple(step.name for step in self.steps)


COMPREHENSION = "comprehension"
"""The `function` of an Iterator that is made of other items than those of `of`, or of fewer."""


@hashed_once
@dataclass(frozen=True, slots=True)
class Iterator(Composite):
    """`iter(x)`, `enumerate(x)`, `zip(...)`, a comprehension: `item` is one element, `of` what is iterated.

    `function` is the last part of the name of what is called, or COMPREHENSION.
    """

    of: Value
    item: Value
    function: str = "iter"

    @property
    def parts(self) -> Iterable[Value]:
        return (self.of, self.item)


@dataclass(frozen=True, slots=True)
class Devices(Value):
    """Physical or logical devices: a whole list, a slice or one of them.

    `kind` is "GPU", "CPU" or None; `selection` is "all", "some" (a slice), "one" (a constant index), "any" (another
    index) or "each" (a loop's item).
    """

    kind: str | None
    selection: str
    call: Call | None = None
    logical: bool = False


@hashed_once
@dataclass(frozen=True, slots=True)
class OneOf(Composite):
    """One of a few values, by the path that was taken."""

    values: tuple[Value, ...]

    @property
    def parts(self) -> Iterable[Value]:
        return self.values

    @property
    def options(self) -> tuple[Value, ...]:
        return self.values


def one_of(values: Iterable[Value]) -> Value:
    """The join: equal values are one, a few different ones are kept, of too many only what all have in common; an
    unknown one makes it Unknown."""
    found: dict[Value, None] = {}
    for value in values:
        for option in value.options:
            if option is BOTTOM:
                continue
            if not option.known:
                return option
            found[option] = None
    if not found:
        return BOTTOM
    if len(found) == 1:
        return next(iter(found))
    return OneOf(tuple(found)) if len(found) <= MOST_OPTIONS else shared(tuple(found))


def shared(options: tuple[Value, ...]) -> Value:
    """What alternatives have in common that are too many to be told apart."""
    first, *others = options
    if any(other.__class__ is not first.__class__ for other in others):
        return Unknown(f"{len(options)} different values meet")
    return first.shared(others)


def number(found: complex) -> Value:
    """The constant, or Unknown for a whole number beyond all that can be counted, and for no number at all."""
    if isinstance(found, int) and bounded(found) is None:
        return Unknown("too large a number")
    if isinstance(found, float) and not isfinite(found):
        return Unknown("not a finite number")
    return Const(found)


def constant(value: Value) -> object | None:
    """The Python object of a constant; a length counts where it is known; None otherwise."""
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Length):
        return value.count
    return None


def integer(value: Value) -> int | None:
    """The whole number that the value is, or None."""
    found = constant(value)
    return found if isinstance(found, int) and not isinstance(found, bool) else None
