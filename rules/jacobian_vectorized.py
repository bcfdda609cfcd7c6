from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Array, Call, Const, File, Finding, Fix, Rule, Safety, Severity, fixes, on_call, show_bytes


class JacobianVectorized(Rule):
    """
    ## What it does
    Gives the advice to compute a large Jacobian without vectorization, where the sizes of target and source are known.

    ## Why it costs memory
    By default all rows are computed at once, and the intermediate results of the backward pass exist once for every
    element of the target.

    ## Fix safety
    Shown only: it is several times slower and needs a persistent tape.

    ## When not to use it
    When the memory is there.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/GradientTape#jacobian
    """

    code = "TFM407"
    summary = "a vectorized Jacobian holds the backward pass of every target element at once"
    severity = Severity.INFO
    default = False
    fix_safety = (Safety.DISPLAY,)

    @on_call("tf.GradientTape.jacobian", "tf.GradientTape.batch_jacobian")
    def check(self, jacobian: Call, file: File) -> Iterator[Finding]:
        target, source = jacobian.value_of("target"), jacobian.given("sources", "source")
        if not isinstance(target, Array) or not isinstance(source, Array):
            return
        if target.size is None or source.bytes is None or jacobian.value_of("experimental_use_pfor") == Const(False):
            return
        batch = target.shape[0] if target.shape and jacobian.method == "batch_jacobian" else 1
        rows = target.size // max(1, batch or 1)
        if rows * source.bytes < file.config.min_bytes:
            return
        edit = fixes.add_argument(file, jacobian.node, "experimental_use_pfor=False")
        yield self.finding(
            jacobian,
            file,
            f"the vectorized backward pass holds {rows} rows at once: {show_bytes(rows * source.bytes)} for the result "
            "alone",
            fix=Fix.shown("compute the rows in a loop", edit),
            bytes=rows * source.bytes,
        )
