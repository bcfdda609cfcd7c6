"""Code that makes up what a value is known to be: an array of its dtype and shape, a data set of its elements."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import libcst as cst

from tfmemlint.model.file import File
from tfmemlint.model.values import Array, Const, Dataset, Mapping, OneOf, Sequence, Value
from tfmemlint.syntax.scopes import Binds, Definition
from tfmemlint.syntax.tree import Node

MOST_BYTES = 1 << 30
"""Bytes of one array that are made up: a program holds it several times."""

FITS_IMAGES = "tf.keras.preprocessing.image.ImageDataGenerator.fit"
IMAGE = (64, 64, 3)

CONVERTS = ("np.array", "np.asarray")
"""What gives an array of the dtype that it is told, whatever it is given."""

OF_TABLES, ROWS_OF_TABLES = re.compile(r"\.(?:i?loc\[|values\b|to_numpy\()"), 32_000
"""What is taken of a table, and how many rows one may well have: more than in one that is made up and few enough that
small ones are not taken for large ones."""

MOST_ITEMS = 64
ELEMENTS = 64
"""Elements of a data set of which no count is known: more than the buffers hold that people ask for."""


def code_for(value: Value) -> str | None:
    """Python code that makes something of this kind, None where too little is known of it.

    Arrays have their dtype and shape, data sets their elements and count; what is in them is made up.
    """
    if isinstance(value, Const):
        return repr(value.value) if isinstance(value.value, (int, float, str, bytes, bool, type(None))) else None
    if isinstance(value, Array):
        spec = _spec(value)
        maker = "tfmemlint_array" if value.library == "np" else "tfmemlint_tensor"
        return None if spec is None or value.library == "keras" or value.variable else f"{maker}{spec}"
    if isinstance(value, Sequence):
        return _sequence(value)
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, Dataset):
        element = _element(value.element)
        count = ELEMENTS if value.count is None else value.count
        return None if element is None or count < 1 else f"tfmemlint_dataset({element}, {count})"
    if isinstance(value, OneOf):
        made = {code_for(option) for option in value.options}
        return made.pop() if len(made) == 1 else None
    return None


def argument_for(value: Value) -> str | None:
    """As `code_for`, with an array of NumPy for any of which dtype and shape are known, of whatever size."""
    if isinstance(value, Array) and value.dtype is not None and value.shape is not None and None not in value.shape:
        return f'tfmemlint_array("{value.dtype}", {tuple(value.shape)})'
    return code_for(value)


def _spec(array: Array) -> str | None:
    if array.dtype is None or array.shape is None or None in array.shape:
        return None
    least = array.size if array.dtype == "string" else array.bytes
    return f'("{array.dtype}", {tuple(array.shape)})' if least is not None and 0 < least <= MOST_BYTES else None


def _sequence(value: Sequence) -> str | None:
    items = [code_for(item) for item in value.items]
    if value.open or not items or len(items) > MOST_ITEMS or None in items or value.kind not in ("tuple", "list"):
        return None
    inner = ", ".join(filter(None, items))
    return f"[{inner}]" if value.kind == "list" else f"({inner},)"


def _mapping(value: Mapping) -> str | None:
    items = [(key, code_for(item)) for key, item in value.items]
    if value.open or len(items) > MOST_ITEMS or any(made is None for _, made in items):
        return None
    return "{" + ", ".join(f"{key!r}: {made}" for key, made in items) + "}"


def _element(value: Value) -> str | None:
    """What an element of a data set is, as `(dtype, shape)` in tuples and dictionaries."""
    if isinstance(value, Array):
        return _spec(value)
    if isinstance(value, Sequence) and not value.open and value.items:
        items = [_element(item) for item in value.items]
        return None if None in items else f"[{', '.join(filter(None, items))}]"
    if isinstance(value, Mapping) and not value.open and value.items:
        pairs = [(key, _element(item)) for key, item in value.items]
        known = all(made is not None for _, made in pairs)
        return "{" + ", ".join(f"{key!r}: {made}" for key, made in pairs) + "}" if known else None
    return None


def images_for(file: File, name: cst.Name, target: int) -> str | None:
    """Code for about `target` bytes of images where an `ImageDataGenerator` is given what a name stands for, or rows of
    it: it refuses whatever has not four axes. None elsewhere."""
    node: Node = name
    while isinstance(above := file.tree.parent(node), cst.Subscript) and above.value is node:
        node = above
    call = file.tree.parent(above) if isinstance(above, cst.Arg) else None
    if not isinstance(call, cst.Call) or call.args[0] is not above or file.call(call).name != FITS_IMAGES:
        return None
    rows = max(1, target // (4 * math.prod(IMAGE)))
    return f'tfmemlint_array("float32", {(rows, *IMAGE)})'


def converted_for(file: File, name: cst.Name, target: int) -> tuple[Node, str] | None:
    """The expression, made of what a name stands for, that is turned to an array of a dtype which is told, and code for
    numbers in its place: about `target` bytes as floats of eight. None elsewhere."""
    node: Node = name
    for above in file.tree.ancestors(name):
        if isinstance(above, cst.Arg):
            call = file.tree.parent(above)
            if not isinstance(call, cst.Call) or len(call.args) < 2 or call.args[0] is not above:
                return None
            if (file.call(call).name or "") not in CONVERTS:
                return None
            break
        if isinstance(above, cst.Attribute) and above.attr.value == "astype":
            break
        if node not in (getattr(above, "value", None), getattr(above, "func", None)):
            return None
        node = above
    rows = max(1, target // 8)
    if OF_TABLES.search(file.text(node)):
        rows = min(rows, ROWS_OF_TABLES)
    return node, f'tfmemlint_array("uint8", {(rows,)})'


def in_place_of(file: File, statement: Node) -> tuple[Node, str] | None:
    """The expression that a statement assigns, and code that makes up what is known of all that it binds; None where
    too little is known."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None
    small = statement.body[0]
    if not isinstance(small, cst.Assign) or len(small.targets) != 1:
        return None
    by_name: dict[str, str | None] = {}
    for definition in _bound_by(file, statement):
        known = definition.binds is Binds.VALUE
        by_name[definition.name] = code_for(file.values.definition(definition, None)) if known else None
    made = _of_target(small.targets[0].target, by_name)
    return None if made is None else (small.value, made)


def counts_unknown(file: File, statement: Node) -> str:
    """Words on the data sets that a statement binds of which no number of elements is known; empty where there are
    none."""
    values = (file.values.definition(each, None) for each in _bound_by(file, statement))
    unknown = any(isinstance(each, Dataset) and each.count is None for value in values for each in value.options)
    return "how many elements the data has is not known" if unknown else ""


def _bound_by(file: File, statement: Node) -> Iterator[Definition]:
    for bindings in file.flow(file.scope_of(statement)).bindings.values():
        yield from (each for each in bindings if file.tree.statement(each.node) is statement)


def _of_target(target: Node, by_name: dict[str, str | None]) -> str | None:
    if isinstance(target, cst.Name):
        return "None" if target.value == "_" else by_name.get(target.value)
    if isinstance(target, (cst.Tuple, cst.List)):
        items = [_of_target(element.value, by_name) for element in target.elements]
        return None if None in items else f"({', '.join(filter(None, items))},)"
    return None
