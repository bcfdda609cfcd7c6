"""TensorFlow's runtime: what starts it, and whether it has been started. From then on the devices are fixed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.calls import Call
from tfmemlint.model.happened import Happened
from tfmemlint.model.layers import networks
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Array, Devices, Instance, Iterator, Sequence
from tfmemlint.query.keras.versions import own_engine
from tfmemlint.query.ordering.conditions import conditions
from tfmemlint.syntax.reaching import is_guarded

if TYPE_CHECKING:
    from tfmemlint.model.effects import Order
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

INITIALISED = "runtime initialised"
DEVICES_MADE = "devices made"

SESSIONS = ("tf.compat.v1.Session", "tf.compat.v1.InteractiveSession")
PLACES = "tf.device"
"""What starts the eager runtime when it is entered. In a graph it only says where ops go."""

KERAS = "tf.keras."
"""How all names of Keras begin, which works in the graph of a session where it has an engine of its own."""

NOT_ALL_DEVICES = "device_count"
"""The option of a session by which it makes other devices than those that are there."""


def initialises(file: File, call: Call) -> bool:
    """Whether a call certainly initialises the eager runtime, if nothing has done so before: it makes a tensor, a
    variable, a dataset or devices. False in programs whose ops are nodes of a graph, inside of graphs, and where it is
    not known what is called; of functions of the module each call in them is asked."""
    return not builds_graphs(file) and _computes(file, call)


def _computes(file: File, call: Call) -> bool:
    """Whether a call initialises the runtime, or makes a node in a program that builds graphs."""
    if not call.names or file.contexts.entered(call.node, "tf.Graph.as_default") is not None:
        return False
    if turns_eager_off(file) or (set(call.names) <= {PLACES} and file.may_be_version_1):
        return False
    if not all(_initialises(name, call) for name in call.names):
        return False
    return not (all(name.startswith(KERAS) for name in call.names) and own_engine(file))


def turns_eager_off(file: File) -> bool:
    """Whether the program certainly turns eager execution off: a session has the devices then, and the eager runtime
    is never started. False where only another file does so."""
    return any(file.calls(*knowledge.group("turns_eager_off")))


def builds_graphs(file: File) -> bool:
    """Whether ops outside of functions are nodes of a graph: the program turns eager execution off, or is written for
    version 1 and does not turn it on, nor goes through data sets, which is not to be done in graphs."""
    on = any(file.calls(*knowledge.group("turns_eager_on")))
    return turns_eager_off(file) or (file.before_version_2 and not on and not _goes_through_data(file))


@once_per_file
def _goes_through_data(file: File) -> bool:
    """Whether a loop of Python certainly goes through a data set, outside of functions that are traced."""
    return any(file.contexts.over_data(loop) and not file.contexts.traced(loop) for loop in file.tree.of(cst.For))


@once_per_file
def computing_calls(file: File) -> list[Call]:
    """The calls of a file that certainly initialise the runtime when they are reached, or make the nodes of a program
    that is written for graphs, in source order."""
    return [call for call in map(file.call, file.tree.of(cst.Call)) if _computes(file, call)]


def goes_on_elsewhere(file: File) -> bool:
    """Whether a file imports code of which nothing is known here, so that the program may do anything in it: what is
    neither TensorFlow or NumPy nor of Python's own library."""
    imports = (statement for kind in (cst.Import, cst.ImportFrom) for statement in file.tree.of(kind))
    packages = {each.api.partition(".")[0] for statement in imports for each in file.bound_within(statement)}
    return not packages <= {*sys.stdlib_module_names, "tensorflow", "tf", "keras", "numpy", "np", ""}


def initialised_by(file: File, node: Node) -> Call | None:
    """The call, or the first of several, that has initialised the runtime whenever the program reaches a place: a call
    or a simple statement. None where it has not, or not on every path; `initialisation` tells these apart."""
    return _certain(file, initialisation(file).before(node, INITIALISED))


def devices_made_by(file: File, node: Node) -> Call | None:
    """The call that has made the devices of the cards whenever the program reaches a place: one that initialises the
    eager runtime, or a session of this process. None where it has not, or not on every path: one of a program without
    cards is none, `if gpus:`. The CPU's allocator is not made by a session."""

    def classify(node: Call | cst.BaseSmallStatement) -> str | None:
        made = isinstance(node, Call) and (initialises(file, node) or _makes_session(file, node))
        return DEVICES_MADE if made else None

    first = file.effects.order(DEVICES_MADE, classify).before(node, DEVICES_MADE)
    if first is not None and not first.certain and _with_cards(file, first.node, node):
        return file.call(first.node) if isinstance(first.node, cst.Call) else None
    return _certain(file, first)


def _with_cards(file: File, made: Node, node: Node) -> bool:
    """Whether code of the same function as a place runs before it wherever there are cards."""
    if file.contexts.function(made) is not file.contexts.function(node) or file.contexts.loop(made) is not None:
        return False
    for found in conditions(file, made):
        if isinstance(found, cst.If):
            if not file.tree.contains(found.body, made) or not isinstance(file.value(found.test), Devices):
                return False
        elif not isinstance(found, cst.Try):
            return False
    return True


def devices_made_at_import(file: File, node: Node) -> Call | None:
    """The call that makes the devices in a function of the file which another module runs while it is imported, outside
    of its functions and main guard, where the place itself stands in a function: programs come there later. None where
    none is seen."""
    if file.contexts.function(node) is None:
        return None
    for call in computing_calls(file) if not builds_graphs(file) else ():
        function = file.contexts.function(call.node)
        callers = file.call_graph.callers_elsewhere(function) if function is not None else ()
        if any(_runs_at_import(file, caller) for caller in callers or ()):
            return call
    return None


def _runs_at_import(file: File, call: Call) -> bool:
    return file.contexts.function(call.node) is None and not is_guarded(file.tree, call.node)


def _certain(file: File, first: Happened | None) -> Call | None:
    """The call that certainly had an effect."""
    return file.call(first.node) if first is not None and first.certain and isinstance(first.node, cst.Call) else None


def _makes_session(file: File, call: Call) -> bool:
    """Whether a call certainly makes a session with all devices of this process: of no server, and with no number of
    devices said, which may be none."""
    limits = any(arg.keyword is not None and arg.keyword.value == NOT_ALL_DEVICES for arg in file.tree.of(cst.Arg))
    return bool(call.names) and set(call.names) <= set(SESSIONS) and call.lacks("target") and not limits


def initialisation(file: File) -> Order:
    """The order of this file's effects with the runtime's initialisation marked."""

    def classify(node: Call | cst.BaseSmallStatement) -> str | None:
        return INITIALISED if isinstance(node, Call) and initialises(file, node) else None

    return file.effects.order(INITIALISED, classify)


def _initialises(name: str, call: Call) -> bool:
    if knowledge.in_group(name, "starts_runtime"):
        return True
    if name.startswith("tf.keras.initializers.") and name.endswith(".__call__"):
        return bool(call.node.args)  # a shape, for which a tensor is made
    if name.endswith(".__call__"):
        given = call.value_of(0)
        return isinstance(given, Array) and isinstance(call.target, Instance)
    if name == "tf.keras.Sequential":
        return _has_input(call)
    if name == "tf.keras.Sequential.add":
        return _adds_weights(call)
    if name == "tf.keras.layers.Layer.build":
        return isinstance(call.receiver, Instance) and call.receiver.type_name in (networks.SEQUENTIAL, networks.MODEL)
    if name.startswith("tf.keras.applications."):
        return knowledge.returns_class(name) == "tf.keras.Model"  # its weights are made
    return knowledge.initialises(name) is True


def _has_input(call: Call) -> bool:
    """Whether the first layer of a Sequential model says the input's shape, so that the model is built at once."""
    layers = call.value_of("layers")
    if isinstance(layers, Iterator) or not isinstance(layers, Sequence) or not layers.items:
        return False
    first = layers.items[0]
    steps = list(networks.placed(call))
    if steps and all(step.effect is not None and step.effect.parameters == 0 for step in steps):
        return False  # without weights nothing is made
    if isinstance(first, Array):
        return True
    if not isinstance(first, Instance) or first.call is None:
        return False
    if first.type_name == "tf.keras.layers.InputLayer":
        return True
    return any(first.call.arg(name) is not None for name in ("input_shape", "input_dim", "batch_input_shape"))


def _adds_weights(call: Call) -> bool:
    """Whether a layer with weights is added to a model that knows its input's shape, so that the weights are made."""
    model, layer = call.receiver, call.value_of(0)
    if not isinstance(model, Instance) or model.call is None or model.call.name != networks.SEQUENTIAL:
        return False
    return any(
        step.layer == layer and step.shape is not None and step.effect is not None and bool(step.effect.parameters)
        for step in networks.placed(model.call)
    )
