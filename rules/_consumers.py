"""Where pipelines are consumed: `fit`, `evaluate`, `predict` and training loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst
from tfmemlint_rules._datasets import pipelines

from tfmemlint.api import Call, Dataset, File, Function, Instance, Node, own_nodes, walk

METHODS = tuple(f"tf.keras.Model.{name}" for name in ("fit", "evaluate", "predict"))
TRAINS = frozenset({"tf.GradientTape", "tf.keras.Model.train_on_batch", "tf.keras.Model.test_on_batch"})


@dataclass(frozen=True)
class Consumption:
    """A place that consumes pipelines: the node to point at, what may arrive there, and the call if it is one."""

    node: Node | Call
    datasets: tuple[Dataset, ...]
    model_call: Call | None = None


def consumptions(file: File) -> Iterator[Consumption]:
    """All places of a file where only pipelines arrive at a model's methods or at a training loop."""
    for call in file.calls(*METHODS):
        for parameters in (("x",), ("validation_data",)):
            found = tuple(pipelines(call, *parameters))
            if found:
                yield Consumption(call, found)
    for loop in file.tree.of(cst.For):
        value = file.contexts.iterated(loop)
        options = value.options if value is not None else ()
        if options and all(isinstance(option, Dataset) for option in options) and trains(loop, file):
            datasets = tuple(option for option in options if isinstance(option, Dataset))
            yield Consumption(loop, datasets, model_call_on_items(loop, file))


def trains(loop: cst.For, file: File) -> bool:
    """Whether a loop's body trains or runs a model: itself, or in a function of the module that it calls."""
    return any(_trains(node, file, 2) for node in walk(loop.body) if isinstance(node, cst.Call))


def _trains(node: cst.Call, file: File, depth: int) -> bool:
    call = file.call(node)
    if any(name in TRAINS or name == "tf.keras.Model.__call__" for name in call.names) or _is_model(call):
        return True
    if depth == 0:
        return False
    for target in call.target.options:
        if isinstance(target, Function):
            if any(isinstance(n, cst.Call) and _trains(n, file, depth - 1) for n in own_nodes(target.node, (cst.Call,))):
                return True
    return False


def _is_model(call: Call) -> bool:
    """Whether the call calls a Keras model."""
    targets = call.target.options
    return all(isinstance(t, Instance) and t.type_name in ("tf.keras.Model", "tf.keras.Sequential") for t in targets) and bool(targets)


def model_call_on_items(loop: cst.For, file: File) -> Call | None:
    """The call of a model on exactly a name that the loop binds to its elements."""
    bound = {n.value for n in walk(loop.target) if isinstance(n, cst.Name)}
    for node in walk(loop.body):
        if isinstance(node, cst.Call) and node.args and isinstance(node.args[0].value, cst.Name):
            if node.args[0].value.value in bound and _is_model(file.call(node)):
                return file.call(node)
    return None


