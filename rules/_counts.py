"""How often a loop runs, where the code says so."""

from __future__ import annotations

import libcst as cst
from tfmemlint_rules._python_numbers import starts_number

from tfmemlint.api import Array, Binds, File, Sequence, integer

WRAPPERS = frozenset(f"builtins.{name}" for name in ("reversed", "enumerate", "list", "tuple", "sorted", "iter"))


def count_of(iterated: cst.BaseExpression, file: File) -> int | None:
    """The number of items of a `range`, a display or an array, also under `reversed`, `enumerate`, `zip`."""
    iterated = file.written(iterated)
    if isinstance(iterated, cst.Call):
        name, given = file.call(iterated).name, [arg.value for arg in iterated.args]
        if name == "builtins.range":
            numbers = [integer(file.value(bound)) for bound in given]
            known = [n for n in numbers if n is not None]
            return len(range(*known)) if known and len(known) == len(numbers) and known[2:] != [0] else None
        if name in WRAPPERS and given:
            return count_of(given[0], file)
        if name == "builtins.zip" and given:
            counts = [count_of(part, file) for part in given]
            return None if None in counts else min(c for c in counts if c is not None)
    value = file.value(iterated)
    if isinstance(value, Sequence) and not value.open:
        return len(value.items)
    if isinstance(value, Array) and value.library == "np" and value.shape:
        return value.shape[0]
    return None


def rounds_of(loop: cst.While, file: File) -> int | None:
    """The number of rounds of `while i < 1000`, where `i` starts at a number and a number is added to it."""
    test = loop.test
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or not isinstance(test.left, cst.Name):
        return None
    if not isinstance(test.comparisons[0].operator, (cst.LessThan, cst.LessThanEqual)):
        return None
    limit = integer(file.value(test.comparisons[0].comparator))
    if limit is None or not starts_number(test.left, file):
        return None
    definitions = file.definitions(test.left)
    starts = [integer(file.value(d.value)) for d in definitions if d.binds is Binds.VALUE and d.value is not None]
    steps = [integer(file.value(d.value.value)) for d in definitions
             if isinstance(d.value, cst.AugAssign) and isinstance(d.value.operator, cst.AddAssign)]  # fmt: skip
    if len(starts) != 1 or len(steps) != 1 or starts[0] is None or not steps[0] or steps[0] < 0:
        return None
    return max(0, (limit - starts[0]) // steps[0])
