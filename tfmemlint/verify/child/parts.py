"""Lets made-up rows be split that are not as those of the files which the program has: into parts of the same size, and
into parts with a share of each class; loaded by `main.py`."""

from __future__ import annotations

import functools
import sys
import types
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


def by_class(any_made_up: Callable[[], bool], note: Callable[[str], None]) -> Callable[[types.ModuleType], None]:
    """What lets scikit-learn split rows of made-up classes at random, where some have too few for each part."""
    words = "made-up rows were split without regard to their classes, of which some have too few"

    def change(module: Any) -> None:
        split = module.train_test_split

        @functools.wraps(split)
        def drawn(*arrays: Any, stratify: Any = None, **options: Any) -> Any:
            try:
                return split(*arrays, stratify=stratify, **options)
            except ValueError:
                if stratify is None or not any_made_up():
                    raise
                note(words)
                return split(*arrays, **options)

        module.train_test_split = drawn
        for name in ("ShuffleSplit", "KFold"):
            kind, plain = getattr(module, f"Stratified{name}"), getattr(module, name)
            kind.split = _at_random(kind.split, plain, any_made_up, lambda: note(words))

    return change


def _at_random(split: Any, plain: Any, any_made_up: Callable[[], bool], say: Callable[[], None]) -> Any:
    """The method that gives the parts of a splitter; where it cannot, those of a plain one of the same settings."""

    @functools.wraps(split)
    def parts(splitter: Any, rows: Any, classes: Any, groups: Any = None) -> Any:
        try:
            yield from split(splitter, rows, classes, groups)
        except ValueError:
            if not any_made_up():
                raise
            say()
            same = plain.__new__(plain)
            vars(same).update(vars(splitter))
            yield from plain.split(same, rows)

    return parts
