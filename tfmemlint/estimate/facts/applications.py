"""The networks of `keras.applications`, layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts.asked import Asked
from tfmemlint.estimate.facts.values import Object

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine


def build(machine: Machine, model: Object, call: Asked, node: cst.Call) -> None:
    """Give a model the layers of a network."""
