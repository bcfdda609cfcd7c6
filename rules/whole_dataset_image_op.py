from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import File, Finding, Rule, on, tensors


class WholeDatasetImageOp(Rule):
    """
    ## What it does
    Reports `tf.image` functions, `tf.cast`, `tf.one_hot` and Keras preprocessing layers that are given a whole data set
    of `keras.datasets` at once, where the result is larger than `min-bytes`. Of several behind each other, the one with
    the largest result; of one op for training and tests, the larger.

    ## Why it costs memory
    The result exists for all examples at once, beside the data: CIFAR-10 resized to 224 x 224 takes 28 GiB. Mapped over
    batches in tf.data, or as a layer of the model, it exists for a few batches.

    ## When not to use it
    Where the result is computed once and used often, and fits.

    ## References
    - https://www.tensorflow.org/tutorials/images/data_augmentation
    """

    code = "TFM708"
    summary = "an image op on a whole data set at once"
    no_fix = "where the batches are made is not known"
    in_tests = False

    @on(tensors.whole_ops)
    def check(self, found: tensors.WholeOp, file: File) -> Iterator[Finding]:
        if found.bytes < file.config.min_bytes or file.may_be_version_1:
            return
        same = [each for each in tensors.whole_ops.of(file) if _of_same_data(each, found)]
        largest = max(same, key=lambda each: each.bytes)
        if largest is not found:
            return
        yield self.finding(
            found.call,
            file,
            f"this is computed for all {found.rows} examples at once{{cost}}; map it over batches in tf.data, "
            "or make it a layer of the model",
            bytes=found.bytes,
            related=[
                (found.loaded, "loaded here"),
                *((each.call, "computed alike here") for each in same if each.rows != found.rows),
            ],
        )


def _of_same_data(one: tensors.WholeOp, other: tensors.WholeOp) -> bool:
    """Whether two ops are given the same examples, of one call that loads them, or are the same op for two parts of it,
    as for training and tests."""
    alike = one.rows == other.rows or (one.call.name is not None and one.call.name == other.call.name)
    return alike and one.loaded.node is other.loaded.node
