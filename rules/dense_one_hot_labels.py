from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._dense_one_hot_labels import bytes_of, is_small

from tfmemlint.api import (
    Api,
    Array,
    Call,
    Const,
    Edit,
    File,
    Finding,
    Instance,
    Rule,
    Value,
    fixes,
    integer,
    keras,
    limits,
    on_call,
)

MANY_CLASSES = 32
EVALUATE = "tf.keras.Model.evaluate"
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
    With label smoothing, mixup or soft labels, which need the rows; label smoothing is seen and not reported. Nor are
    fewer than 32 classes, or an unknown number of them, whose rows stay below `min-bytes`: an unknown number counts as
    many for the words of a text, and where each pixel or step has a label of its own. Nor are up to 100 classes where
    nobody knows how many labels there are, rows that are known to take 4 MiB at most, or 64 MiB and a tenth of
    their data, nor the labels with which a model is tested after each step, where their number is not known.

    ## References
    - https://keras.io/api/losses/probabilistic_losses/#sparsecategoricalcrossentropy-class
    """

    code = "TFM205"
    summary = "one-hot labels take one number per class instead of one integer"
    no_fix = "labels, loss and metrics change together"
    in_tests = False

    @on_call("tf.keras.Model.fit", EVALUATE)
    def check(self, fit: Call, file: File) -> Iterator[Finding]:
        losses = keras.losses(file, fit)
        if not losses or not all(map(_is_categorical, losses)):
            return
        for labels in keras.label_arrays(fit):
            made = labels.origin
            if made is None or made.name not in MAKERS:
                continue
            if file.contexts.per_item(made.node) or file.contexts.traced(made.node):
                continue
            classes = _classes(file, made)
            size = bytes_of(labels, made.value_of(0), classes)
            if is_small(fit, labels, size):
                continue
            if size is None and fit.name == EVALUATE and file.contexts.per_item(fit.node):
                continue  # who tests a model after each step does so with a few examples
            if size is None and classes is not None and classes <= limits.FEW_COLUMNS:
                continue  # of labels of which nobody knows how many there are, 10 000 have 8 MB at most
            if not _many(file, made, classes) and (size is None or size < file.config.min_bytes):
                continue
            many = f"{classes} numbers" if classes is not None else "one number per class"
            yield self.finding(
                made,
                file,
                f"one-hot labels keep {many} for each example{{cost}}; keep integers and use "
                "sparse_categorical_crossentropy",
                related=[(fit, "given to the model here")],
                bytes=size,
                contrast=_integers(file, made),
            )


def _integers(file: File, made: Call) -> Edit | None:
    """The labels as they are, for a program that stops where the loss meets them."""
    labels = made.arg(0)
    return None if labels is None else fixes.unwrap_call(file, made.node, labels.expression)


def _is_categorical(loss: Value) -> bool:
    """Whether a loss is plain categorical cross-entropy, which has a sparse twin."""
    if isinstance(loss, Instance) and loss.type_name == "tf.keras.losses.CategoricalCrossentropy":
        return loss.call is not None and loss.call.lacks("label_smoothing")
    return loss in LOSSES


def _many(file: File, made: Call, classes: int | None) -> bool:
    """Whether each label takes many numbers: it has many classes, or stands for many places (pixels, words), each of
    which gets a row. Of how many classes nothing is known, there are mostly few."""
    if classes is not None:
        return classes >= MANY_CLASSES
    labels = made.value_of(0)
    shape = labels.shape if isinstance(labels, Array) else None
    places = len(shape) - (shape[-1] == 1) if shape else 0
    said = made.arg("num_classes", "depth")
    return places > 1 or (said is not None and keras.counted_words(file, said.expression) is not None)


def _classes(file: File, made: Call) -> int | None:
    """The length of the rows, as far as it is known: said by the call, or the number of classes."""
    said = integer(made.given("num_classes", "depth"))
    return said if said is not None else keras.class_count(file, made.value_of(0))
