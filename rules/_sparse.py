"""Gradients of embedding tables, which hold only the rows that were looked up."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Array, Binds, Call, File, Instance, Node, dotted, walk, written

EMBEDDING = "tf.keras.layers.Embedding"

WEIGHTS = frozenset({"trainable_variables", "trainable_weights", "variables", "weights"})

LOOKUPS = frozenset(
    {"tf.gather", "tf.nn.embedding_lookup", "tf.nn.embedding_lookup_sparse", "tf.nn.safe_embedding_lookup_sparse"}
)

Sources = frozenset[int] | str
"""Which of the gradients are sparse: positions in a list, or "one" where a single tensor is asked for, or "some"."""


def sparse_sources(gradient: Call, file: File) -> Sources | None:
    """Which of the gradients that a tape is asked for are sparse; None where none certainly is."""
    given = gradient.arg("sources")
    if given is None:
        return None
    node = file.written(given.expression)
    if isinstance(node, (cst.List, cst.Tuple)):
        found = frozenset(i for i, e in enumerate(node.elements) if _is_table(e.value, gradient, file))
        return found or None
    if isinstance(node, cst.Attribute) and node.attr.value in WEIGHTS:
        owner = file.value(node.value)
        if isinstance(owner, Instance) and owner.type_name == EMBEDDING:
            return frozenset({0})
        return "some" if _has_embedding(owner, file) else None
    return "one" if _is_table(given.expression, gradient, file) else None


def _is_table(node: cst.BaseExpression, gradient: Call, file: File) -> bool:
    """Whether the expression is a table from which the tape's block only looks rows up."""
    path = dotted(node)
    if path is None:
        return False
    if isinstance(node, cst.Attribute) and node.attr.value == "embeddings":
        layer = file.value(node.value)
        if not isinstance(layer, Instance) or layer.type_name != EMBEDDING:
            return False
        return all(_looked_up(use, file) for use in _reads(path, gradient, file))
    value = file.value(node)
    if not isinstance(value, Array) or not value.variable:
        return False
    reads = _reads(path, gradient, file)
    return bool(reads) and all(_looked_up(use, file) for use in reads)


def _reads(path: str, gradient: Call, file: File) -> list[Node]:
    """Where the block of the gradient's tape reads a variable."""
    receiver = gradient.receiver_node
    if not isinstance(receiver, cst.Name):
        return []
    entered = [d for d in written(file.definitions(receiver)) if d.binds is Binds.ENTERED]
    blocks = [a for d in entered for a in (d.node, *file.tree.ancestors(d.node))]
    block = next((b for b in blocks if isinstance(b, cst.With)), None)
    if block is None:
        return []
    found = (n for n in walk(block.body, cst.Name, cst.Attribute) if dotted(n) == path)
    return [n for n in found if not file.tree.contains(gradient.node, n)]


def _looked_up(use: Node, file: File) -> bool:
    argument = file.tree.parent(use)
    call = file.tree.parent(argument) if isinstance(argument, cst.Arg) else None
    if not isinstance(argument, cst.Arg) or not isinstance(call, cst.Call):
        return False
    if file.call(call).name not in LOOKUPS:
        return False
    return file.call(call).receives("params", argument)


def _has_embedding(owner: object, file: File) -> bool:
    """Whether a model certainly holds an `Embedding`: it is written in its list of layers, or in its class."""
    if not isinstance(owner, Instance):
        return False
    if owner.class_node is not None:
        init = file.values.classes.method(owner.class_node, "__init__")
        assigns = list(walk(init)) if init is not None else []
        return any(isinstance(n, cst.Assign) and _makes_embedding(n.value, file) for n in assigns)
    if owner.type_name == "tf.keras.Sequential" and owner.call is not None:
        layers = owner.call.arg("layers")
        display = file.written(layers.expression) if layers is not None else None
        if isinstance(display, (cst.List, cst.Tuple)):
            return any(_makes_embedding(e.value, file) for e in display.elements)
    return False


def _makes_embedding(node: cst.BaseExpression, file: File) -> bool:
    value = file.value(node)
    return isinstance(value, Instance) and value.type_name == EMBEDDING
