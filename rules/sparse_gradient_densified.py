from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._gradient_uses import gradients_of
from tfmemlint_rules._sparse import sparse_sources

from tfmemlint.api import Call, File, Finding, Node, Rule, on_call

DENSIFIES = frozenset(
    f"tf.{prefix}{name}" for prefix in ("", "math.", "linalg.")
    for name in (
        "convert_to_tensor", "add_n", "add", "subtract", "multiply", "divide", "reduce_mean", "reduce_sum",
        "reduce_max", "reduce_min", "reduce_std", "reduce_variance", "norm", "abs", "square", "sqrt", "concat",
        "stack", "reshape", "is_nan", "is_finite", "where", "sign", "maximum", "minimum",
    )
) | {"tf.Variable.assign_add", "tf.Variable.assign_sub", "tf.Variable.assign", "np.array", "np.asarray"}  # fmt: skip
OPERATORS = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power)


class SparseGradientDensified(Rule):
    """
    ## What it does
    Reports arithmetic on the gradient of an embedding table: of an `Embedding` layer, or of a variable that the tape
    only sees looked up.

    ## Why it costs memory
    That gradient is sparse: it holds only the rows that a batch touched. Sums and conversions make a dense tensor of
    the whole table's size of it (a table of 51 MB and the sum took 205 MB in place of 102 MB); Python operators with a
    number raise `TypeError`.

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
        sources = sparse_sources(gradient, file)
        if sources is None:
            return
        for use in gradients_of(gradient, sources, file):
            where = _densified(use, file)
            if where is not None:
                yield self.finding(
                    where,
                    file,
                    "this gradient is sparse, and here it becomes dense: a tensor of the whole table's size, "
                    "or a TypeError",
                    related=[(gradient, "the sparse gradient")],
                )


def _densified(use: Node, file: File) -> Call | Node | None:
    """The arithmetic that a use of the gradient goes into."""
    parent = file.tree.parent(use)
    if isinstance(parent, cst.BinaryOperation):
        return parent if isinstance(parent.operator, OPERATORS) else None
    if isinstance(parent, cst.AugAssign):
        return parent
    while isinstance(parent, (cst.Element, cst.List, cst.Tuple)):
        parent = file.tree.parent(parent)
    call = file.tree.parent(parent) if isinstance(parent, cst.Arg) else None
    if isinstance(call, cst.Call) and file.call(call).name in DENSIFIES:
        return file.call(call)
    return None
