"""Arrays, tensors and data sets that are made up; loaded by `main.py`."""

from __future__ import annotations

import builtins
import importlib
import math
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

HOOKS = ("array", "tensor", "dataset", "object")
MOST_BYTES = 128 << 20
"""Bytes of an array whose shape was corrected, at four bytes a number: it has fewer rows where these are large."""


class MadeData:
    """Makes them in one run. `corrected` has pairs of sizes behind the first axis: those that were asked for, and those
    that fit in their place; `rows` of numbers of rows."""

    def __init__(
        self, corrected: Sequence[tuple[Sequence[int], Sequence[int]]], rows: Sequence[tuple[int, int]] = ()
    ) -> None:
        self._note: Callable[[str], None] = lambda _: None
        self._rows = dict(rows)
        self._corrected = {tuple(old): tuple(new) for old, new in corrected}
        self._most_rows = min((max(32, MOST_BYTES // (4 * math.prod(new))) for _, new in corrected), default=1 << 30)

    def install(self, note: Callable[[str], None]) -> None:
        """Put them where every module finds them; `note` is told of other shapes than those that were asked for."""
        self._note = note
        for name in HOOKS:
            setattr(builtins, f"tfmemlint_{name}", getattr(self, name))

    def rows(self, number: int) -> int:
        """Rows of data that is made up with so many: fewer beside an array that was corrected to large ones."""
        number = min(number, self._most_rows)
        return self._rows.get(number, number)

    def columns(self, number: int) -> int:
        """Columns of a table that is made up with so many."""
        return math.prod(self._in_place_of((number,)) or (number,))

    def _in_place_of(self, sizes: tuple[int, ...]) -> tuple[int, ...] | None:
        """What fits in the place of these sizes, which may have been corrected several times."""
        if sizes not in self._corrected:
            return None
        for _ in self._corrected:
            sizes = self._corrected.get(sizes, sizes)
        return sizes

    def _fitting(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if not shape:
            return shape
        found = self._in_place_of(tuple(shape[1:]))
        rows = self._rows.get(shape[0], shape[0])
        fitting = (rows, *shape[1:]) if found is None else (min(rows, self._most_rows), *found)
        if fitting != tuple(shape):
            self._note(f"the shape {fitting} stands for {tuple(shape)}, which was made up: an error asked for it")
        return fitting

    def array(self, dtype: str, shape: tuple[int, ...]) -> Any:
        """A NumPy array of made-up numbers: floats below one, integers zero or one."""
        numpy = importlib.import_module("numpy")
        draw, shape = numpy.random.default_rng(0), self._fitting(shape)
        if dtype == "string":
            return numpy.full(shape, b"text", dtype=object)
        if numpy.dtype(dtype).kind in "fc":
            return draw.random(shape, dtype="float32").astype(dtype, copy=False)
        return draw.integers(0, 2, shape, dtype="uint8").astype(dtype, copy=False)

    def tensor(self, dtype: str, shape: tuple[int, ...]) -> Any:
        """A tensor of made-up numbers."""
        return sys.modules["tensorflow"].convert_to_tensor(self.array(dtype, shape))

    def dataset(self, element: Any, count: int) -> Any:
        """A data set of `count` elements, each made when it is asked for; `element` has pairs of dtype and shape, in
        lists (for tuples) and dictionaries."""
        tensorflow = sys.modules["tensorflow"]

        def made(spec: Any, number: Any) -> Any:
            if isinstance(spec, dict):
                return {name: made(part, number) for name, part in spec.items()}
            if isinstance(spec, list):
                return tuple(made(part, number) for part in spec)
            dtype, shape = spec
            shape = self._in_place_of(tuple(shape)) or self._fitting(shape)
            if dtype == "string":
                return tensorflow.fill(shape, tensorflow.strings.as_string(number))
            if len(shape) > 2 and dtype != "bool":
                return tensorflow.broadcast_to(tensorflow.cast(stripes(shape[-2], number), dtype), shape)
            return tensorflow.fill(shape, tensorflow.cast(number % 2, dtype))

        def stripes(width: int, number: Any) -> Any:
            """Zeros and ones that no shift along the axis leaves as they were, so that what is cut out shows."""
            drawn = tensorflow.random.stateless_uniform([width, 1], [7, 7], 0, 2, "int64")
            return (drawn + number) % 2

        def elements(number: Any) -> Any:
            return made(element, number)

        # AutoGraph takes half a second to read this module, and there is nothing in it for it to change.
        plain = tensorflow.autograph.experimental.do_not_convert(elements)
        return tensorflow.data.Dataset.range(count).map(plain)

    def object(self, **fields: Any) -> Any:
        """An object with these attributes."""
        return types.SimpleNamespace(**fields)
