"""Keras: bundled data sets, inputs, models, preprocessing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.model.layers.effects import MERGES, merge
from tfmemlint.model.transfer.table import dtype_of, elements, models, shape_of
from tfmemlint.model.values import BOTTOM, Array, Const, Instance, Sequence, Unknown, Value, integer

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

BUNDLED = ("mnist", "fashion_mnist", "cifar10", "cifar100", "imdb", "reuters", "boston_housing", "california_housing")


@models(*(f"tf.keras.datasets.{name}.load_data" for name in BUNDLED))
def _bundled(call: Call, target: Value) -> Value:
    name = getattr(target, "name", "").split(".")[-2]
    halves = knowledge.bundled_dataset(name)
    if halves is None:
        return Unknown(f"the shapes of {name}")
    return Sequence(tuple(
        Sequence(tuple(Array("np", dtype, shape, call, False) for dtype, shape in half)) for half in halves
    ))  # fmt: skip


@models("tf.keras.Input", "tf.keras.layers.Input")
def _input(call: Call, target: Value) -> Value:
    shape = shape_of(call.value_of("shape"))
    batch = integer(call.value_of("batch_size"))
    dtype = dtype_of(call.value_of("dtype"), "float32") if call.arg("dtype") is not None else "float32"
    return Array("keras", dtype, None if shape is None else (batch, *shape), call)


@models("tf.keras.layers.Layer.__call__", "tf.keras.Model.__call__")
def _called(call: Call, target: Value) -> Value:
    from tfmemlint.model.layers.networks import given_tensors, network_effect

    several = given_tensors(call)
    given = several[0] if len(several) == 1 else Sequence(tuple(several))
    leaves = elements(given)
    if any(leaf is BOTTOM for leaf in leaves):
        return BOTTOM
    symbolic = any(isinstance(o, Array) and o.library == "keras" for leaf in leaves for o in leaf.options)
    done = network_effect(target, given) if symbolic or len(leaves) == 1 else None
    return Array("keras" if symbolic else "tf", "float32" if done else None, done.shape if done else None, call)


@models(*(f"tf.keras.layers.{name}" for name in MERGES))
def _merged(call: Call, target: Value) -> Value:
    given = elements(call.value_of(0) if call.arg(0) is not None else call.value_of("inputs"))
    arrays = [leaf for leaf in given if isinstance(leaf, Array)]
    name = MERGES[(call.name or "").rpartition(".")[2]] if call.name is not None else ""
    shape = merge(call, name, [leaf.shape for leaf in arrays]) if name and len(arrays) == len(given) else None
    library = "keras" if any(leaf.library == "keras" for leaf in arrays) else "tf"
    return Array(library, arrays[0].dtype if arrays else None, shape, call)


@models("tf.keras.utils.to_categorical")
def _to_categorical(call: Call, target: Value) -> Value:
    labels, classes = call.value_of(0), integer(call.value_of("num_classes"))
    shape = None
    if isinstance(labels, Array) and labels.shape is not None:
        kept = labels.shape[:-1] if len(labels.shape) > 1 and labels.shape[-1] == 1 else labels.shape
        shape = (*kept, classes)
    return Array("np", "float64" if call.lacks("dtype") else None, shape, call)


@models("tf.keras.utils.img_to_array", "tf.keras.preprocessing.image.img_to_array")
def _img_to_array(call: Call, target: Value) -> Value:
    return Array("np", "float32" if call.lacks("dtype") else None, (None, None, None), call)


NETWORKS = (
    "convnext", "densenet", "efficientnet", "efficientnet_v2", "imagenet_utils", "inception_resnet_v2", "inception_v3",
    "mobilenet", "mobilenet_v2", "mobilenet_v3", "nasnet", "resnet", "resnet50", "resnet_v2", "vgg16", "vgg19",
    "xception",
)  # fmt: skip
UNTOUCHED = frozenset({"convnext", "efficientnet", "efficientnet_v2", "mobilenet_v3"})
"""Networks that scale inside of the model, and whose `preprocess_input` gives back what it is given."""


@models(*(f"tf.keras.applications.{name}.preprocess_input" for name in NETWORKS))
def _preprocess_input(call: Call, target: Value) -> Value:
    given = call.value_of(0) if call.arg(0) is not None else call.value_of("x")
    if not isinstance(given, Array) or getattr(target, "name", "").split(".")[-2] in UNTOUCHED:
        return given if given.known else Unknown("an image")
    kept = given.dtype if (given.dtype or "").startswith("float") else "float32"
    return Array(given.library, kept if given.dtype else None, given.shape, call)


@models("tf.keras.models.clone_model", "tf.keras.models.load_model", "tf.keras.models.model_from_json",
        "tf.keras.saving.load_model")  # fmt: skip
def _model(call: Call, target: Value) -> Value:
    return Instance("tf.keras.Model", call)


PRUNING = "tensorflow_model_optimization.sparsity.keras"


@models(f"{PRUNING}.prune_low_magnitude", f"{PRUNING}.strip_pruning")
def _pruned(call: Call, target: Value) -> Value:
    """A model or layer in place of the one that is given; what it computes is not followed."""
    given = call.value_of(0) if call.arg(0) is not None else call.value_of("to_prune", "model")
    layer = isinstance(given, Instance) and (given.type_name or "").startswith("tf.keras.layers.")
    return Instance("tf.keras.layers.Layer" if layer else "tf.keras.Model", call)


@models("tf.keras.Model.predict", "tf.keras.Model.predict_on_batch")
def _predict(call: Call, target: Value) -> Value:
    return Array("np", None, None, call)


@models("tf.keras.Model.fit")
def _fit(call: Call, target: Value) -> Value:
    return Instance("tf.keras.callbacks.History", call)


@models("tf.keras.Model.compile", "tf.keras.Model.summary", "tf.keras.Sequential.add", "tf.keras.Model.save")
def _none(call: Call, target: Value) -> Value:
    return Const(None)


@models("tf.keras.utils.pad_sequences")
def _pad_sequences(call: Call, target: Value) -> Value:
    given, length = call.value_of("sequences"), integer(call.value_of("maxlen"))
    rows = given.shape[0] if isinstance(given, Array) and given.shape else None
    dtype = dtype_of(call.value_of("dtype"), "float64") if call.arg("dtype") is not None else "int32"
    return Array("np", dtype, (rows, length), call, call.arg("dtype") is not None)
