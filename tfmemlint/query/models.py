"""Keras models: what is one, and what builds, trains or forgets them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.model.values import Instance, Value
from tfmemlint.query.calls import calls
from tfmemlint.query.limits import FOLLOWED_CALLS

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

MODEL = "tf.keras.Model"
CLEARS = ("clear_session", "reset_default_graph", "reset_uids")
"""Functions after which Keras or the default graph holds nothing any more, whatever module they are called by."""


def is_model(file: File, value: Value) -> bool:
    """Whether a value is certainly a Keras model, whichever of its alternatives it is: of Keras' own classes or of
    one that the file derives from them. False also where it is not known what it is."""
    return all(_is_model(file, option) for option in value.options)


def _is_model(file: File, value: Value) -> bool:
    if not isinstance(value, Instance):
        return False
    if value.class_node is not None:
        return file.values.classes.derives(value.class_node, MODEL)
    return value.type_name == MODEL or MODEL in knowledge.bases(value.type_name or "")


def runs_model(file: File, call: Call) -> bool:
    """Whether what is called (`model(x)`) is certainly a Keras model; False also where it is not known."""
    return is_model(file, call.target)


def clears(file: File, body: Node) -> bool:
    """Whether some code clears the Keras session or the default graph, itself or by functions of the module.

    False where nothing shows it: unknown functions may do so.
    """
    return next(calls(file, body, *CLEARS, through=FOLLOWED_CALLS), None) is not None
