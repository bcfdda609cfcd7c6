"""All of the data or a part of it: what was picked out of it, what stays on disk, what a model is fitted to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import (
    Array,
    Const,
    Instance,
    Value,
    integer,
)
from tfmemlint.query.limits import FEW_ROWS
from tfmemlint.syntax.scopes import FUNCTIONS, Binds, Definition, parameters, written
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

MOST_NAMES = 2
"""Names behind each other through which data is followed to where it was picked."""

MOST_LINKS = 8
"""Methods, attributes and names behind each other through which data is followed to where it was loaded."""

FITS = ("tf.keras.Model.fit", "tf.keras.Model.evaluate")

OWN_FITS = frozenset(("fit", "evaluate"))
"""Methods by which Keras gives a model whole data sets, where its class defines them itself."""


# -- parts of data ---------------------------------------------------------------------------------------------------


def may_be_batch(file: File, call: Call, data: Node) -> bool:
    """Whether what a method of a model is given may be one batch of the data: it is a part, or it comes from where it
    is not seen and the call is not one for a data set, as one that evaluates or trains for epochs is. `predict` and a
    single epoch are also what the steps of an agent are written with, on a batch that it drew."""
    epochs = call.arg("epochs")
    of_data = call.method == "evaluate" or (epochs is not None and epochs.value != Const(1))
    return is_part(file, data) or (not of_data and is_given(file, data))


def is_part(file: File, expression: Node, *, through: int = MOST_NAMES) -> bool:
    """Whether data is a part of something that was picked already: an item of what a loop runs over, rows chosen by an
    index, a list made item by item, or items drawn at random. False where nothing says so."""
    if any(walk(expression, cst.ListComp, cst.GeneratorExp)):
        return True
    if any(knowledge.in_group(file.call(node).name, "samples_items") for node in walk(expression, cst.Call)):
        return True
    if any(_chosen(file, node) for node in walk(expression, cst.Subscript)):
        return True
    for name in walk(expression, cst.Name):
        found = written(file.definitions(name))
        if any(_is_item(file, d) or _filled(file, d) for d in found):
            return True
        values = [d.value for d in found if d.binds is Binds.VALUE and d.value is not None] if through else []
        if any(is_part(file, value, through=through - 1) for value in values):
            return True
    return False


def is_given(file: File, expression: Node, *, through: int = MOST_NAMES) -> bool:
    """Whether data comes from where it is not seen, so that it may be all of it or one batch: as a parameter of a
    function whose callers are not seen, or, inside a function, from a call of what is not known."""
    for name in walk(expression, cst.Name):
        if name.value == "self" or file.value(name).known:
            continue
        for found in written(file.definitions(name)):
            value = found.value if found.binds is Binds.VALUE and isinstance(found.scope, FUNCTIONS) else None
            if found.binds is Binds.PARAMETER and not file.call_graph.callers(found.scope):
                return True
            if isinstance(value, cst.Call) and not file.call(value).target.known:
                return True
            if value is not None and through and is_given(file, value, through=through - 1):
                return True
    return False


def _filled(file: File, definition: Definition) -> bool:
    """Whether a name is an empty list at first, to which items are added."""
    made = definition.value if definition.binds is Binds.VALUE and definition.name in file.grown else None
    if isinstance(made, cst.Tuple) and len(definition.path) == 1 and isinstance(definition.path[0], int):
        made = made.elements[definition.path[0]].value if definition.path[0] < len(made.elements) else None
    return isinstance(made, cst.List) and not made.elements


def _chosen(file: File, node: cst.Subscript) -> bool:
    """Whether rows are chosen by an index that is not a number or a key, or by a slice from here to there or of few."""
    first = node.slice[0].slice
    if isinstance(first, cst.Slice):
        few = integer(file.value(first.upper)) if first.upper is not None else None
        return (first.lower is not None and first.upper is not None) or (few is not None and 0 <= few < FEW_ROWS)
    if not isinstance(first, cst.Index):
        return False
    value = file.value(first.value)
    found = written(file.definitions(first.value)) if isinstance(first.value, cst.Name) else []
    if any(d.binds is Binds.ITEM and not _is_item(file, d) for d in found):
        return False
    return isinstance(value, Array) or (not value.known and len(node.slice) == 1)


def _is_item(file: File, definition: Definition) -> bool:
    """Whether a name is one item of what a loop runs over, and not the rows of a fold: those are most of the data."""
    if definition.binds is not Binds.ITEM:
        return False
    calls = walk(definition.value, cst.Call) if definition.value is not None else ()
    return not any(file.call(node).method == "split" for node in calls)


def of_loop_item(file: File, expression: Node) -> bool:
    """Whether an expression certainly holds what a loop takes from something else than an array, such as a batch of a
    pipeline."""
    found = (d for name in walk(expression, cst.Name) for d in written(file.definitions(name)))
    over = (file.value(d.value) for d in found if d.binds is Binds.ITEM and d.value is not None)
    return any(not isinstance(each, Array) for each in over)


# -- where data lies -------------------------------------------------------------------------------------------------


def stays_on_disk(value: Value) -> bool:
    """Whether data certainly stays in a file until it is read: a memory map, or a data set of an HDF5 file, of which a
    slice is an array in memory."""
    if isinstance(value, Instance):
        return value.type_name == "h5py.Dataset"
    made = value.origin if isinstance(value, Array) else None
    if made is None:
        return False
    if made.name == "np.load":
        return made.arg("mmap_mode") is not None and made.value_of("mmap_mode") != Const(None)
    if made.name == "np.asarray" and made.arg(0) is not None:
        inner = made.value_of(0)
        return isinstance(inner, Array) and stays_on_disk(inner)
    return made.name != "h5py.File" and knowledge.in_group(made.name, "maps_file")


# -- data that is fitted ---------------------------------------------------------------------------------------------


def fitted_whole(file: File, given: cst.BaseExpression) -> bool:
    """Whether an expression is certainly data of unknown shape that the file's program loads from somewhere as a whole
    (`train_test_split(...)`, `df.values`) and fits a model to, neither of them in a loop; or what a model of the file
    is given to fit or to evaluate, as Keras' own methods of these names are."""
    value = file.value(given)
    made = file.only_definition(given) if isinstance(given, cst.Name) else None
    if made is not None and _given_to_fit(file, made):
        return file.contexts.loop(given) is None
    if made is None or (isinstance(value, Array) and value.shape is not None) or file.contexts.loop(given) is not None:
        return False
    fits = (fit for fit in file.calls(*FITS) if file.contexts.loop(fit.node) is None)
    data = (fit.arg("x") for fit in fits)
    same = (d.expression for d in data if d is not None and isinstance(d.expression, cst.Name))
    return _loaded(file, made) and any(file.only_definition(each) is made for each in same)


def _given_to_fit(file: File, made: Definition) -> bool:
    """Whether a definition is the first parameter of a model's own `fit` or `evaluate`, which no loop is seen to call
    for batches."""
    method = made.scope
    if made.binds is not Binds.PARAMETER or not isinstance(method, cst.FunctionDef):
        return False
    owner = file.class_of(method)
    if owner is None or method.name.value not in OWN_FITS or not file.values.classes.derives(owner, "tf.keras.Model"):
        return False
    elsewhere = file.call_graph.callers_elsewhere(method)
    calls = (*(file.call_graph.callers(method) or ()), *(elsewhere or ()))
    first = [each.name.value for each in parameters(method)][1:2]
    once = elsewhere is not None and all(file.contexts.loop(call.node) is None for call in calls)
    return once and first == [made.name]


def _loaded(file: File, made: Definition, left: int = MOST_LINKS) -> bool:
    """Whether a definition is bound to what is loaded from a file or is a part of a split."""
    node = made.value if made.binds is Binds.VALUE else None
    while isinstance(node, cst.BaseExpression) and left > 0:
        left -= 1
        if isinstance(node, cst.Call):
            if knowledge.in_group(file.call(node).name, "loads_data"):
                return True
            node = node.func.value if isinstance(node.func, cst.Attribute) else None
        elif isinstance(node, cst.Attribute):
            node = node.value
        elif isinstance(node, cst.BinaryOperation):
            node = node.left
        else:
            inner = file.only_definition(node) if isinstance(node, cst.Name) else None
            return inner is not None and _loaded(file, inner, left)
    return False
