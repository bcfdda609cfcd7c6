"""What a step of training takes: measured in the last of four rounds of it; loaded by `training_step.py`.

The first rounds make slots and trace, the third shows what is left of a step for the next one, the fourth is measured.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

STEPS = 4
BEFORE, MEASURED = 3, 4
"""The numbers of the step before the one that is measured, and of that one."""
MOST_HELD, LONGEST = 300, 250
"""Entries of the list of what lives at the peak, and letters of a name."""


class StepMeasured(BaseException):
    """The step has been measured: nothing else of the program needs to run."""


class Rounds:
    """The rounds of one step. `batch` is the number of examples to take in place of the program's, None for its own;
    the profiler writes into the folder `work` for a moment. Of a step that does not train (`trains`) what optimizers
    keep is left out."""

    def __init__(self, batch: int | None, work: str, load: Callable[[str], Any]) -> None:
        self._batch = batch
        self._runtime: Any = None
        self._keras: Any = None
        self.trains = True
        self._events, self._scopes = load("memory_events"), load("layer_scopes").Scopes()
        self._folder = os.path.join(work, "tfmemlint-profile")
        self._element: Any = None
        self._left: dict[int, Any] = {}
        self._start = self.count = 0
        self.report: dict[str, Any] | None = None

    def install(self, keras: Any, runtime: Any) -> None:
        """Note from here on which layers ops belong to. `runtime` gives the bytes of the allocator."""
        self._keras, self._runtime = keras, runtime
        self._scopes.install(keras)

    def of(self, element: Any) -> Any:
        """One batch, with as many examples as are asked for: that of all rounds from here on."""
        self._element = _resized(element, self._batch) if self._batch else element
        return self._element

    def begin(self) -> None:
        """A round begins. Raises StepMeasured where it needs no more of them."""
        if self.report is not None:
            raise StepMeasured
        self.count += 1
        if self.count >= BEFORE:
            gc.collect()
            self._events.start(self._folder)
            self._runtime.reset()
            self._start = self._runtime.live()[0]

    def end(self) -> None:
        """A round ends. Raises StepMeasured after the last one."""
        if self.count < BEFORE:
            return
        peak = self._runtime.live()[1]
        events = self._events.stop(self._folder)
        if self.count < MEASURED:
            self._left = self._events.left(events, _addresses())
            return
        most = self._events.most(events, self._left)
        kept = sum(held.bytes for held in self._left.values())
        self.report = {**self._figures(), "step": most.bytes, "chunks": max(peak - self._start + kept, 0)}
        self.report.update(self._held(most))
        raise StepMeasured

    def examples(self) -> int | None:
        """The examples of the batch, None where it has nothing with a size."""
        return next((int(each.shape[0]) for each in leaves(self._element) if has_shape(each)), None)

    def _figures(self) -> dict[str, Any]:
        parts = [each for each in leaves(self._element) if has_shape(each)]
        tensors = [each for each in parts if sys.modules["tensorflow"].is_tensor(each)]
        variables = {id(each.handle): _size(each) for each in _variables()}
        for each in () if self.trains else _kept_by_optimizers(self._keras):
            variables.pop(id(each.handle), None)
        return {
            "variables": sum(variables.values()),
            "data": sum(map(_size, tensors)) if tensors and len(tensors) == len(parts) else None,
            "batch": self.examples(),
        }

    def _held(self, most: Any) -> dict[str, Any]:
        """The list of what lives at the peak, and the layers by whose numbers it names them, outer ones first."""
        layers, of = self._scopes.layers(), self._scopes.of
        held = [[each.op[-LONGEST:], each.bytes, of(each.op, each.shape)] for each in most.held[:MOST_HELD]]
        return {"layers": [[name[:LONGEST], kind[:LONGEST]] for name, kind in layers], "held": held}


def leaves(element: Any) -> list[Any]:
    """What an element is made of, without the structure."""
    return sys.modules["tensorflow"].nest.flatten(element) if element is not None else []


def has_shape(leaf: Any) -> bool:
    """Whether it is a tensor or array of at least one axis."""
    return bool(getattr(leaf, "shape", None)) and hasattr(leaf, "dtype")


def _resized(element: Any, batch: int) -> Any:
    """The element with as many rows in each part as are asked for, the rows that it has again and again."""
    tensorflow = sys.modules["tensorflow"]

    def resize(leaf: Any) -> Any:
        if not has_shape(leaf):
            return leaf
        rows = tensorflow.range(batch) % int(leaf.shape[0])
        return tensorflow.gather(leaf, rows) if tensorflow.is_tensor(leaf) else leaf[rows.numpy()]

    return tensorflow.nest.map_structure(resize, element)


def _variables() -> list[Any]:
    """The variables that are there, on the device that is measured."""
    kind: Any = importlib.import_module("tensorflow.python.ops.resource_variable_ops").BaseResourceVariable
    return [
        each for each in gc.get_objects()
        if isinstance(each, kind) and hasattr(each.handle, "numpy") and each.shape.is_fully_defined()
    ]  # fmt: skip


def _kept_by_optimizers(keras: Any) -> list[Any]:
    optimizers = [each for each in gc.get_objects() if isinstance(each, keras.optimizers.Optimizer)]
    return [variable.value for each in optimizers for variable in each.variables]


def _size(tensor: Any) -> int:
    count = 1
    for size in tensor.shape:
        count *= int(size)
    return count * int(getattr(tensor.dtype, "size", 0) or getattr(tensor.dtype, "itemsize", 0))


def _addresses() -> set[int]:
    """Where the values of variables lie, which stay from step to step."""
    numpy, found = importlib.import_module("numpy"), set()
    for each in _variables():
        value = numpy.asarray(memoryview(each.value())) if each.shape.num_elements() else None
        if value is not None:
            found.add(value.__array_interface__["data"][0])
    return found
