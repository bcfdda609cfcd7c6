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
            if any(
                isinstance(n, cst.Call) and _trains(n, file, depth - 1) for n in own_nodes(target.node, (cst.Call,))
            ):
                return True
    return False


def _is_model(call: Call) -> bool:
    """Whether the call calls a Keras model."""
    targets = call.target.options
    return all(
        isinstance(t, Instance) and t.type_name in ("tf.keras.Model", "tf.keras.Sequential") for t in targets
    ) and bool(targets)


def model_call_on_items(loop: cst.For, file: File) -> Call | None:
    """The call in a loop that runs a model on exactly a name that the loop binds to its elements: the model's own, or
    that of a function of the module which hands the element on to one."""
    bound = {n.value for n in walk(loop.target) if isinstance(n, cst.Name)}
    for node in walk(loop.body):
        if isinstance(node, cst.Call):
            call = file.call(node)
            given = [
                i for i, arg in enumerate(node.args) if isinstance(arg.value, cst.Name) and arg.value.value in bound
            ]
            if given and (
                (given[0] == 0 and _is_model(call)) or any(_hands_on(call, node.args[i], file) for i in given)
            ):
                return call
    return None


def _hands_on(call: Call, given: cst.Arg, file: File) -> bool:
    """Whether the called function gives the parameter that an argument is for to a model, as it is."""
    targets = call.target.options
    if not targets or not all(isinstance(target, Function) for target in targets):
        return False
    for target in targets:
        assert isinstance(target, Function)
        names = call.parameter_names
        index = next(i for i, arg in enumerate(call.node.args) if arg is given)
        name = given.keyword.value if given.keyword is not None else names[index] if index < len(names) else None
        bindings = file.flow(target.node).bindings.get(name or "", ())
        calls = [n for n in own_nodes(target.node, (cst.Call,)) if isinstance(n, cst.Call) and n.args]
        if len(bindings) != 1 or not any(
            isinstance(n.args[0].value, cst.Name) and n.args[0].value.value == name and _is_model(file.call(n))
            for n in calls
        ):
            return False
    return True
