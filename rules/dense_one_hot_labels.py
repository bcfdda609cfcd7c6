from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Api,
    Array,
    Call,
    Const,
    Dataset,
    File,
    Finding,
    Instance,
    Rule,
    Sequence,
    elements,
    integer,
    on_call,
)

MANY_CLASSES = 32
CLASSES = {"mnist": 10, "fashion_mnist": 10, "cifar10": 10, "cifar100": 100, "reuters": 46, "imdb": 2}
"""Classes of Keras' bundled data sets, which `to_categorical` finds where it is not told."""
SOFTMAX = (Const("softmax"), Api("tf.nn.softmax"), Api("tf.keras.activations.softmax"))
MAKERS = ("tf.keras.utils.to_categorical", "tf.one_hot")
LOSSES = (
    Const("categorical_crossentropy"), Const("CategoricalCrossentropy"),
    Api("tf.keras.losses.categorical_crossentropy"),
)  # fmt: skip


class DenseOneHotLabels(Rule):
    """
    ## What it does
    Reports labels of a whole data set that are expanded to one-hot rows for a model with categorical cross-entropy,
    where there are many classes or the expanded labels are large.

    ## Why it costs memory
    Each label grows from one integer to one number for every class; `to_categorical` makes them float64 in Keras 3.
    20 000 labels of 1000 classes take 153 MiB instead of 156 KiB.

    ## When not to use it
    With label smoothing, mixup or soft labels, which need the rows; label smoothing is seen and not reported.

    ## References
    - https://keras.io/api/losses/probabilistic_losses/#sparsecategoricalcrossentropy-class
    """

    code = "TFM205"
    summary = "one-hot labels take one number per class instead of one integer"
    no_fix = "labels, loss and metrics change together"
    in_tests = False

    @on_call("tf.keras.Model.fit", "tf.keras.Model.evaluate")
    def check(self, fit: Call, file: File) -> Iterator[Finding]:
        for labels in _labels(fit):
            made = labels.origin
            if made is None or made.name not in MAKERS or not _categorical(file, fit):
                continue
            if file.contexts.per_item(made.node) or file.contexts.traced(made.node):
                continue
            classes, size = _classes(file, made), labels.bytes
            if classes is not None and classes < MANY_CLASSES and (size is None or size < file.config.min_bytes):
                continue
            many = f"{classes} numbers" if classes is not None else "one number per class"
            yield self.finding(
                made,
                file,
                f"one-hot labels keep {many} for each example{{cost}}; keep integers and use "
                "sparse_categorical_crossentropy",
                related=[(fit, "given to the model here")],
                bytes=size,
            )


def _labels(fit: Call) -> list[Array]:
    """The labels that a method is given, of the validation data too."""
    values = [fit.value_of("y")]
    values += [o.items[1] for o in fit.given("validation_data").options if isinstance(o, Sequence) and len(o.items) > 1]
    values += [option.element for option in fit.value_of("x").options if isinstance(option, Dataset)]
    leaves = (leaf for value in values for option in value.options for leaf in elements(option))
    return [leaf for leaf in leaves if isinstance(leaf, Array)]


def _categorical(file: File, fit: Call) -> bool:
    """Whether every `compile` of this model asks for plain categorical cross-entropy."""
    compiles = list(file.calls("tf.keras.Model.compile"))
    own = [each for each in compiles if each.receiver == fit.receiver]
    return bool(compiles) and all(_plain(each) for each in own or compiles)


def _plain(compiled: Call) -> bool:
    loss = compiled.value_of("loss")
    if isinstance(loss, Instance) and loss.type_name == "tf.keras.losses.CategoricalCrossentropy":
        return loss.call is not None and loss.call.lacks("label_smoothing")
    return loss in LOSSES


def _classes(file: File, made: Call) -> int | None:
    """The number of classes: said by the call, or that of a bundled data set, or the most that a softmax layer of the
    file tells apart; None where it is not known."""
    said = integer(made.value_of("num_classes" if made.name == MAKERS[0] else "depth"))
    given = made.value_of(0)
    origin = given.origin.name if isinstance(given, Array) and given.origin is not None else None
    bundled = CLASSES.get((origin or "").removesuffix(".load_data").rpartition(".")[2])
    if said is not None or bundled is not None:
        return said if said is not None else bundled
    layers = [each for each in file.calls("tf.keras.layers.Dense") if each.value_of("activation") in SOFTMAX]
    units = [integer(layer.value_of("units")) for layer in layers]
    known = [count for count in units if count is not None]
    return max(known) if known and len(known) == len(units) else None
