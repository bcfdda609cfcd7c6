"""tf.data: steps and what they do to the element and the count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.model.transfer.sources import INT64, STRING, D
from tfmemlint.model.transfer.structures import as_tensor, call_name, rows
from tfmemlint.model.transfer.table import map_structure, models
from tfmemlint.model.values import (
    Api,
    Array,
    Const,
    Dataset,
    Function,
    Instance,
    Iterator,
    Length,
    Method,
    Sequence,
    Step,
    Unknown,
    Value,
    integer,
    one_of,
)

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

_KEEP = ("cache", "prefetch", "with_options", "snapshot", "ignore_errors", "shuffle", "unique", "filter", "shard",
         "take_while", "rejection_resample", "fingerprint", "sparse_batch", "window", "group_by_window",
         "bucket_by_sequence_length", "flat_map", "interleave", "scan", "apply", "rebatch", "ragged_batch")  # fmt: skip


@models(*(f"{D}.{name}" for name in (
    *_KEEP, "map", "batch", "padded_batch", "unbatch", "repeat", "take", "skip", "enumerate",
)))  # fmt: skip
def _step(call: Call, target: Value) -> Value:
    before = target.receiver if isinstance(target, Method) else Unknown("called on the class")
    if not isinstance(before, Dataset):
        return Dataset(None, call)
    name = call_name(target).rpartition(".")[2]
    if name == "apply":
        return _apply(call, before)
    after = before.with_step(Step(name, call))
    change = _CHANGES.get(name)
    return change(call, after) if change is not None else after


TRANSFORMATIONS: dict[str, tuple[str, ...]] = {
    "map_and_batch": ("map", "batch"), "shuffle_and_repeat": ("shuffle", "repeat"), "unbatch": ("unbatch",),
    "dense_to_ragged_batch": ("ragged_batch",), "dense_to_sparse_batch": ("sparse_batch",),
    "prefetch_to_device": ("prefetch",), "copy_to_device": ("with_options",), "parallel_interleave": ("interleave",),
    "bucket_by_sequence_length": ("bucket_by_sequence_length",), "group_by_window": ("group_by_window",),
    "ignore_errors": ("ignore_errors",), "unique": ("unique",), "take_while": ("take_while",), "scan": ("scan",),
    "assert_cardinality": ("with_options",), "enumerate_dataset": ("enumerate",), "snapshot": ("snapshot",),
    "rejection_resample": ("rejection_resample",),
}  # fmt: skip
"""Transformations for `apply`, as the steps that they are."""


@models(*(f"tf.data.experimental.{name}" for name in TRANSFORMATIONS))
def _transformation(call: Call, target: Value) -> Value:
    return Instance(call_name(target), call)


def _apply(call: Call, before: Dataset) -> Value:
    function = call.value_of("transformation_func")
    return one_of(_transformed(option, call, before) for option in function.options)


def _transformed(option: Value, call: Call, before: Dataset) -> Value:
    if isinstance(option, Function):
        result = call.evaluator.functions.apply(option, call, (before,))
        if result.known:
            return result
    elif isinstance(option, Instance) and option.type_name is not None and option.call is not None:
        names = TRANSFORMATIONS.get(option.type_name.rpartition(".")[2], ())
        after = before
        for name in names:
            after = after.with_step(Step(name, option.call))
            change = _CHANGES.get(name)
            after = change(option.call, after) if change is not None else after
        if names:
            return after
    return replace(before.with_step(Step("apply", call)), element=Unknown("element"), count=None)


def _batched(call: Call, ds: Dataset) -> Dataset:
    size = integer(call.value_of("batch_size"))
    element = map_structure(
        lambda leaf: replace(leaf, shape=None if leaf.shape is None else (size, *leaf.shape))
        if isinstance(leaf, Array) else leaf, ds.element,
    )  # fmt: skip
    full = call.arg("drop_remainder") is not None and call.value_of("drop_remainder") == Const(True)
    count = None if ds.count is None or not size else ds.count // size if full else -(-ds.count // size)
    return replace(ds, element=element, count=count)


def _padded(call: Call, ds: Dataset) -> Dataset:
    size = integer(call.value_of("batch_size"))
    element = map_structure(
        lambda leaf: replace(leaf, shape=None if leaf.shape is None else (size, *[None] * len(leaf.shape)))
        if isinstance(leaf, Array) else leaf, ds.element,
    )  # fmt: skip
    return replace(ds, element=element, count=_batched(call, ds).count)


def _flattened(call: Call, ds: Dataset) -> Dataset:
    """`flat_map` and `interleave`: elements of the pipelines that the function makes."""
    inner = inner_pipelines(call, ds.element)
    elements = {one.element for one in inner}
    return replace(ds, element=elements.pop() if len(elements) == 1 else Unknown("element"), count=None)


def inner_pipelines(call: Call, element: Value) -> tuple[Dataset, ...]:
    """The pipelines that the function of an `interleave` or `flat_map` makes; empty where any is not seen."""
    arguments = element.items if isinstance(element, Sequence) and element.kind == "tuple" else (element,)
    found: list[Dataset] = []
    for option in call.value_of("map_func").options:
        if isinstance(option, Function):
            made = call.evaluator.functions.apply(option, call, arguments)
        else:
            made = (
                Dataset(option.name, None, (), STRING)
                if isinstance(option, Api) and option.name in LINES
                else Unknown("inner")
            )
        if not all(isinstance(one, Dataset) for one in made.options):
            return ()
        found += [one for one in made.options if isinstance(one, Dataset)]
    return tuple(found)


LINES = frozenset({"tf.data.TFRecordDataset", "tf.data.TextLineDataset"})


def _mapped(call: Call, ds: Dataset) -> Dataset:
    function = call.value_of("map_func")
    arguments = ds.element.items if isinstance(ds.element, Sequence) else (ds.element,)
    results = [
        call.evaluator.functions.apply(option, call, arguments) if isinstance(option, Function) else Unknown("mapped")
        for option in function.options
    ]
    element = one_of(results)
    element = map_structure(as_tensor, element) if element.known else Unknown("what the mapped function returns")
    return replace(ds, element=element)


def _changed(ds: Dataset) -> Dataset:
    return replace(ds, element=Unknown("element"), count=None)


def _repeated(call: Call, ds: Dataset) -> Dataset:
    times = integer(call.value_of("count"))
    return replace(ds, count=ds.count * times if ds.count is not None and times is not None and times > 0 else None)


def _taken(call: Call, ds: Dataset) -> Dataset:
    n = integer(call.value_of("count"))
    if n is None or n < 0:
        return replace(ds, count=ds.count if n == -1 else None)
    return replace(ds, count=n if ds.count is None else min(n, ds.count))


def _skipped(call: Call, ds: Dataset) -> Dataset:
    n = integer(call.value_of("count"))
    return replace(ds, count=max(0, ds.count - n) if ds.count is not None and n is not None and n >= 0 else None)


_CHANGES: dict[str, Callable[[Call, Dataset], Dataset]] = {
    "batch": _batched, "padded_batch": _padded, "flat_map": _flattened, "interleave": _flattened, "map": _mapped,
    "repeat": _repeated,
    "take": _taken, "skip": _skipped, "shard": lambda call, ds: replace(ds, count=None),
    "enumerate": lambda call, ds: replace(ds, element=Sequence((INT64, ds.element))),
    "unbatch": lambda call, ds: replace(ds, element=map_structure(rows, ds.element), count=None),
    "filter": lambda call, ds: replace(ds, count=None),
    **{name: lambda call, ds: _changed(ds) for name in ("scan", "window", "group_by_window",
       "bucket_by_sequence_length", "rebatch", "ragged_batch", "sparse_batch", "take_while", "unique",
       "rejection_resample", "ignore_errors")},
}  # fmt: skip


@models(f"{D}.as_numpy_iterator")
def _numpy_iterator(call: Call, target: Value) -> Value:
    receiver = target.receiver if isinstance(target, Method) else Unknown("dataset")
    item = map_structure(lambda leaf: replace(leaf, library="np") if isinstance(leaf, Array) else leaf,
                         receiver.element if isinstance(receiver, Dataset) else Unknown("element"))  # fmt: skip
    return Iterator(receiver, item, "as_numpy_iterator")


@models(f"{D}.cardinality", "tf.data.experimental.cardinality", f"{D}.__len__")
def _cardinality(call: Call, target: Value) -> Value:
    of = target.receiver if isinstance(target, Method) else call.value_of("dataset")
    return Length(of, of.count if isinstance(of, Dataset) else None)


@models("tf.distribute.Strategy.experimental_distribute_dataset")
def _distributed(call: Call, target: Value) -> Value:
    given = call.value_of("dataset")
    options = [
        replace(ds.with_step(Step("distribute", call)), element=Unknown("a value for each replica"))
        if isinstance(ds, Dataset) else Unknown("a distributed dataset") for ds in given.options
    ]  # fmt: skip
    return one_of(options)


@models("tf.compat.v1.data.make_one_shot_iterator", "tf.compat.v1.data.make_initializable_iterator",
        f"{D}.make_one_shot_iterator", f"{D}.make_initializable_iterator")  # fmt: skip
def _old_iterator(call: Call, target: Value) -> Value:
    of = target.receiver if isinstance(target, Method) else call.value_of("dataset")
    return Iterator(of, of.element if isinstance(of, Dataset) else Unknown("element"), "iter")
