"""The layers that a `Sequential` is given: in its list, and by `model.add(...)`, also in loops over a few items.

What is added in a branch, in another loop or by a function ends what is known.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.model.calls import Call
from tfmemlint.model.layers.helpers import CHANGES, changed_by_functions, given_to_others
from tfmemlint.model.unrolled import Assumption, assuming, unroll
from tfmemlint.model.values import Const, Sequence, Value
from tfmemlint.syntax.scopes import dotted

Step = tuple[Value | None, Assumption | None]
"""A layer, and the iteration of the loop in which it is added; no layer where it is not certain, and nothing after."""

UNKNOWN: Step = (None, None)


def steps(model: Call) -> Iterator[Step]:
    """The layers of a `Sequential`, in order."""
    listed = model.value_of("layers")
    if model.open or (model.arg("layers") is not None and listed != Const(None)):
        if not isinstance(listed, Sequence) or listed.open:
            yield UNKNOWN
            return
        yield from ((layer, None) for layer in listed.items)
    yield from _added(model)


def _added(model: Call) -> Iterator[Step]:
    """What `model.add(...)` adds later in the same function."""
    file = model.evaluator.file
    assign = file.tree.parent(model.node)
    if not isinstance(assign, (cst.Assign, cst.AnnAssign)):
        return
    target = assign.target if isinstance(assign, cst.AnnAssign) else assign.targets[0].target
    within = file.tree.parent(file.tree.statement(assign))
    changes = _in_order(model, target)
    looped: set[int] = set()
    for node in changes:
        receiver = node.func.value if isinstance(node.func, cst.Attribute) else None
        alone = _only(model, node) and type(receiver) is type(target) and model.evaluator.call(node).method == "add"
        if not alone or not node.args or within is None:
            yield UNKNOWN
            return
        if not file.contexts.conditional(node, within):
            yield model.evaluator.call(node, model.frame).value_of(0), None
            continue
        loop = file.contexts.loop(node)
        if isinstance(loop, cst.For) and id(loop) in looped:
            continue
        group = _group(model, loop, changes) if isinstance(loop, cst.For) else None
        found = unroll(model.evaluator, loop, model.frame) if group and isinstance(loop, cst.For) else None
        if found is None or loop is None or file.contexts.conditional(loop, within):
            yield UNKNOWN
            return
        looped.add(id(loop))
        for iteration in found.iterations:
            for member in group or ():
                with assuming(model.evaluator, iteration):
                    layer = model.evaluator.call(member, model.frame).value_of(0)
                yield layer, iteration


def _in_order(model: Call, target: cst.BaseExpression) -> list[cst.Call]:
    """The calls that may change the layers of a model. One of a function that is not known is taken for such only
    where layers are added behind it: a finished model is given to what trains or shows it."""
    file = model.evaluator.file
    bindings = file.flow(file.scope_of(model.node)).bindings.get(dotted(target) or "", [])
    made = next((each for each in bindings if each.value is model.node), None)
    changes = list(_changes(model))
    if made is not None:
        changes += changed_by_functions(model, made)
        last = max(map(file.tree.order, changes), default=0)
        changes += given_to_others(model, made, last)
    return sorted(changes, key=file.tree.order)


def _changes(model: Call) -> Iterator[cst.Call]:
    """The calls of `add` and `pop` that may be of this model."""
    file = model.evaluator.file
    flow = file.flow(file.scope_of(model.node))
    for node in (each for word in CHANGES for each in file.home(model.node).calls_by_word.get(word, ())):
        receiver = node.func.value if isinstance(node.func, cst.Attribute) else None
        reaching = flow.uses.get(id(receiver), ()) if receiver is not None else ()
        if any(d.value is model.node for d in reaching):
            yield node


def _only(model: Call, node: cst.Call) -> bool:
    """Whether a call is certainly of this model."""
    file = model.evaluator.file
    receiver = node.func.value if isinstance(node.func, cst.Attribute) else None
    return len(file.flow(file.scope_of(model.node)).uses.get(id(receiver), ())) == 1


def _group(model: Call, loop: cst.For, changes: list[cst.Call]) -> list[cst.Call] | None:
    """The calls in a loop, all of them statements of its body; None where one is not."""
    tree = model.evaluator.tree
    inside = [node for node in changes if tree.contains(loop, node)]
    plain = all(tree.parent(tree.statement(node)) is loop.body and node.args and _only(model, node) for node in inside)
    added = all(isinstance(node.func, cst.Attribute) and node.func.attr.value == "add" for node in inside)
    return inside if plain and added else None
