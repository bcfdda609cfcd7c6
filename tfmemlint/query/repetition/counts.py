"""How often a loop runs, where the code says it."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import (
    COMPREHENSION,
    Array,
    Const,
    Dataset,
    Iterator,
    Length,
    Mapping,
    Sequence,
    Value,
    integer,
)
from tfmemlint.query.limits import RUN_THROUGH
from tfmemlint.query.repetition.filled import filled_items
from tfmemlint.syntax.scopes import Binds, dotted
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

VIEWS = frozenset({"items", "values", "keys"})
GROWS = frozenset({"repeat", "unbatch", "flat_map", "interleave", "concatenate", "apply"})
"""Steps of a pipeline after which there may be more elements than before."""

ADDS = ("append", "extend", "insert")
"""Methods after which a list has more items than it was made with."""

FEWER = frozenset({"filter", "set", COMPREHENSION})
"""What leaves some of the items out, or all of them in."""


def count(file: File, loop: Node) -> int | None:
    """The most iterations that a `for` loop, a comprehension, a `while i < n` that counts or one that fills a list can
    have (`while len(found) < n`), as far as the code says it, `if i == 3: break` included; fewer if left otherwise.
    None where nothing is said, which is never taken for many or for few."""
    if isinstance(loop, cst.BaseComp):
        counts = [items_in(file, each.iter) for each in walk(loop.for_in) if isinstance(each, cst.CompFor)]
        return None if None in counts else prod(each for each in counts if each is not None)
    if isinstance(loop, cst.CompFor):
        return items_in(file, loop.iter)
    if isinstance(loop, cst.For):
        return _least((items_in(file, loop.iter), _left_after(file, loop)))
    if isinstance(loop, cst.While):
        return _least((_counted_up(file, loop), _filled_up(file, loop), _left_after(file, loop)))
    return None


def items_in(file: File, iterated: cst.BaseExpression) -> int | None:
    """The most items that an expression gives when it is run over; None where the code does not say it."""
    found = most_items(file.value(iterated))
    if found is None:
        found = filled_items(file, called_view(iterated) or iterated)
    if found is None and not any(file.method_calls.get((word, dotted(iterated))) for word in ADDS):
        found = _in_part(file, file.written(iterated))
    iterated = file.written(iterated)
    if found is not None or not isinstance(iterated, cst.Call):
        return found
    if called_view(iterated) is not None:
        return most_items(file.value(called_view(iterated) or iterated))
    call = file.call(iterated)
    if call.method == "take" and call.receiver_node is not None:  # of whatever pipeline
        counts = [integer(option) for option in call.value_of("count").options] if call.names else []
        counts = counts or [integer(option) for option in call.value_of(0).options]
        return _largest(count if count is None or count >= 0 else None for count in counts)
    if call.method in RUN_THROUGH and iterated.args:
        return items_in(file, iterated.args[0].value)
    if call.name == "builtins.range" and len(iterated.args) == 1:
        return _length(file, iterated.args[0].value)
    if call.name == "builtins.zip":
        return _least(items_in(file, arg.value) for arg in iterated.args)
    if call.method == "split" and call.receiver_node is not None:
        return folds(file, call.receiver_node)
    return None


def _length(file: File, node: cst.BaseExpression) -> int | None:
    """The most that `len(x)`, or a name for it, gives."""
    node = file.written(node)
    call = file.call(node) if isinstance(node, cst.Call) else None
    return items_in(file, call.node.args[0].value) if call is not None and _is_length(call) else None


def _is_length(call: Call) -> bool:
    return call.name == "builtins.len" and len(call.node.args) == 1


def folds(file: File, splitter: cst.BaseExpression) -> int | None:
    """The parts into which an object of scikit-learn certainly splits data: 10 of `KFold(n_splits=10)`."""
    made = file.written(splitter)
    call = file.call(made) if isinstance(made, cst.Call) else None
    if call is None or not knowledge.in_group(call.name, "splits_folds"):
        return None
    return integer(call.given(0, "n_splits"))


def _in_part(file: File, node: cst.BaseExpression) -> int | None:
    """The most items in a part of something of unknown length: `files[:5]`, `random.sample(files, 5)`."""
    if isinstance(node, cst.Subscript):
        index = node.slice[0].slice
        return in_slice(file, index) if isinstance(index, cst.Slice) else None
    call = file.call(node) if isinstance(node, cst.Call) else None
    if call is None or not knowledge.in_group(call.name, "samples_items"):
        return None
    number = call.given("k") if call.arg("k") is not None else call.given(1)
    return _largest(integer(option) for option in number.options)


def in_slice(file: File, cut: cst.Slice) -> int | None:
    """The most items between the bounds of a slice, of whatever length that is cut: `x[:8]`, `x[-3:]`, `x[i : i + 8]`.
    None where the bounds do not say it."""
    lower, upper = cut.lower, cut.upper
    if lower is not None and isinstance(upper, cst.BinaryOperation) and isinstance(upper.operator, cst.Add):
        sides = (upper.left, upper.right), (upper.right, upper.left)
        numbers = (integer(file.value(n)) for side, n in sides if file.text(side) == file.text(lower))
        found = next(numbers, None)
    elif lower is not None and upper is None and (last := _before_end(file, cut, lower)) is not None:
        found = last
    else:
        first = integer(file.value(lower)) if lower is not None else 0
        ends = [integer(option) for option in file.value(upper).options] if upper is not None else [0]
        known = [end for end in ends if end is not None]
        if first is None or not known or len(known) < len(ends):
            return None
        if any((first < 0) != (end < 0 or upper is None) for end in known):
            return None  # counted from both ends, or to the other end
        found = max(known) - first
    return max(0, found) if found is not None else None


def _before_end(file: File, cut: cst.Slice, lower: cst.BaseExpression) -> int | None:
    """The items behind a bound that is counted back from the end of what is cut: 18 of `table.iloc[len(table) - 18 :]`,
    also where a name holds the bound."""
    bound = file.written(lower)
    if not isinstance(bound, cst.BinaryOperation) or not isinstance(bound.operator, cst.Subtract):
        return None
    length = file.call(bound.left) if isinstance(bound.left, cst.Call) else None
    part = next((above for above in file.tree.ancestors(cut) if isinstance(above, cst.Subscript)), None)
    if length is None or part is None or not _is_length(length):
        return None
    whole, counted = file.text(part.value).removesuffix(".iloc"), file.text(length.node.args[0].value)
    return integer(file.value(bound.right)) if whole == counted else None


def called_view(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The dictionary of `d.items()` and its like; None for any other expression."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and not node.args:
        return node.func.value if node.func.attr.value in VIEWS else None
    return None


def most_items(value: Value) -> int | None:
    """The number of items of a value, or the most it can have; None where it is not known."""
    if len(value.options) > 1:
        return _largest(most_items(option) for option in value.options)
    if isinstance(value, (Sequence, Mapping)):
        return None if value.open else len(value.items)
    if isinstance(value, Array):
        return value.shape[0] if value.shape else None
    if isinstance(value, Dataset):
        return _taken(value)
    return _of_iterator(value) if isinstance(value, Iterator) else None


def _taken(pipeline: Dataset) -> int | None:
    """What `take` leaves of a pipeline. The size of literal data does not count: in code that is shown or tested, a
    few rows stand for many."""
    found: int | None = None
    for step in pipeline.steps:
        if step.name == "take" and step.call is not None:
            count = integer(step.call.value_of("count"))
            found = count if count is not None and count >= 0 else found
        elif step.name in GROWS:
            found = None
    return found


def _of_iterator(iterator: Iterator) -> int | None:
    if iterator.function == "zip" and isinstance(iterator.of, Sequence):
        return _least(most_items(part) for part in iterator.of.items)
    if isinstance(iterator.of, Length):
        return iterator.of.count
    return most_items(iterator.of) if iterator.function in RUN_THROUGH | FEWER else None


def _largest(counts: Iterable[int | None]) -> int | None:
    found = list(counts)
    known = [count for count in found if count is not None]
    return max(known) if known and len(known) == len(found) else None


def _least(counts: Iterable[int | None]) -> int | None:
    """The number of items of the shortest part whose number is known: what runs over all has no more."""
    return min((count for count in counts if count is not None), default=None)


@once_per_file
def _left_after(file: File, loop: cst.For | cst.While) -> int | None:
    """The iterations after which `if i == 3: break` leaves a loop that counts in `i`."""
    for statement in loop.body.body:
        test = statement.test if isinstance(statement, cst.If) else None
        if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or not isinstance(test.left, cst.Name):
            continue
        limit = integer(file.value(test.comparisons[0].comparator))
        leaves = any(isinstance(each, cst.Break) for each in walk(statement))
        if limit is not None and leaves and _counts(file, loop, test.left):
            return max(limit, 0) + 1
    return None


def _counts(file: File, loop: cst.For | cst.While, name: cst.Name) -> bool:
    """Whether a loop counts in a variable: `for i in range(n)`, `for i, x in enumerate(data)`, `i += 1`."""
    if isinstance(loop, cst.For):
        target = loop.target.elements[0].value if isinstance(loop.target, cst.Tuple) else loop.target
        function = getattr(file.value(loop.iter), "function", getattr(file.value(loop.iter), "kind", ""))
        if isinstance(target, cst.Name) and target.value == name.value:
            return function == ("enumerate" if isinstance(loop.target, cst.Tuple) else "range")
    return any(d.binds is Binds.AUGMENTED for d in file.definitions(name))


def _counted_up(file: File, loop: cst.While) -> int | None:
    """The iterations of `while i < 1000`, where `i` starts at a number and one number is added to it."""
    test = loop.test
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or not isinstance(test.left, cst.Name):
        return None
    compared = test.comparisons[0]
    limit = integer(file.value(compared.comparator))
    if limit is None or not isinstance(compared.operator, (cst.LessThan, cst.LessThanEqual)):
        return None
    definitions = file.definitions(test.left)
    starts = [file.value(d.value) for d in definitions if d.binds is Binds.VALUE and d.value is not None]
    steps = [file.value(d.value.value) for d in definitions
             if isinstance(d.value, cst.AugAssign) and isinstance(d.value.operator, cst.AddAssign)]  # fmt: skip
    if len(starts) != 1 or len(steps) != 1 or len(definitions) != 2 or not isinstance(starts[0], Const):
        return None
    start, step = integer(starts[0]), integer(steps[0])
    if start is None or step is None or step <= 0:
        return None
    beyond = limit - start + isinstance(compared.operator, cst.LessThanEqual)
    return max(0, -(-beyond // step))


def _filled_up(file: File, loop: cst.While) -> int | None:
    """The iterations of `while len(found) < 21`, each of which certainly puts an item into the list."""
    test = loop.test
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or not isinstance(test.left, cst.Call):
        return None
    compared, length = test.comparisons[0], file.call(test.left)
    if not _is_length(length):
        return None
    limit, filled = integer(file.value(compared.comparator)), file.text(length.node.args[0].value)
    if limit is None or not isinstance(compared.operator, (cst.LessThan, cst.LessThanEqual)):
        return None
    lines = [line for line in loop.body.body if isinstance(line, cst.SimpleStatementLine)]
    calls = [each.value for line in lines for each in line.body if isinstance(each, cst.Expr)]
    puts = (call.func for call in calls if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute))
    if not any(put.attr.value in ("append", "insert") and file.text(put.value) == filled for put in puts):
        return None
    return max(0, limit + isinstance(compared.operator, cst.LessThanEqual))
