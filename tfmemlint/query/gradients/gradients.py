"""Gradients of embedding tables, which are sparse: they hold only the rows that were looked up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Array, Instance, Value, integer
from tfmemlint.query.flow.uses import Does, Use, uses
from tfmemlint.query.gradients.tapes import tape_of_gradient
from tfmemlint.syntax.scopes import Binds, dotted
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

EMBEDDING = "tf.keras.layers.Embedding"

WEIGHTS = frozenset({"trainable_variables", "trainable_weights", "variables", "weights"})

COUNTS = frozenset({"builtins.range", "builtins.enumerate"})


def sparse_gradients(file: File, gradient: Call) -> Iterator[Use]:
    """The uses of the gradients that are certainly sparse, of those that a call of a tape's `gradient` gives: of an
    `Embedding` layer's table, or of a variable of which the tape's block only looks up rows.

    Of a list of gradients these are the uses of the item, by its place; where the list holds one such item, also those
    of the names to which loops bind each item. Nothing is yielded where no gradient is known to be sparse.
    """
    given = gradient.arg("sources")
    sources = file.written(given.expression) if given is not None else None
    if isinstance(sources, (cst.List, cst.Tuple)):
        places = {i for i, each in enumerate(sources.elements) if _is_table(file, each.value, gradient)}
        yield from _of_list(file, gradient.node, places, every=len(places) == 1) if places else ()
    elif isinstance(sources, cst.Attribute) and sources.attr.value in WEIGHTS:
        owner = file.value(sources.value)
        layer = isinstance(owner, Instance) and owner.type_name == EMBEDDING
        if layer or _has_embedding(file, owner):
            yield from _of_list(file, gradient.node, {0} if layer else set(), every=True)
    elif given is not None and _is_table(file, given.expression, gradient):
        yield from uses(file, gradient.node)


# -- which gradients are sparse --------------------------------------------------------------------------------------


def _is_table(file: File, node: cst.BaseExpression, gradient: Call) -> bool:
    """Whether an expression is a table from which the tape's block only looks rows up."""
    tape, path = tape_of_gradient(file, gradient), dotted(node)
    if path is None:
        return False
    nodes = walk(tape.block.body, cst.Name, cst.Attribute) if tape is not None else ()
    reads = [n for n in nodes if dotted(n) == path and not file.tree.contains(gradient.node, n)]
    if isinstance(node, cst.Attribute) and node.attr.value == "embeddings":
        layer = file.value(node.value)
        known = isinstance(layer, Instance) and layer.type_name == EMBEDDING
    else:
        value = file.value(node)
        known = isinstance(value, Array) and value.variable and bool(reads)
    return known and all(_looked_up(file, read) for read in reads)


def _looked_up(file: File, read: Node) -> bool:
    argument = file.tree.parent(read)
    call = file.tree.parent(argument) if isinstance(argument, cst.Arg) else None
    if not isinstance(argument, cst.Arg) or not isinstance(call, cst.Call):
        return False
    lookup = file.call(call)
    return knowledge.in_group(lookup.name, "looks_up_rows") and lookup.receives("params", argument)


def _has_embedding(file: File, owner: Value) -> bool:
    """Whether a model certainly holds an `Embedding`: it is written in its list of layers, or in its class."""
    if not isinstance(owner, Instance):
        return False
    if owner.class_node is not None:
        init = file.values.classes.method(owner.class_node, "__init__")
        return init is not None and any(_is_embedding(file, each.value) for each in walk(init, cst.Assign))
    layers = owner.call.arg("layers") if owner.call is not None and owner.type_name == "tf.keras.Sequential" else None
    display = file.written(layers.expression) if layers is not None else None
    listed = display.elements if isinstance(display, (cst.List, cst.Tuple)) else ()
    return any(_is_embedding(file, element.value) for element in listed)


def _is_embedding(file: File, node: Node) -> bool:
    value = file.value(node)
    return isinstance(value, Instance) and value.type_name == EMBEDDING


# -- where they go ---------------------------------------------------------------------------------------------------


def _of_list(file: File, gradients: Node, places: set[int], *, every: bool) -> Iterator[Use]:
    """The uses of the items at these places of a list; with `every` also of the names to which loops bind each item."""
    for use in uses(file, gradients):
        if use.does is Does.ITEM and isinstance(use.place, cst.Subscript):
            index = use.place.slice[0].slice
            at = index.value if isinstance(index, cst.Index) and len(use.place.slice) == 1 else None
            if at is not None and (integer(file.value(at)) in places or _counts(file, at)):
                yield from uses(file, use.place)
        elif use.does is Does.ITEM and isinstance(use.place, (cst.Tuple, cst.List)):
            targets = [element.value for element in use.place.elements]
            for place in sorted(places & set(range(len(targets)))):
                yield from uses(file, targets[place])
        elif every:
            yield from (item for item in uses(file, use.node, parts=True) if item.part)


def _counts(file: File, index: cst.BaseExpression) -> bool:
    """Whether an index is what a loop counts: all items of a list have their turn."""
    found = file.definitions(index) if isinstance(index, cst.Name) else ()
    return bool(found) and all(
        d.binds is Binds.ITEM and isinstance(d.value, cst.Call) and file.call(d.value).name in COUNTS for d in found
    )
