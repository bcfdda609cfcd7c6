from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, Does, File, Finding, Node, Rule, Use, gradients, knowledge, on_call, uses


class SparseGradientDensified(Rule):
    """
    ## What it does
    Reports arithmetic on the gradient of an embedding table: of an `Embedding` layer, or of a variable that the tape
    only sees looked up.

    ## Why it costs memory
    That gradient is sparse: it holds only the rows that a batch touched. Sums and conversions make a dense tensor of
    the whole table's size of it; Python operators with a number raise `TypeError`.

    ## When not to use it
    For small tables.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/IndexedSlices
    """

    code = "TFM706"
    summary = "arithmetic makes the sparse gradient of an embedding dense"
    no_fix = "an accumulator variable is needed"
    in_tests = False

    @on_call("tf.GradientTape.gradient")
    def check(self, gradient: Call, file: File) -> Iterator[Finding]:
        for use in gradients.sparse_gradients(file, gradient):
            where = _densified(file, use)
            if where is not None:
                yield self.finding(
                    where,
                    file,
                    "this gradient is sparse, and here it becomes dense: a tensor of the whole table's size, "
                    "or a TypeError",
                    related=[(gradient, "the sparse gradient")],
                )


def _densified(file: File, use: Use) -> Call | Node | None:
    """The arithmetic that a use of the gradient goes into, alone or in a list."""
    if use.does is Does.COMPUTE and isinstance(use.place, (cst.BinaryOperation, cst.AugAssign)):
        return use.place
    listed = use.does is Does.STORE and isinstance(use.place, (cst.List, cst.Tuple))
    given = uses(file, use.place) if listed and use.place is not None else (use,)
    calls = (each.call for each in given if each.does is Does.PASS and each.call is not None)
    return next((call for call in calls if knowledge.in_group(call.name, "makes_dense")), None)
