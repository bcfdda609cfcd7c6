"""Lets rows be split into parts of the same size that are not as many as those of the files which the program has;
loaded by `main.py`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any


def install(any_made_up: Callable[[], bool], note: Callable[[str], None]) -> None:
    """Leave out the last rows of what does not fall into such parts, where data was made up before."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None:
        return
    split = numpy.split

    @functools.wraps(split)
    def parts(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
        try:
            return split(ary, indices_or_sections, axis)
        except ValueError:
            count = indices_or_sections
            size = numpy.shape(ary)[axis]
            if not any_made_up() or not isinstance(count, (int, float)) or not 1 <= int(count) <= size:
                raise
            rest = size % int(count)
            note(f"{rest} of {size} made-up rows were left out: they were to be split into {int(count)} even parts")
            first = [slice(None)] * numpy.ndim(ary)
            first[axis] = slice(size - rest)
            return split(ary[tuple(first)], int(count), axis)

    numpy.split = parts
