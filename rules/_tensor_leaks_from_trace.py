"""What traced code stores and nobody keeps: it is read in the same call or trace, set back, or made again eagerly."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Array, Const, File, Node, flow, keras, once_per_file, ordering, tracing

Home = cst.FunctionDef | cst.Lambda
ADDS = frozenset({"append", "extend", "insert", "update"})


def _named(file: File, place: cst.Attribute) -> list[cst.Attribute]:
    """The attributes of this name, of whichever object."""
    return _attributes(file).get(place.attr.value, [])


@once_per_file
def _attributes(file: File) -> dict[str, list[cst.Attribute]]:
    found: dict[str, list[cst.Attribute]] = {}
    for node in file.tree.of(cst.Attribute):
        found.setdefault(node.attr.value, []).append(node)
    return found


def _reads(file: File, place: cst.Attribute) -> list[cst.Attribute]:
    return _read(file, place.attr.value)


@once_per_file
def _read(file: File, word: str) -> list[cst.Attribute]:
    named = _attributes(file).get(word, ())
    return [node for node in named if not isinstance(file.tree.parent(node), cst.AssignTarget)]


@once_per_file
def _readers(file: File, word: str) -> frozenset[Home | None]:
    return frozenset(file.contexts.function(node) for node in _read(file, word))


@once_per_file
def _traced_readers(file: File, word: str) -> tuple[Home, ...]:
    return tuple(each for each in _readers(file, word) if each is not None and tracing.runs_traced(file, each))


def is_of_one_call(store: flow.Store, home: Home, file: File) -> bool:
    """Whether each call begins the list or dictionary anew in which it puts something, by itself or by a method, reads
    it itself, and nothing else does: it could be a local one."""
    place = store.place
    if place is store.target and store.replaces:
        return False
    if not isinstance(place, cst.Attribute):
        return False
    if _used_in(file, place.attr.value) != {home}:
        return False
    return flow.begun_before(file, file.text(place), store.node, home)


@once_per_file
def _used_in(file: File, word: str) -> frozenset[Home | None]:
    """The functions in which an attribute of a name stands that is not only filled there."""
    named = _attributes(file).get(word, ())
    return frozenset(file.contexts.function(node) for node in named if not _is_filled(file, node))


def _is_filled(file: File, container: cst.Attribute) -> bool:
    """Whether an attribute is only set there, or given an item."""
    above = file.tree.parent(container)
    while isinstance(above, (cst.Element, cst.Tuple)):
        above = file.tree.parent(above)
    if isinstance(above, cst.Attribute):
        return above.attr.value in ADDS
    if isinstance(above, cst.Subscript):
        above = file.tree.parent(above) if above.value is container else None
    return isinstance(above, cst.AssignTarget)


def hands_on(store: flow.Store, home: Home, file: File) -> bool:
    """Whether other code of the same trace reads the place, or what only one mode of the function stores and reads:
    then each trace passes its own value on, unless an `if` keeps the first one. A variable is assigned to, which is
    right."""
    place, value, owner = store.place, file.value(store.place), file.class_of(home)
    if isinstance(value, Array) and value.variable and isinstance(store.node, cst.AugAssign):
        return True
    if owner is not None and file.values.classes.derives(owner, "tf.keras.losses.Loss"):
        return True  # the step that computes the loss, in another module, reads its parts in the same trace
    if isinstance(place, cst.Name):
        read = (use for use in file.places(place.value).below(home) if isinstance(file.tree.parent(use), cst.Arg))
        return place is not store.target and any(read)
    if not isinstance(place, cst.Attribute) or ordering.asks_name(file, store.node, place.attr.value):
        return False
    named, reads = _named(file, place), _reads(file, place)
    others = (reader for reader in _traced_readers(file, place.attr.value) if reader is not home)
    if any(tracing.in_one_trace(file, home, reader) for reader in others):
        return True
    if _readers(file, place.attr.value) != {home}:
        return False
    in_turn = any(ordering.exclusive(file, store.node, read) for read in reads)
    at = file.tree.order(store.node)
    if in_turn and all(file.tree.order(read) > at for read in reads):
        return True
    return ordering.behind_one_condition(file, [store.node, *named])


def is_set_back(store: flow.Store, home: Home, file: File) -> bool:
    """Whether the call that puts a tensor into an attribute certainly sets that to something else before it ends: what
    the attribute was before, or None."""
    if not store.replaces or not isinstance(store.place, cst.Attribute) or store.place is not store.target:
        return False
    path, at = file.text(store.place), file.tree.order(store.node)
    for later in file.assigned_paths.get(path, ()):
        if file.contexts.function(later) is not home or file.tree.order(later) <= at:
            continue
        block = next(above for above in file.tree.ancestors(later) if isinstance(above, cst.BaseSuite))
        if file.tree.contains(block, store.node) and not _keeps_tensor(file, later.value, path):
            return True
    return False


def _keeps_tensor(file: File, value: cst.BaseExpression | None, path: str) -> bool:
    """Whether what is assigned may be a tensor of the trace, not what a name has kept of the same place."""
    found = file.definitions(value) if isinstance(value, cst.Name) else ()
    kept = [isinstance(d.value, cst.Attribute) and file.text(d.value) == path for d in found]
    if kept and all(kept):
        return False
    return value is None or file.value(value) != Const(None)


def is_asked_eagerly(store: flow.Store, home: Home, file: File) -> bool:
    """Whether an attribute is only read as an array can be, `layer.scores.numpy()`, by code that is not traced and has
    called the model itself before: what it reads is made there, eagerly."""
    if not store.replaces or not isinstance(store.place, cst.Attribute) or store.place is not store.target:
        return False
    reads = _reads(file, store.place)
    return bool(reads) and all(_is_array(file, node) and _has_run_model(file, node) for node in reads)


def _is_array(file: File, node: cst.Attribute) -> bool:
    of = file.tree.parent(node)
    return isinstance(of, cst.Attribute) and of.attr.value == "numpy" and not file.contexts.traced(node)


def _has_run_model(file: File, node: Node) -> bool:
    """Whether the same function has called a network before: a model or layer that is known, or something that is told
    whether it trains."""
    home, at = file.contexts.function(node), file.tree.order(node)
    before = (call for call in file.tree.of(cst.Call) if file.tree.order(call) < at)
    mine = (file.call(call) for call in before if file.contexts.function(call) is home)
    return any(keras.applies_network(file, call) or call.arg("training") is not None for call in mine)
