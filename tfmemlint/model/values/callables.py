"""What can be called: names of libraries, methods, functions and classes of the file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.model.values.value import Composite, Value, hashed_once

if TYPE_CHECKING:
    import libcst as cst

    from tfmemlint.model.calls import Call


@dataclass(frozen=True, slots=True)
class Api(Value):
    """A module, function or class of a library by its canonical name: `tf.data.Dataset`, `np.float32`, `cv2.imread`."""

    name: str

    def in_place(self, name: str, other: Value) -> Value:
        return self if name == "BitOr" else Value.in_place(self, name, other)  # os.environ |= {...}


@dataclass(frozen=True, slots=True)
class Module(Api):
    """A module of the file's own project: the file that has its code (None for a folder without any), and the folder in
    which further modules lie. Both are absolute paths."""

    path: str | None
    folder: str | None = None


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
    """A function or lambda of the program, with `self` where it is bound; `traced` if `tf.function` wraps it.

    `partial` is the `functools.partial` that holds some of its arguments.
    """

    node: cst.FunctionDef | cst.Lambda
    receiver: Value | None = None
    traced: bool = False
    frame: object = None
    partial: Call | None = None


@dataclass(frozen=True, slots=True)
class Class(Value):
    """A class of the program: of this module, or of one of the project that it imports."""

    node: cst.ClassDef


def method_of(receiver: Value, owner: str, name: str) -> Method:
    """The method `name` of a value that has those of the API class `owner`."""
    return Method(receiver, knowledge.method_owner(owner, name) or f"{owner}.{name}")
