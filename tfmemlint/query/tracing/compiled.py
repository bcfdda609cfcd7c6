"""Functions that a model is given by `compile`, which Keras runs in the trace of the model's own step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import Function
from tfmemlint.query.calls import calls
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.file import File

COMPILE = "tf.keras.Model.compile"
TAKES_FUNCTIONS = ("loss", "metrics", "weighted_metrics")


@once_per_file
def compiled_functions(file: File) -> frozenset[Node]:
    """The losses and metrics that models of the file are compiled with, and the functions of the module that these
    call, `FOLLOWED_CALLS` deep, as far as both are known."""
    given = (leaf for call in file.calls(COMPILE) for name in TAKES_FUNCTIONS for leaf in elements(call.given(name)))
    pending: list[Node] = [leaf.node for leaf in given if isinstance(leaf, Function)]
    found = set[Node]()
    for _ in range(FOLLOWED_CALLS + 1):
        found.update(pending)
        called = (call.target for node in pending for call in calls(file, node))
        pending = [target.node for target in called if isinstance(target, Function) and target.node not in found]
    return frozenset(found)
