from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Array, Call, Edit, File, Finding, Fix, Rule, Safety, Severity, constant, on_call, show_bytes


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
        if constant(jacobian.value_of("experimental_use_pfor")) is False:
            return
        target, source = jacobian.value_of("target"), jacobian.value_of("sources", "source")
        if (
            not isinstance(target, Array)
            or not isinstance(source, Array)
            or target.size is None
            or source.bytes is None
        ):
            return
        rows = (
            target.size
            if jacobian.method == "jacobian" or not target.shape
            else target.size // max(1, target.shape[0] or 1)
        )
        cost = rows * source.bytes
        if cost < file.config.min_bytes:
            return
        end = file.span(jacobian.node).end - 1
        yield self.finding(
            jacobian,
            file,
            f"the vectorized backward pass holds {rows} rows at once: {show_bytes(cost)} for the result alone",
            fix=Fix("compute the rows in a loop", (Edit(end, end, ", experimental_use_pfor=False"),), Safety.DISPLAY),
            bytes=cost,
        )
