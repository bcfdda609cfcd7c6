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
    show_bytes,
)

MANY_CLASSES = 32
CLASSES = {"mnist": 10, "fashion_mnist": 10, "cifar10": 10, "cifar100": 100, "reuters": 46, "imdb": 2}
"""Classes of Keras' bundled data sets, which `to_categorical` finds where it is not told."""

SOFTMAX = (Const("softmax"), Api("tf.nn.softmax"), Api("tf.keras.activations.softmax"))
MAKERS = ("tf.keras.utils.to_categorical", "tf.one_hot")


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
        for labels in self._labels(fit):
            made = labels.origin
            if made is None or made.name not in MAKERS or not self._categorical(fit, file):
                continue
            if not file.contexts.per_item(made.node) and not file.contexts.traced(made.node):
                yield from self._report(made, labels, fit, file)

    def _report(self, made: Call, labels: Array, fit: Call, file: File) -> Iterator[Finding]:
        classes = integer(made.value_of("num_classes" if made.name == MAKERS[0] else "depth"))
        if classes is None:
            classes = _counted(made) or _told_apart(file)
        size = labels.bytes
        if not self._large(classes, size, file):
            return
        cost = f": {show_bytes(size)}" if size is not None else ""
        many = f"{classes} numbers" if classes is not None else "one number per class"
        yield self.finding(
            made,
            file,
            f"one-hot labels keep {many} for each example{cost}; keep integers and use sparse_categorical_crossentropy",
            related=[(fit, "given to the model here")],
            bytes=size,
        )

    def _large(self, classes: int | None, size: int | None, file: File) -> bool:
        if size is not None and size >= file.config.min_bytes:
            return True
        return classes is None or classes >= MANY_CLASSES

    def _labels(self, fit: Call) -> list[Array]:
        values = [fit.value_of("y")]
        for option in fit.value_of("validation_data").options:
            if isinstance(option, Sequence) and len(option.items) > 1:
                values.append(option.items[1])
        for option in fit.value_of("x").options:
            if isinstance(option, Dataset):
                values.append(option.element)
        leaves = [leaf for value in values for option in value.options for leaf in elements(option)]
        return [leaf for leaf in leaves if isinstance(leaf, Array)]

    def _categorical(self, fit: Call, file: File) -> bool:
        """Whether every `compile` of this model asks for plain categorical cross-entropy."""
        compiles = [c for c in file.calls("tf.keras.Model.compile") if c.receiver == fit.receiver]
        compiles = compiles or list(file.calls("tf.keras.Model.compile"))
        return bool(compiles) and all(self._plain(c) for c in compiles)

    def _plain(self, compiled: Call) -> bool:
        loss = compiled.value_of("loss")
        if isinstance(loss, Const):
            return loss.value in ("categorical_crossentropy", "CategoricalCrossentropy")
        if isinstance(loss, Instance) and loss.type_name == "tf.keras.losses.CategoricalCrossentropy":
            return loss.call is not None and loss.call.lacks("label_smoothing")
        return getattr(loss, "name", None) == "tf.keras.losses.categorical_crossentropy"


def _counted(made: Call) -> int | None:
    """The number of classes that the labels of a bundled data set have."""
    labels = made.value_of(0)
    origin = labels.origin.name if isinstance(labels, Array) and labels.origin is not None else None
    return CLASSES.get((origin or "").removesuffix(".load_data").rpartition(".")[2])


def _told_apart(file: File) -> int | None:
    """The most classes that a softmax layer of the file tells apart; None where one's size is not known."""
    layers = [c for c in file.calls("tf.keras.layers.Dense") if c.value_of("activation") in SOFTMAX]
    counts = [integer(layer.value_of("units")) for layer in layers]
    known = [count for count in counts if count is not None]
    return max(known) if known and len(known) == len(counts) else None
