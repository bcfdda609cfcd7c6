"""Loops over a few known items, evaluated once for each of them: what a chain of layers is after

    for filters in (32, 64):
        x = layers.Conv2D(filters, 3)(x)
        x = layers.MaxPooling2D()(x)

Only straight bodies are followed: every name that the body gives on is assigned last in the body itself, and nothing
leaves the loop early.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.memo import latter
from tfmemlint.model.values import Array, Const, Iterator, Sequence, Value, unpacked
from tfmemlint.syntax.scopes import Binds, Definition, written
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.evaluate import Evaluator
    from tfmemlint.model.functions import Frame

MOST_ITEMS = 12
CALLED = "tf.keras.layers.Layer.__call__"
DEEPEST = 2
"""Loops in each other that are followed."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """One iteration: the values of the loop's targets, and of the names that the iteration before has left."""

    loop: cst.For
    items: dict[int, Value]
    carried: dict[int, Value]
    ended: list[object] = field(default_factory=list)
    """What was found in it: frames are known by the identities of their calls, which must stay taken."""


@dataclass(frozen=True, slots=True)
class Unrolled:
    """The iterations of a loop, and the values of the names that it assigns after the last."""

    iterations: tuple[Assumption, ...]
    after: dict[str, Value]


def of_layers(value: Value) -> bool:
    """Whether a value may be what a Keras layer gives."""
    arrays = [option for option in value.options if isinstance(option, Array)]
    return any(a.library == "keras" or (a.shape is None and getattr(a.origin, "name", "") == CALLED) for a in arrays)


def after_loop(evaluator: Evaluator, use: cst.Name, reaching: list[Definition], frame: Frame | None) -> Value | None:
    """What a name is after a loop that assigns it, or None where that cannot be followed."""
    tree = evaluator.tree
    loops = {id(loop): loop for d in reaching if (loop := _loop_without(evaluator, d, use)) is not None}
    if len(loops) != 1:
        return None
    loop = next(iter(loops.values()))
    if sum(tree.contains(loop.body, d.node) for d in reaching) != 1:
        return None
    found = unroll(evaluator, loop, frame)
    return found.after.get(use.value) if found is not None else None


def _loop_without(evaluator: Evaluator, definition: Definition, use: cst.Name) -> cst.For | None:
    """The outermost `for` loop around a definition that is not around the use."""
    around = [x for x in evaluator.file.contexts.loops(definition.node) if not evaluator.tree.contains(x, use)]
    last = around[-1] if around else None
    return last if isinstance(last, cst.For) else None


def carried(evaluator: Evaluator, reaching: list[Definition]) -> Value | None:
    """What the iteration before has left of a name, where a definition from outside of the loop comes, too."""
    for assumption in reversed(evaluator.assumptions):
        known = [assumption.carried[id(d)] for d in reaching if id(d) in assumption.carried]
        if known and any(not evaluator.tree.contains(assumption.loop, d.node) for d in reaching):
            return known[0]
    return None


@contextmanager
def assuming(evaluator: Evaluator, assumption: Assumption | None) -> Generator[None]:
    """Evaluate as in one iteration of a loop; what was known before is known again afterwards."""
    if assumption is None:
        yield
        return
    known = evaluator.memo.anew()
    evaluator.assumptions.append(assumption)
    try:
        yield
    finally:
        evaluator.assumptions.pop()
        assumption.ended.append(evaluator.memo.anew(known))


def unroll(evaluator: Evaluator, loop: cst.For, frame: Frame | None) -> Unrolled | None:
    """The iterations of a loop, or None where it has not a few known items and a straight body."""
    key = ("unrolled", id(loop), id(frame))
    return evaluator.memo.once(key, evaluator.iterations, loop, frame, start=None, meet=latter)


def iterations(evaluator: Evaluator, loop: cst.For, frame: Frame | None) -> Unrolled | None:
    """The iterations of a loop, worked out."""
    items = _listed(evaluator.value(loop.iter, frame))
    body = loop.body.body if isinstance(loop.body, cst.IndentedBlock) else ()
    leaves = (cst.Break, cst.Continue, cst.Return, cst.Yield)
    if items is None or not body or loop.orelse is not None or len(evaluator.assumptions) >= DEEPEST:
        return None
    if any(isinstance(node, leaves) for node in walk(loop.body)):
        return None
    flow = evaluator.file.flow(evaluator.file.scope_of(loop))
    targets, last = _bindings(evaluator, loop, flow.bindings)
    before = flow.at(loop)
    state: dict[str, Value] = {}
    for name in last:
        outside = written(before.get(name, ()))
        if outside:
            state[name] = evaluator.joined(outside, frame)
    followed = []
    for item in items:
        fixed = {id(d): unpacked(item, d.path) for d in targets}
        assumption = Assumption(loop, fixed, {id(d): state[name] for name, d in last.items() if name in state})
        followed.append(assumption)
        with assuming(evaluator, assumption):
            state = {**state, **{name: evaluator.definition(d, frame) for name, d in last.items()}}
    return Unrolled(tuple(followed), state)


def _bindings(
    evaluator: Evaluator, loop: cst.For, bindings: dict[str, list[Definition]]
) -> tuple[list[Definition], dict[str, Definition]]:
    """The definitions in a loop's target, and the last one of each name that the body itself assigns."""
    tree, targets, last = evaluator.tree, [], {}
    for name, definitions in bindings.items():
        targets += [d for d in definitions if tree.contains(loop.target, d.node)]
        inside = [d for d in definitions if tree.contains(loop.body, d.node)]
        if inside and inside[-1].binds in (Binds.VALUE, Binds.AUGMENTED):
            if tree.parent(tree.statement(inside[-1].node)) is loop.body:
                last[name] = inside[-1]
    return targets, last


def _listed(value: Value) -> tuple[Value, ...] | None:
    """The items of a display, a short `range` or a wrapper of one, or None."""
    found: Iterable[Value] | None = None
    if isinstance(value, Sequence) and not value.open:
        found = value.items
    elif isinstance(value, Iterator) and value.function in ("tqdm", "list", "tuple", "iter", "reversed"):
        found = _listed(value.of)
        found = found[::-1] if isinstance(found, tuple) and value.function == "reversed" else found
    elif isinstance(value, Iterator) and value.function == "enumerate":
        inner = _listed(value.of)
        found = None if inner is None else [Sequence((Const(i), item)) for i, item in enumerate(inner)]
    elif isinstance(value, Iterator) and value.function == "zip" and isinstance(value.of, Sequence):
        columns = [_listed(part) for part in value.of.items]
        known = [column for column in columns if column is not None]
        if len(known) == len(columns):
            found = [Sequence(row) for row in zip(*known, strict=False)]
    items = tuple(found) if found is not None else ()
    return items if 0 < len(items) <= MOST_ITEMS else None
