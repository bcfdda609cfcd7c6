"""Keras models made of layers: which layers they have, which give their outputs, what their activations take."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.layers.networks import MODEL, SEQUENTIAL, layers, parameters, placed
from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import Api, Array, Class, Function, Instance, Shape, Value, constant, integer
from tfmemlint.syntax.scopes import dotted
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

COMPUTES = ("Conv", "Dense", "Attention", "MultiHead", "SeparableConv", "DepthwiseConv", "LSTM", "GRU")
"""Beginnings of the names of layers whose work is products of matrices."""

TAKES_ACTIVATION = ("tf.keras.layers.Dense", "tf.keras.layers.Activation", "tf.keras.layers.Conv2D")
"""The layers that models end with and that are given their activation."""

SQUASHES = frozenset({"softmax", "sigmoid", "log_softmax"})
"""Activations that give probabilities, or their logarithms."""

DENSE = "tf.keras.layers.Dense"
PLAIN = frozenset({
    *knowledge.group_parameters("acts_on_last_axis"), "tf.keras.layers.BatchNormalization", "tf.keras.layers.Flatten",
    "tf.keras.layers.InputLayer", "tf.keras.layers.Rescaling", "tf.keras.layers.Reshape", "tf.keras.Input",
})  # fmt: skip
"""Dense layers and those that give out as many numbers as they get."""

FLATTENS = frozenset(
    {"tf.keras.layers.Flatten"}
    | {f"tf.keras.layers.Global{kind}Pooling{n}D" for kind in ("Average", "Max") for n in (1, 2, 3)}
)
"""Layers that give one row of numbers for each example."""

KEEPS_SHAPE = frozenset({"tf.keras.layers.LeakyReLU", "tf.keras.layers.Dropout", "tf.keras.layers.Activation"})

NETWORKS = frozenset({SEQUENTIAL, MODEL})

_SEVERAL = (cst.List, cst.Tuple, cst.Dict, cst.ListComp, cst.DictComp)


def parameter_count(model: Call) -> int | None:
    """The parameters of the model that a call makes; None where they are not known."""
    return parameters(model)


def layers_of(model: Call) -> list[Call]:
    """The calls that make the layers of the model that a call makes, as far as they are known."""
    return _made(step.layer for step in layers(model))


def output_layers(file: File, model: Call | cst.ClassDef) -> list[Call]:
    """The calls that make the layers which give the outputs of a model: of a `Sequential`, of a model made of its
    outputs, or of a class, by what its `call` returns. Empty where they are not known."""
    if not isinstance(model, cst.ClassDef):
        if model.name == SEQUENTIAL:
            return _made([step.layer for step in placed(model)][-1:])
        return _made(_called(model.value_of("outputs")))
    forward = file.values.classes.method(model, "call")
    leaving = file.returns(forward) if forward is not None else []
    return _made(target for each in leaving if each.value is not None for target in _called(file.value(each.value)))


def has_several_outputs(model: Value) -> bool:
    """Whether a model, in one of its alternatives, was certainly made with a list or dictionary of outputs."""
    for made in (option.call for option in model.options if isinstance(option, Instance) and option.call is not None):
        outputs = (made.arg("outputs") or made.arg(1)) if made.name == MODEL else None
        if outputs is not None and isinstance(outputs.expression, _SEVERAL):
            return True
    return False


def may_have_several_outputs(file: File, model: Value) -> bool:
    """Whether a model, in one of its alternatives, was made with several outputs, or is of a class whose `call` is not
    seen to return one tensor. False for models of which nothing is seen, such as loaded ones."""
    classes = (each.class_node for each in model.options if isinstance(each, Instance) and each.class_node is not None)
    return has_several_outputs(model) or not all(_returns_tensor(file, each) for each in classes)


def _returns_tensor(file: File, model: cst.ClassDef) -> bool:
    forward = file.values.classes.method(model, "call")
    leaving = [each.value for each in file.returns(forward)] if forward is not None else []
    return all(each is not None and _is_one(file.value(each)) for each in leaving)


def _is_one(given: Value) -> bool:
    """Whether a value is a tensor for certain: what a class of the module gives is taken for one without a look."""
    made = given.origin if isinstance(given, Array) else None
    made_by = made.target.options if made is not None else ()
    return isinstance(given, Array) and not any(isinstance(each, Instance) and each.class_node for each in made_by)


def gives_probabilities(layer: Call) -> bool:
    """Whether a call certainly makes a layer that gives probabilities: a softmax, or a dense or convolutional layer or
    an activation of such a function."""
    if layer.name not in TAKES_ACTIVATION:
        return layer.name == "tf.keras.layers.Softmax"
    activation = layer.value_of("activation")
    said = activation.name.rpartition(".")[2] if isinstance(activation, Api) else constant(activation)
    return said in SQUASHES


def gives_scores(model: Value, at: int | None = None) -> bool:
    """Whether a model, or its output `at` this place of several, certainly is one number for each example in one of its
    alternatives, and in none is known to be more: a dense layer of one unit behind one that flattens each example."""
    found = [_is_score(option.call, at) for option in model.options if isinstance(option, Instance) and option.call]
    return True in found and False not in found


def _is_score(model: Call, at: int | None) -> bool | None:
    outputs = elements(model.value_of("outputs")) if model.name == MODEL else []
    if len(outputs) > 1:
        outputs = outputs[at : at + 1] if at is not None and 0 <= at < len(outputs) else []
    tensor, dense = (outputs[0], False) if outputs else (None, False)
    while isinstance(tensor, Array) and tensor.origin is not None:
        if tensor.shape is not None and not dense:
            return tensor.shape[1:] == (1,)
        layer = tensor.origin.target
        kind = layer.type_name if isinstance(layer, Instance) else None
        if kind in FLATTENS:
            return True if dense else None
        if kind == DENSE and isinstance(layer, Instance) and layer.call is not None and not dense:
            units = integer(layer.call.value_of("units"))
            if units != 1:
                return None if units is None else False
            dense = True
        elif kind not in PLAIN and kind not in KEEPS_SHAPE:
            return True if not dense and gives_scores(layer) else None
        tensor = tensor.origin.value_of(0)
    return None


def activation_bytes(model: Call) -> int | None:
    """Bytes that the layers of a model give out for one example in float32, as far as their shapes are known; None for
    a model in which no layer multiplies matrices."""
    total, computes = 0, False
    for step in layers(model):
        kind = (getattr(step.layer, "type_name", None) or "").rpartition(".")[2]
        computes = computes or kind.startswith(COMPUTES)
        sizes = step.effect.shape[1:] if step.effect is not None and step.effect.parameters else (None,)
        known = [size for size in sizes if size is not None]
        total += 4 * math.prod(known) if len(known) == len(sizes) else 0
    return total if computes else None


def dense_width(file: File, model: Value) -> int | None:
    """The most numbers that a dense layer of a network gives for one example, where all of its layers certainly are
    dense ones or give as much as they get; 0 where the numbers are not known. None for networks of other layers, such
    as convolutions, and for what is not seen: a model that was loaded, or one with own layers in it."""
    found = [_dense_width(file, option) for option in model.options]
    known = [width for width in found if width is not None]
    return max(known) if known and len(known) == len(found) else None


def _dense_width(file: File, model: Value) -> int | None:
    if not isinstance(model, Instance):
        return None
    if model.class_node is not None:
        made = [call for call in map(file.call, walk(model.class_node, cst.Call)) if _may_make_layer(call)]
    else:
        made = layers_of(model.call) if model.call is not None and model.call.name in (SEQUENTIAL, MODEL) else []
    inside = [call for call in made if call.name not in NETWORKS]
    if not inside or not all(call.name in PLAIN for call in inside):
        return None
    return max((integer(call.value_of("units")) or 0 for call in inside if call.name == DENSE), default=0)


def _may_make_layer(call: Call) -> bool:
    """Whether a call may make a layer: of a class of Keras, or of what is not known to be none."""
    if call.name is not None:
        return call.name.startswith("tf.keras.") and call.name.rpartition(".")[2][:1].isupper()
    called = (dotted(call.node.func) or "").rpartition(".")[2]
    return called[:1].isupper() or any(isinstance(target, (Class, Function)) for target in call.target.options)


def output_bytes(model: Value) -> int | None:
    """Bytes that a model gives out for one example in float32, all of its outputs together, the least of its
    alternatives; None where the size of one is not known."""
    found = [_given_out(each.call) if isinstance(each, Instance) and each.call else None for each in model.options]
    known = [count for count in found if count is not None]
    return min(known) if len(known) == len(found) else None


def input_bytes(model: Value) -> int | None:
    """Bytes that a model takes for one example as float32, all of its inputs together, the most of its alternatives;
    None where the size of one is not known."""
    found = [_taken(each.call) if isinstance(each, Instance) and each.call else None for each in model.options]
    known = [count for count in found if count is not None]
    return max(known) if known and len(known) == len(found) else None


def _taken(model: Call) -> int | None:
    if model.name == SEQUENTIAL:
        first = next(iter(layers(model)), None)
        return _of_one_example([first.shape if first is not None else None])
    inputs = elements(model.value_of("inputs")) if model.name == MODEL else []
    return _of_one_example([each.shape if isinstance(each, Array) else None for each in inputs])


def _given_out(model: Call) -> int | None:
    if model.name == SEQUENTIAL:
        last = next(iter([*layers(model)][-1:]), None)
        return _of_one_example([last.effect.shape if last is not None and last.effect is not None else None])
    outputs = elements(model.value_of("outputs")) if model.name == MODEL else []
    return _of_one_example([each.shape if isinstance(each, Array) else None for each in outputs])


def _of_one_example(shapes: Sequence[Shape | None]) -> int | None:
    """The bytes of one example of tensors of these shapes together; None where one is not known, and for none."""
    sizes = [size for shape in shapes for size in (shape[1:] if shape else (None,))]
    if not shapes or None in sizes:
        return None
    return 4 * sum(math.prod(size or 0 for size in shape[1:]) for shape in shapes if shape)


def _called(outputs: Value) -> Iterator[Value]:
    """What was called to make each of some tensors."""
    for leaf in elements(outputs):
        if isinstance(leaf, Array) and leaf.library != "np" and leaf.origin is not None:
            yield leaf.origin.target


def _made(found: Iterable[Value]) -> list[Call]:
    """The calls that make layers."""
    return [layer.call for layer in found if isinstance(layer, Instance) and layer.call is not None]
