"""Gradients of embedding tables, which hold only the rows that were looked up."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Array, Binds, Call, Definition, File, Instance, Node, dotted, integer, walk

EMBEDDING = "tf.keras.layers.Embedding"
WEIGHTS = frozenset({"trainable_variables", "trainable_weights", "variables", "weights"})
LOOKUPS = frozenset(
    {"tf.gather", "tf.nn.embedding_lookup", "tf.nn.embedding_lookup_sparse", "tf.nn.safe_embedding_lookup_sparse"}
)
WRAPS = frozenset({"builtins.zip", "builtins.enumerate", "builtins.list", "builtins.tuple", "builtins.reversed"})

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
    definitions = file.definitions(receiver)
    blocks = [a for d in definitions if d.binds is Binds.ENTERED for a in (d.node, *file.tree.ancestors(d.node))]
    block = next((b for b in blocks if isinstance(b, cst.With)), None)
    if block is None:
        return []
    found = (n for n in walk(block.body) if isinstance(n, (cst.Name, cst.Attribute)) and dotted(n) == path)
    return [n for n in found if not file.tree.contains(gradient.node, n)]


def _looked_up(use: Node, file: File) -> bool:
    argument = file.tree.parent(use)
    call = file.tree.parent(argument) if isinstance(argument, cst.Arg) else None
    if not isinstance(call, cst.Call) or file.call(call).name not in LOOKUPS:
        return False
    table = file.call(call).arg("params")
    return table is not None and table.node is argument


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


def gradients_of(gradient: Call, sources: Sources, file: File) -> Iterator[Node]:
    """The places where a sparse gradient is used, in the order of the code."""
    if sources == "one":
        yield from _uses(gradient.node, file)
        return
    targets = _unpacked(gradient.node, file)
    for i, target in enumerate(targets):
        if isinstance(target, (cst.Name, cst.Attribute)) and not isinstance(sources, str) and i in sources:
            yield from _named(target, file)
    for use in _uses(gradient.node, file) if not targets else ():
        parent = file.tree.parent(use)
        if isinstance(parent, cst.Subscript) and parent.value is use and len(parent.slice) == 1:
            index = parent.slice[0].slice
            at = integer(file.value(index.value)) if isinstance(index, cst.Index) else None
            if at is not None and not isinstance(sources, str) and at in sources:
                yield from _uses(parent, file)
        elif isinstance(sources, str) or len(sources) == 1:
            yield from _items(use, file)


def _uses(node: Node, file: File) -> list[Node]:
    """The uses of an expression's value: itself, or those of the name that it is given."""
    assign = file.tree.parent(node)
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1 or assign.value is not node:
        return [node]
    target = assign.targets[0].target
    return _named(target, file) if isinstance(target, (cst.Name, cst.Attribute)) else []


def _unpacked(node: Node, file: File) -> list[Node]:
    """The targets of `a, b = node`."""
    assign = file.tree.parent(node)
    target = assign.targets[0].target if isinstance(assign, cst.Assign) and len(assign.targets) == 1 else None
    return [e.value for e in target.elements] if isinstance(target, (cst.Tuple, cst.List)) else []


def _named(target: cst.Name | cst.Attribute, file: File) -> list[Node]:
    name = dotted(target) or ""
    made = [d for d in file.flow(file.scope_of(target)).bindings.get(name, ()) if _binds(d, target, file)]
    return [use for d in made for use in file.uses_of(d)]


def _binds(d: Definition, target: Node, file: File) -> bool:
    return d.node is target or file.tree.contains(d.node, target)


def _items(use: Node, file: File) -> Iterator[Node]:
    """The uses of each gradient where a loop or comprehension runs over a list of them."""
    parent, below = file.tree.parent(use), use
    position: list[int] = []
    while isinstance(parent, cst.Arg) and isinstance(call := file.tree.parent(parent), cst.Call):
        name = file.call(call).name
        if name not in WRAPS:
            return
        if name == "builtins.zip":
            position.insert(0, list(call.args).index(parent))
        elif name == "builtins.enumerate":
            position.insert(0, 1)
        below, parent = call, file.tree.parent(call)
    if isinstance(parent, (cst.For, cst.CompFor)) and parent.iter is below:
        target: Node = parent.target
        for at in position:
            if not isinstance(target, (cst.Tuple, cst.List)) or at >= len(target.elements):
                return
            target = target.elements[at].value
        if isinstance(target, cst.Name):
            yield from _item_reads(target, parent, file)


def _item_reads(target: cst.Name, loop: cst.For | cst.CompFor, file: File) -> Iterator[Node]:
    for node in file.loads(target.value):
        if node is not target and any(
            file.tree.contains(d.node, target) or d.node is target for d in file.definitions(node)
        ):
            yield node
