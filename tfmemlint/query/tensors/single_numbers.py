"""Which arrays are one number for each example: the class that a model chose for it, or that it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Api, Array, integer
from tfmemlint.query.keras.models import is_model
from tfmemlint.query.keras.networks import gives_scores
from tfmemlint.syntax.scopes import Binds, Definition, written

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

CHOOSES = frozenset({"argmax", "argmin"})
"""Functions and methods that leave one number of all the scores of an example."""

MEASURES = frozenset({"tf.image.psnr", "tf.image.ssim", "tf.image.ssim_multiscale"})
"""What measures pictures, each by one number."""

RUNS = "tf.compat.v1.Session.run"
"""What fetches tensors of a graph."""

PREDICTS = frozenset({"predict", "predict_on_batch"})
"""Methods of a model that give its outputs."""

KEEPS = frozenset({
    "numpy", "copy", "astype", "reshape", "squeeze", "flatten", "ravel", "tolist", "array", "asarray", "cast",
    "convert_to_tensor", "identity", "expand_dims", "list",
})  # fmt: skip
"""Functions and methods that leave as many numbers as they are given."""

MOST_WRAPPED = 8
"""Calls, indices and names behind each other through which an array is followed to what made it."""


def one_each(file: File, part: cst.BaseExpression) -> bool:
    """Whether an array is certainly one number for each example, or one in all: what `argmax` leaves of its scores, its
    quality, its label, by its place in what a loop takes from its data, a loss, the score that a model gives it. False
    for labels that are known to be pictures or vectors, and where nothing tells what an array is."""
    node: cst.BaseExpression | None = part
    at: int | None = None
    for _ in range(MOST_WRAPPED):
        node = file.written(node) if isinstance(node, cst.Name) and not _is_item(file, node) else node
        if node is not None and _is_number(file, node):
            return True
        if isinstance(node, cst.Subscript):
            index = node.slice[0].slice
            at = integer(file.value(index.value)) if isinstance(index, cst.Index) else at
            node = node.value
        elif isinstance(node, cst.Call):
            if _is_score(file, file.call(node), at):
                return True
            method = file.call(node).method
            if method in CHOOSES or file.call(node).name in MEASURES:
                return True
            node = _given(file, node) if method in KEEPS else None
        else:
            break
    return isinstance(node, cst.Name) and _is_label(file, node)


def _is_number(file: File, node: cst.BaseExpression) -> bool:
    """Whether an expression is certainly one number, also where a session fetches it: a loss, a cost."""
    call = file.call(node) if isinstance(node, cst.Call) else None
    if call is not None and call.name == RUNS:
        fetched = call.arg("fetches")
        node = fetched.expression if fetched is not None else node
    value = file.value(node)
    return isinstance(value, Array) and value.shape == ()


def _is_score(file: File, call: Call, at: int | None) -> bool:
    """Whether a call runs a model whose output, `at` this place of several, is one number for each example."""
    model = call.receiver if call.method in PREDICTS else call.target
    return is_model(file, model) and gives_scores(model, at)


def _given(file: File, node: cst.Call) -> cst.BaseExpression | None:
    """What a call keeps: the first argument of a function of a library, what a method belongs to."""
    receiver = file.call(node).receiver_node
    if receiver is not None and not isinstance(file.value(receiver), Api):
        return receiver
    return node.args[0].value if node.args else None


def _is_item(file: File, node: cst.Name) -> bool:
    found = written(file.definitions(node))
    return bool(found) and all(each.binds is Binds.ITEM for each in found)


def _is_label(file: File, node: cst.Name) -> bool:
    """Whether a name is what a loop binds to another than the first part of its items, and is not known to be more than
    one number for each example."""
    found = written(file.definitions(node)) if _is_item(file, node) else []
    value = file.value(node)
    vector = isinstance(value, Array) and value.shape is not None and len(value.shape) > 1
    return bool(found) and not vector and all(_is_second(file, each) for each in found)


def _is_second(file: File, made: Definition) -> bool:
    """Whether a loop takes a later part of each item; what `zip` puts beside each other may be anything."""
    over = file.call(made.value).name if isinstance(made.value, cst.Call) else None
    path = made.path[1:] if over == "builtins.enumerate" else made.path
    return bool(path) and over != "builtins.zip" and path[-1] not in (0, None)
