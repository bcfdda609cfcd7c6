"""Functions that make models of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts import objects
from tfmemlint.estimate.facts.asked import Arguments
from tfmemlint.estimate.facts.values import Object
from tfmemlint.model.values import Unknown, Value

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine


def _clone(machine: Machine, given: Arguments, node: cst.Call) -> Value:
    model = given.get(0, "model")
    if not isinstance(model, Object):
        return Unknown("a clone")
    copy = objects.new(machine, model.type_name, model.call, model.of)
    copy.fields.update(model.fields)
    return copy


MAKERS: dict[str, Callable[[Machine, Arguments, cst.Call], Value]] = {"tf.keras.models.clone_model": _clone}
"""Functions that make models of others."""
