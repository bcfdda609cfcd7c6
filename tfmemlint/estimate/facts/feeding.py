"""What a step is fed: the tensors of one batch and how many examples it has."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts import objects
from tfmemlint.estimate.facts.asked import Arguments
from tfmemlint.estimate.facts.values import NONE, Object, leaves, plain
from tfmemlint.model.values import Array, Const, Dataset, Iterator, Sequence, Value, integer

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine

DEFAULT_BATCH = 32
"""Examples of a batch that `fit` and `predict` make of arrays, unless they are told otherwise."""


BATCHES = frozenset({"batch", "padded_batch", "ragged_batch"})
UNBATCHES = frozenset({"unbatch", "flat_map", "interleave", "rebatch", "apply", "window"})
"""Steps of a pipeline behind which an element is a batch, or need not be one any more."""


@dataclass(slots=True)
class Feed:
    """The tensors of one batch: `inputs` are None where they are not known; those that are have None for the number of
    examples first. `batch` is None where it is not known. `structure` is what a pipeline gives at once."""

    inputs: list[Array] | None = None
    labels: list[Array] = field(default_factory=list)
    batch: int | None = None
    structure: Value | None = None


def of_arrays(x: Value, y: Value | None, batch: int | None) -> Feed:
    """What is given as whole arrays."""
    inputs = _arrays(x)
    labels = _arrays(y) if y is not None and y != NONE else []
    return Feed(_rows(inputs), _rows(labels) or [], batch)


def _arrays(value: Value) -> list[Array] | None:
    found = [leaf for leaf in leaves(value) if isinstance(leaf, Array)]
    return found if found and len(found) == len([leaf for leaf in leaves(value) if leaf != NONE]) else None


def _rows(arrays: list[Array] | None) -> list[Array] | None:
    """Arrays with the number of examples left open."""
    if arrays is None:
        return None
    return [replace(a, shape=(None, *a.shape[1:]) if a.shape else None) for a in map(_bare, arrays)]


def _bare(array: Array) -> Array:
    return Array(array.library, array.dtype, array.shape)


def of_element(element: Value) -> Feed:
    """One element of a pipeline or generator: the data, labels behind it, weights behind those."""
    element = plain(element)
    parts = element.items if isinstance(element, Sequence) and element.kind == "tuple" else (element,)
    inputs = _arrays(parts[0]) if parts else None
    labels = [a for part in parts[1:2] for a in _arrays(part) or []]
    sizes = {a.shape[0] for a in [*(inputs or []), *labels] if a.shape}
    known = [n for n in sizes if n is not None]
    return Feed(_rows(inputs), _rows(labels) or [], known[0] if len(known) == 1 else None, element)


def batch_of(over: Value) -> int | None:
    """The examples in one element of a pipeline, or of what goes through one: by its element, else by its last step
    that makes batches."""
    if isinstance(over, Dataset):
        found = of_element(over.element).batch
        for step in reversed(over.steps) if found is None else ():
            if step.name in BATCHES and step.call is not None:
                return integer(step.call.given("batch_size"))
            if step.name in UNBATCHES:
                return None
        return found
    if isinstance(over, Iterator):
        inner = batch_of(over.of)
        return inner if inner is not None else of_element(over.item).batch
    return None


def of_call(machine: Machine, name: str, given: Arguments, node: cst.Call) -> Feed:
    """What `fit`, `train_on_batch` or `predict` is given."""
    x = given.get(0, "x", "generator")
    y = given.get(1, "y") if not name.endswith("generator") else None
    if name.startswith("predict"):
        y = None
    if x is None:
        return Feed()
    if isinstance(x, Dataset):
        found = of_element(x.element)
        found.batch = batch_of(x)
        return found
    if isinstance(x, Iterator):
        return of_element(x.item)
    if isinstance(x, Object):
        return _of_object(machine, x, node)
    if name in ("train_on_batch", "predict_on_batch"):
        return _one_batch(x, y)
    said = given.get(2 if name == "fit" else 1, "batch_size")
    batch = DEFAULT_BATCH if said is None or said == NONE else integer(said)
    if not x.known or isinstance(x, Const):
        as_arrays = (y is not None and y != NONE) or said is not None  # a pipeline is given without either
        return Feed(batch=batch if as_arrays else None)
    return _as_floats(of_arrays(x, y, batch))


def _as_floats(feed: Feed) -> Feed:
    """Arrays as Keras makes batches of them: floats as float32."""
    inputs = feed.inputs
    cast = [[replace(a, dtype="float32") if a.dtype == "float64" else a for a in each] for each in
            (inputs or [], feed.labels)]  # fmt: skip
    return replace(feed, inputs=cast[0] if inputs is not None else None, labels=cast[1])


def _one_batch(x: Value, y: Value | None) -> Feed:
    found = of_arrays(x, y, None)
    whole = [a for a in _arrays(x) or [] if a.shape]
    sizes = {a.shape[0] for a in whole if a.shape}
    found.batch = sizes.pop() if len(sizes) == 1 else None
    return found


def _of_object(machine: Machine, x: Object, node: cst.Call) -> Feed:
    """A Keras `Sequence` of the program: its first batch stands for all."""
    method = machine.method(x.of, "__getitem__") if x.of is not None else None
    if method is None:
        method = machine.method(x.of, "__next__") if x.of is not None else None
    if method is None:
        return Feed()
    positions = (Const(0),) if method[0].node.name.value == "__getitem__" else ()  # type: ignore[union-attr]
    found = machine.run(objects.with_receiver(method[0], x), positions, {}, node)
    return of_element(found)


