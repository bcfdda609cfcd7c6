"""What a model is trained to tell apart: its labels, its losses and the number of classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import Api, Array, Const, Dataset, Instance, Sequence, Value, integer

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

SOFTMAX = (Const("softmax"), Api("tf.nn.softmax"), Api("tf.keras.activations.softmax"))


def label_arrays(fit: Call) -> list[Array]:
    """The arrays that may be labels for `fit` or `evaluate`: what `y` is, the second of the validation data, and all
    arrays in the elements of a pipeline, whose labels are not told from its inputs."""
    values = [fit.value_of("y")]
    values += [o.items[1] for o in fit.given("validation_data").options if isinstance(o, Sequence) and len(o.items) > 1]
    values += [option.element for option in fit.value_of("x").options if isinstance(option, Dataset)]
    leaves = (leaf for value in values for option in value.options for leaf in elements(option))
    return [leaf for leaf in leaves if isinstance(leaf, Array)]


def losses(file: File, fit: Call) -> list[Value]:
    """The losses that `compile` gives to the model that a method is called on, each once, in this file or a module that
    it imports: of all models of the file where none of the calls is seen to be for this one. Empty where none is
    compiled."""
    return _losses_of(file, fit.receiver) if fit.receiver in _compiles(file) else _losses_within_reach(file, fit)


def _losses_within_reach(file: File, fit: Call) -> list[Value]:
    made = _made_by(fit.receiver)
    own = [c for c in file.calls_within_reach("tf.keras.Model.compile") if made & _made_by(c.receiver)]
    return [each.value_of("loss") for each in own] if own else _all_losses(file)


@once_per_file
def _losses_of(file: File, model: Value) -> list[Value]:
    """The losses with which a model of the file is compiled, each once."""
    return list(dict.fromkeys(call.value_of("loss") for call in _compiles(file)[model]))


@once_per_file
def _all_losses(file: File) -> list[Value]:
    """The losses of all models of the file, each once."""
    return list(dict.fromkeys(call.value_of("loss") for call in file.calls("tf.keras.Model.compile")))


@once_per_file
def _compiles(file: File) -> dict[Value, list[Call]]:
    """The calls that compile each model of the file."""
    found: dict[Value, list[Call]] = {}
    for call in file.calls("tf.keras.Model.compile"):
        found.setdefault(call.receiver, []).append(call)
    return found


def _made_by(model: Value) -> set[int]:
    """The calls that make a model, by the ids of their nodes: the same whoever calls the function around them."""
    options = (each for each in model.options if isinstance(each, Instance))
    return {id(each.call.node) for each in options if each.call is not None}


def class_count(file: File, labels: Value) -> int | None:
    """The number of classes that labels tell apart: those of a data set that Keras bundles, else the most that a layer
    with a softmax does, in the file or, where it has none, in the modules that it imports; None where one of these
    layers does not say it, or there is none."""
    origin = labels.origin.name if isinstance(labels, Array) and labels.origin is not None else None
    bundled = knowledge.bundled_classes((origin or "").removesuffix(".load_data").rpartition(".")[2])
    if bundled is not None:
        return bundled
    dense = "tf.keras.layers.Dense"
    layers = _of_softmax(file.calls(dense)) or _of_softmax(file.calls_within_reach(dense))
    units = [integer(layer.value_of("units")) for layer in layers]
    known = [count for count in units if count is not None]
    return max(known) if known and len(known) == len(units) else None


def _of_softmax(layers: Iterable[Call]) -> list[Call]:
    return [each for each in layers if each.value_of("activation") in SOFTMAX]
