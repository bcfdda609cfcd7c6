from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from tfmemlint.api import Call, Does, File, Finding, Rule, Severity, facts, limits, on, repetition, tracing, uses


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
        elif _never_differentiated(file, _calls(file, wrapped, function)):
            yield self.finding(
                wrapped.where, file, "no gradient is taken through this function: recomputing saves nothing"
            )


def _calls(file: File, wrapped: facts.Wrapped, function: cst.FunctionDef | cst.Lambda) -> Sequence[Call]:
    """The calls of what `recompute_grad` gives; none where it goes anywhere else."""
    if not isinstance(wrapped.where, Call):
        return file.call_graph.callers(function) or ()
    used = list(uses(file, wrapped.made))
    return [use.call for use in used if use.call is not None] if all(use.does is Does.CALL for use in used) else ()


def _never_differentiated(file: File, callers: Sequence[Call]) -> bool:
    """Whether the program makes just one call, from its top or a function of which the same is true, under no tape."""
    for _ in range(limits.FOLLOWED_CALLS):
        if len(callers) != 1:
            return False
        call = callers[0].node
        if file.contexts.entered(call, "tf.GradientTape") is not None:
            return False
        if repetition.repeats(file, call, calls=0) is not None:
            return False
        around = file.contexts.function(call)
        if around is None:
            return True
        callers = file.call_graph.callers(around) or ()
    return False
