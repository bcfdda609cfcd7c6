from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Finding, Rule, Severity, facts, limits, on, repetition, tracing


class RecomputeGradMisused(Rule):
    """
    ## What it does
    Reports `tf.recompute_grad` around a function that creates layers or variables, or around one that is called once
    and never differentiated.

    ## Why it costs memory
    The function runs again in the backward pass. If it creates its layers itself, the second run has other random
    weights: the gradients are wrong, the weights are never trained, and every run leaves new ones behind. In a
    `tf.function` it raises `ValueError`. Where no gradient is taken it saves nothing.

    ## When not to use it
    Never.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/recompute_grad
    """

    code = "TFM507"
    summary = "recompute_grad around code that creates weights gives wrong gradients"
    no_fix = "the objects must move out of the function"
    severity = Severity.ERROR

    @on(facts.functions_given_to("tf.recompute_grad"))
    def check(self, wrapped: facts.Wrapped, file: File) -> Iterator[Finding]:
        function = wrapped.function
        if function is None:
            return
        made = next(tracing.state_made_by(file, function), None)
        if made is not None:
            yield self.finding(
                wrapped.where,
                file,
                f"the function creates {tracing.creates_state(file, made)}, and it runs again in the backward pass "
                "with new ones: the gradients are wrong",
                related=[(made, "created here")],
            )
        elif not isinstance(wrapped.where, Call) and self._never_differentiated(function, file):
            yield self.finding(
                wrapped.where, file, "no gradient is taken through this function: recomputing saves nothing"
            )

    def _never_differentiated(self, function: cst.FunctionDef | cst.Lambda, file: File) -> bool:
        """Whether the program calls the function once, from its top or a function of which the same is true, under no
        tape."""
        around: cst.FunctionDef | cst.Lambda | None = function
        for _ in range(limits.FOLLOWED_CALLS):
            callers = file.call_graph.callers(around) if around is not None else None
            if callers is None or len(callers) != 1:
                return False
            call = callers[0].node
            if (
                file.contexts.entered(call, "tf.GradientTape") is not None
                or repetition.repeats(file, call, calls=0) is not None
            ):
                return False
            around = file.contexts.function(call)
            if around is None:
                return True
        return False
