from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Array,
    Call,
    Const,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    facts,
    fixes,
    flow,
    limits,
    on_call,
    tensors,
    walk,
)

STATISTICS = ("featurewise_center", "featurewise_std_normalization", "zca_whitening")


class GeneratorFitUnused(Rule):
    """
    ## What it does
    Reports `fit(x)` of an `ImageDataGenerator` that centers, normalises and whitens nothing by statistics of the data:
    made without `featurewise_center`, `featurewise_std_normalization` and `zca_whitening`.

    ## Why it costs memory
    `fit` copies all images as floats, four times the bytes of pixels and for a moment twice, computes what these
    options ask for, and forgets the copy. Without one of them nothing is computed.

    ## Fix safety
    Safe where the statement does nothing else: `fit` leaves the generator as it is. Unsafe where it draws random
    numbers (`augment=True`) or sets NumPy's seed (`seed=`), and where its argument is the result of a call.

    ## When not to use it
    When an option is to be turned on later and the call is to stay for it. An image or a few, known to fit into one
    batch of `predict`, are not reported.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/keras/preprocessing/image/ImageDataGenerator#fit
    """

    code = "TFM617"
    summary = "ImageDataGenerator.fit copies all images for statistics that nobody asked for"
    fix_safety = (Safety.SAFE, Safety.UNSAFE)

    @on_call("tf.keras.preprocessing.image.ImageDataGenerator.fit")
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        makers = flow.makers(call.receiver)
        if len(makers) != len(call.receiver.options) or any(self._asks(maker) for maker in makers):
            return
        if any(next(iter(facts.attributes_set(word).of(file)), None) is not None for word in STATISTICS):
            return
        given = call.arg("x")
        rows = tensors.rows_in(file, given.expression, callers=limits.FOLLOWED_CALLS) if given is not None else None
        if rows is not None and rows <= limits.ONE_BATCH:
            return  # an image to show
        images = call.value_of("x")
        size = images.size if isinstance(images, Array) and all(maker.lacks("dtype") for maker in makers) else None
        yield self.finding(
            call,
            file,
            "fit() copies all images as floats{cost} for statistics that this generator does not use; leave it out",
            fix=self._left_out(call, file),
            related=[(maker, "made here, with no option that needs it") for maker in makers],
            bytes=4 * size if size is not None else None,
        )

    def _asks(self, maker: Call) -> bool:
        """Whether a generator may use statistics of the data."""
        given = (maker.value_of(option) for option in STATISTICS if not maker.lacks(option))
        return any(not isinstance(value, Const) or bool(value.value) for value in given)

    def _left_out(self, call: Call, file: File) -> Fix | None:
        statement = file.tree.parent(call.node)
        edit = fixes.remove_statement(file, statement) if isinstance(statement, cst.Expr) else None
        draws = not all(call.lacks(option) for option in ("augment", "seed", "rounds"))
        computes = any(inner for arg in call.node.args for inner in walk(arg.value, cst.Call))
        return Fix.of(Safety.UNSAFE if draws or computes else Safety.SAFE, "leave it out", edit)
