"""The graph of a model, applied again to other tensors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.estimate.facts import shaped
from tfmemlint.estimate.facts.recorded import Node
from tfmemlint.estimate.facts.values import Traced
from tfmemlint.knowledge import shapes
from tfmemlint.model.arithmetic import broadcast
from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import Array, Shape

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine


ARITHMETIC = frozenset({"add", "subtract", "multiply", "divide", "maximum", "minimum", "power"})


def replay(machine: Machine, node: Node, now: dict[int, Traced], training: bool | None) -> None:
    """Apply again what one node applied, to other tensors."""
    record = machine.record
    given = [now.get(number) or record.tensors[number] for number in node.inputs]
    said = training if node.training is None else node.training
    if node.inside is not None:
        outer, record.now = record.now, []
        for each in node.inside:
            replay(machine, each, now, said)
        inside, record.now = record.now, outer
        made = tuple(now[number].number for number in node.outputs if number in now)
        record.add(replace(node, inputs=tuple(t.number for t in given), outputs=made, inside=inside, training=said))
        return
    old = [record.tensors[number] for number in node.outputs]
    shapes: list[Shape | None]
    if node.op is not None:
        found = shaped.of_layer(node.op, [t.shape for t in given])
        shapes = list(found) if found is not None else _same(node, record.tensors, given, old)
    else:
        found = None
        shapes = _once_more(node, given, old) or _same(node, record.tensors, given, old)
    library = "keras" if any(t.library == "keras" for t in given) else "tf"
    tensors = [record.tensor(shape, t.dtype, library) for shape, t in zip(shapes, old, strict=False)]
    now.update((t.number, new) for t, new in zip(old, tensors, strict=False))
    known = node.op is None or found is not None
    why = (node.why if not known else "") or ("" if None not in shapes else f"what `{node.kind}` gives")
    record.add(replace(
        node, inputs=tuple(t.number for t in given), outputs=tuple(t.number for t in tensors), training=said, why=why
    ))  # fmt: skip


def _once_more(node: Node, given: list[Traced], old: list[Traced]) -> list[Shape | None] | None:
    """The shapes of an operation's outputs, asked for again; None where they are not all known."""
    if node.again is None or all(t.shape is not None and None not in t.shape[1:] for t in old):
        return None
    made = node.again(dict(zip(node.inputs, given, strict=True)))
    arrays = [leaf for leaf in elements(made) if isinstance(leaf, Array)] if made is not None else []
    shapes = [leaf.shape for leaf in arrays]
    return shapes if len(shapes) == len(old) and None not in shapes else None


def _same(node: Node, tensors: list[Traced], given: list[Traced], old: list[Traced]) -> list[Shape | None]:
    """The shapes of an operation's outputs: those that it gave before, for inputs of the same shapes, or what
    broadcasting gives, if that is what it gave before."""
    before = [tensors[number].shape for number in node.inputs]
    now = [t.shape for t in given]
    if all(_alike(a, b) for a, b in zip(before, now, strict=True)):
        return [t.shape for t in old]
    joined, was = now[0], before[0]
    for a, b in zip(now[1:], before[1:], strict=True):
        joined, was = broadcast(joined, a), broadcast(was, b)
    if node.kind in ARITHMETIC:
        return [joined for _ in old]
    known = was is not None and None not in was[1:]
    kept = known or node.kind in shapes.KEEPS or node.kind in shapes.ELEMENTWISE
    return [joined if kept and t.shape is not None and t.shape == was else None for t in old]


def _alike(one: Shape | None, other: Shape | None) -> bool:
    return one is not None and other is not None and one[1:] == other[1:]
