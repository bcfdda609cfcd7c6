"""A call whose arguments are known by value, for what the model knows of library calls."""

from __future__ import annotations

from collections.abc import Mapping as MappingOf
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import libcst as cst

from tfmemlint.estimate.facts.values import plain
from tfmemlint.model.calls import ABSENT, Argument, Call
from tfmemlint.model.values import Shape, Unknown, Value

if TYPE_CHECKING:
    from tfmemlint.model.evaluate import Evaluator


@dataclass(frozen=True, slots=True)
class Arguments:
    """What is passed: by position, by name; `open` says that `*` or `**` may pass more."""

    positions: tuple[Value, ...] = ()
    names: MappingOf[str, Value] = field(default_factory=dict)
    open: bool = False

    def get(self, position: int | None, *names: str) -> Value | None:
        """An argument by its place or one of its names; None where it is not passed."""
        for name in names:
            if name in self.names:
                return self.names[name]
        if position is not None and position < len(self.positions):
            return self.positions[position]
        return None


@dataclass(frozen=True, slots=True, eq=False)
class _Known(Argument):
    """An argument of which the value is known."""

    known: Value = field(default_factory=Unknown)

    @property
    def value(self) -> Value:
        return self.known


class _Seen:
    """An evaluator that knows the values of the arguments of one call."""

    def __init__(self, evaluator: Evaluator, values: dict[int, Value]) -> None:
        self._evaluator, self._values = evaluator, values

    def value(self, node: cst.CSTNode, frame: Any = None) -> Value:
        """What an expression is: of an argument what was passed."""
        found = self._values.get(id(node))
        return found if found is not None else self._evaluator.value(node, frame)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._evaluator, name)


class Asked(Call):
    """A call of `called` with arguments of which the values are known."""

    def __init__(self, node: cst.Call, evaluator: Evaluator, called: Value, given: Arguments) -> None:
        seen: dict[int, Value] = {}
        placed = [arg for arg in node.args if arg.keyword is None and not arg.star]
        if len(placed) == len(given.positions):
            seen = {id(arg.value): plain(value) for arg, value in zip(placed, given.positions, strict=True)}
        super().__init__(node, _Seen(evaluator, seen), None)  # type: ignore[arg-type]
        self.given_values = given
        self._called = called
        self._made: Value = Unknown("a call")
        self.shapes: dict[tuple[Shape | None, ...], list[Shape] | None] = {}
        """What the layer that the call makes gives, by the shapes that it is given."""

    @property
    def target(self) -> Value:
        return self._called

    @property
    def value(self) -> Value:
        return self._made

    @property
    def receiver(self) -> Value:
        return getattr(self._called, "receiver", None) or Unknown("no receiver")

    @property
    def open(self) -> bool:
        return self.given_values.open

    def _argument(self, key: str | int) -> Value | None:
        names = self.parameter_names
        if isinstance(key, int):
            if key < len(self.given_values.positions):
                return self.given_values.positions[key]
            return self.given_values.names.get(names[key]) if key < len(names) else None
        if key in self.given_values.names:
            return self.given_values.names[key]
        place = names.index(key) if key in names else None
        return self.given_values.get(place) if place is not None else None

    def arg(self, name: str | int, *others: str) -> Argument | None:
        for key in (name, *others):
            found = self._argument(key)
            if found is not None:
                node = self.node.args[0] if self.node.args else cst.Arg(cst.Name("None"))
                return _Known(node, self.evaluator, None, plain(found))
        return None

    def value_of(self, name: str | int, *others: str) -> Value:
        return self.given(name, *others)

    def given(self, name: str | int, *others: str) -> Value:
        found = self.arg(name, *others)
        return found.value if found is not None else ABSENT

    def lacks(self, name: str, *others: str) -> bool:
        return self.arg(name, *others) is None and not self.open
