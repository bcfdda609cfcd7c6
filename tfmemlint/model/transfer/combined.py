"""Pipelines that are made of several others: joined one after the other, mixed, zipped, or folded by `reduce`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.model.transfer.structures import call_name
from tfmemlint.model.transfer.table import elements, models
from tfmemlint.model.values import (
    Api,
    Const,
    Dataset,
    Function,
    Iterator,
    Mapping,
    Method,
    Sequence,
    Unknown,
    Value,
    one_of,
)

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

D = "tf.data.Dataset"
LISTS = frozenset({"list", "tuple", "comprehension", "iter", "reversed", "sorted"})
"""Iterators whose items are those of one list, as many as nobody knows."""


@models(f"{D}.zip", f"{D}.sample_from_datasets", f"{D}.choose_from_datasets", f"{D}.concatenate",
        "tf.data.experimental.sample_from_datasets", "tf.data.experimental.choose_from_datasets")  # fmt: skip
def _several(call: Call, target: Value) -> Value:
    name = call_name(target)
    if call.open:
        return Dataset(name, call)
    kind = name.rpartition(".")[2]
    given: list[Value] = [target.receiver] if isinstance(target, Method) else []
    if kind == "zip":
        given += [call.evaluator.value(arg.value, call.frame) for arg in call.node.args]
    else:
        given.append(call.value_of("dataset" if kind == "concatenate" else "datasets"))
    if kind == "concatenate":
        return _joined(call, given)
    if len(given) == 1 and _of_unknown_number(given[0]):
        return _of_list(name, call, _pipelines(_of_unknown_number(given[0])))
    parts = _pipelines(list(elements(given[0])) if len(given) == 1 else given)
    if not parts:
        return Dataset(None, call)
    if kind != "zip":
        return Dataset(name, call, (), parts[0].element, None, parts)
    element: Value = Sequence(tuple(part.element for part in parts))
    if isinstance(call.value_of(0), Mapping):
        element = Unknown("a dictionary")
    return Dataset(name, call, (), element, _fewest(parts), parts)


def _joined(call: Call, given: list[Value]) -> Dataset:
    parts = _pipelines(given)
    if not parts:
        return Dataset(None, call)
    counts = [part.count for part in parts if part.count is not None]
    total = sum(counts) if len(counts) == len(parts) else None
    return Dataset(f"{D}.concatenate", call, (), parts[0].element, total, parts)


def _fewest(parts: tuple[Dataset, ...]) -> int | None:
    counts = [part.count for part in parts if part.count is not None]
    return min(counts) if len(counts) == len(parts) else None


def _pipelines(given: list[Value]) -> tuple[Dataset, ...]:
    """What is given, if all of it is known as pipelines."""
    parts = tuple(each for each in given if isinstance(each, Dataset))
    return parts if len(parts) == len(given) else ()


def _of_unknown_number(value: Value) -> list[Value]:
    """What the items of a list are, if all are pipelines and their number is not known; else none."""
    options = list(value.item.options) if isinstance(value, Iterator) and value.function in LISTS else []
    return options if _pipelines(options) else []


def _of_list(name: str, call: Call, parts: tuple[Dataset, ...]) -> Dataset:
    """A pipeline that is made of all pipelines of a list."""
    zipped = name.endswith(".zip")
    element = Unknown("an element of each of several") if zipped else parts[0].element
    return Dataset(name, call, (), element, None, parts)


@models("functools.reduce")
def _folded(call: Call, target: Value) -> Value:
    """Pipelines that a function makes one of, two at a time: `reduce(lambda a, b: a.concatenate(b), parts)`."""
    of = call.value_of(1)
    items = list(of.items) if isinstance(of, Sequence) and not of.open else _of_unknown_number(of)
    given = [] if call.arg(2) is None else [call.value_of(2)]
    parts = _pipelines([option for each in (*given, *items) for option in each.options])
    if not parts or call.open:
        return Unknown("what is folded is not known")
    parts = parts if isinstance(of, Sequence) else (*parts, parts[-1])
    made: Value = parts[0]
    for part in parts[1:]:
        made = _folded_once(call, made, part)
    whole = isinstance(of, Sequence) and len(parts) == len(items) + len(given)
    return made if whole else one_of(replace(o, count=None) if isinstance(o, Dataset) else o for o in made.options)


def _folded_once(call: Call, left: Value, right: Dataset) -> Value:
    function = call.value_of(0)
    if function == Api(f"{D}.concatenate"):
        return _joined(call, [left, right])
    made = [
        call.evaluator.functions.apply(option, call, (left, right)) if isinstance(option, Function) else Const(None)
        for option in function.options
    ]
    known = all(isinstance(option, Dataset) for each in made for option in each.options)
    return one_of(made) if known else Unknown("what is folded is not known")
