"""Models that a program only looks at or asks for results: nothing trains them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.query.flow.makers import makers
from tfmemlint.query.flow.uses import Does, Use, uses
from tfmemlint.query.keras.fates import ADDS_PART, ASKS, asks
from tfmemlint.query.keras.models import MODEL
from tfmemlint.query.limits import FOLLOWED_CALLS

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

SEQUENTIAL = "tf.keras.Sequential"

LOOKS = ASKS - {"compile"}
ENDS = frozenset({"input", "inputs", "output", "outputs"})
"""Attributes by which the layers of a model become those of another."""

SHOWS = frozenset({"tf.keras.utils.plot_model", "tf.keras.utils.model_to_dot", "tf.keras.models.save_model"})


def is_never_trained(file: File, layer: Call) -> bool:
    """Whether a layer certainly is one of a `Sequential` that the program only looks at or asks for results, and
    nothing else has it: `model.summary()`, `model.predict(x)`.

    False where nothing is done with the model, which somebody else may train, and where it or what is made of its
    output is compiled, trained, returned, kept in an attribute or given to code that is not followed.
    """
    models = _models_with(file, layer)
    return bool(models) and all(_is_only_asked(file, each, FOLLOWED_CALLS) for each in models)


def _models_with(file: File, layer: Call) -> list[Call]:
    """The calls that make the models of which a layer is one, where it is written or by the one use of its name; empty
    where it is used otherwise."""
    above = file.tree.parent(layer.node)
    while isinstance(above, (cst.Element, cst.List, cst.Tuple, cst.Arg)):
        above = file.tree.parent(above)
    taker = file.call(above) if isinstance(above, cst.Call) else _only_taker(file, layer)
    if taker is not None and taker.name == ADDS_PART:
        made = makers(taker.receiver)
        return made if len(made) == len(taker.receiver.options) else []
    return [taker] if taker is not None and taker.name == SEQUENTIAL else []


def _only_taker(file: File, layer: Call) -> Call | None:
    """The call that is given a layer by its name, where nothing else is done with that."""
    found = list(uses(file, layer.node))
    return found[0].call if len(found) == 1 and found[0].does is Does.PASS else None


def _is_only_asked(file: File, model: Call, left: int) -> bool:
    if file.contexts.function(model.node) is None and file.siblings is not None and file.siblings.importing_files():
        return False  # others may have it by its name
    found = list(uses(file, model.node, through=FOLLOWED_CALLS))
    return left > 0 and bool(found) and all(_only_looks(file, use, left) for use in found)


def _only_looks(file: File, use: Use, left: int) -> bool:
    if use.does in (Does.READ, Does.METHOD):
        ends = use.word in ENDS and use.place is not None
        return _is_dropped(file, use.place, left) if ends and use.place is not None else use.word in LOOKS
    if use.does is Does.PASS and use.call is not None:
        return use.call.name in SHOWS or (use.call.name or "").startswith("builtins.")
    return use.does is Does.DELETE or asks(file, use)


def _is_dropped(file: File, output: Node, left: int) -> bool:
    """Whether what a model gives, or what layers make of it, ends up in no model that may be trained."""
    for use in uses(file, output):
        if use.does is not Does.PASS or use.call is None:
            if use.does not in (Does.READ, Does.DELETE):
                return False
            continue
        name = use.call.name or ""
        if name == MODEL:
            if not _is_only_asked(file, use.call, left - 1):
                return False
        elif name.startswith("tf.keras.layers.") and name.endswith(".__call__"):
            if left == 0 or not _is_dropped(file, use.call.node, left - 1):
                return False
        elif not (name.startswith("builtins.") or _makes_layer(name)):
            return False
    return True


def _makes_layer(name: str) -> bool:
    """Whether an API is the constructor of a layer, which keeps no tensor that it is given as a setting."""
    return "tf.keras.layers.Layer" in (name, *knowledge.bases(name))
