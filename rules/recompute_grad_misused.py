from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._state import guarded, makes_state

from tfmemlint.api import (
    Call,
    File,
    Finding,
    Function,
    Rule,
    Severity,
    Wrapped,
    functions_given_to,
    on,
    walk,
)

RECOMPUTE = "tf.recompute_grad"


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

    @on(functions_given_to("tf.recompute_grad"))
    def check(self, wrapped: Wrapped, file: File) -> Iterator[Finding]:
        where, function = wrapped.where, wrapped.function
        made = next(_makes(function, file, 2), None) if function is not None else None
        if made is not None:
            yield self.finding(
                where,
                file,
                f"the function creates {makes_state(made)}, and it runs again in the backward pass with new ones: the "
                "gradients are wrong",
                related=[(made, "created here")],
            )
            return
        if (
            isinstance(where, cst.CSTNode)
            and isinstance(function, cst.FunctionDef)
            and self._never_differentiated(function, file)
        ):
            yield self.finding(where, file, "no gradient is taken through this function: recomputing saves nothing")

    def _never_differentiated(self, function: cst.FunctionDef, file: File, depth: int = 3) -> bool:
        """Whether the program calls the function once, from its top or a function of which the same is true, under no
        tape."""
        callers = file.values.functions.callers(function)
        if callers is None or len(callers) != 1 or depth == 0:
            return False
        call = callers[0].node
        if file.contexts.entered(call, "tf.GradientTape") is not None or file.contexts.loop(call) is not None:
            return False
        around = file.contexts.function(call)
        return around is None or (
            isinstance(around, cst.FunctionDef) and self._never_differentiated(around, file, depth - 1)
        )


def _makes(function: cst.FunctionDef | cst.Lambda, file: File, depth: int) -> Iterator[Call]:
    """The calls that create state when a function runs, in the functions of the module that it calls, too."""
    for node in walk(function.body):
        if not isinstance(node, cst.Call) or guarded(file, node, function):
            continue
        call = file.call(node)
        if makes_state(call) is not None:
            yield call
        for target in call.target.options if depth else ():
            if isinstance(target, Function) and target.node is not function:
                yield from _makes(target.node, file, depth - 1)
