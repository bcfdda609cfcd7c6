"""Physical and logical devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfmemlint.model.values.constants import Const, constant
from tfmemlint.model.values.value import Value

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call


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

    def attribute(self, name: str) -> Value:
        if name == "device_type" and self.kind is not None:
            return Const(self.kind)
        return Value.attribute(self, name)

    def item_at(self, index: Value) -> Value:
        return self._selected("one" if isinstance(constant(index), int) else "any")

    def sliced(self, bounds: slice) -> Value:
        every = isinstance(bounds.start, Const) and constant(bounds.start) in (None, 0)
        every = every and bounds.stop == Const(None) and bounds.step == Const(None)
        return self._selected("all" if every else "some")

    def iterated(self) -> Value:
        # Every item of the whole list in turn; of a slice, some.
        return self._selected("each" if self.selection == "all" else self.selection)

    def _selected(self, selection: str) -> Devices:
        return Devices(self.kind, selection, self.call, self.logical)
