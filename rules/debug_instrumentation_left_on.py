from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Edit,
    File,
    Finding,
    Fix,
    Node,
    Rule,
    Safety,
    calls,
    fixes,
    keras,
    limits,
    on_call,
    ordering,
)

OFF = {
    "tf.debugging.enable_check_numerics": "tf.debugging.disable_check_numerics",
    "tf.debugging.experimental.enable_dump_debug_info": "tf.debugging.experimental.disable_dump_debug_info",
}
COSTS = {
    "tf.debugging.enable_check_numerics": (
        "every op's result is checked, which raises the peak of graphs and slows down eager ops"
    ),
    "tf.debugging.experimental.enable_dump_debug_info": "a record of every op is kept in memory and on disk",
}


class DebugInstrumentationLeftOn(Rule):
    """
    ## What it does
    Reports `tf.debugging.enable_check_numerics()` and `tf.debugging.experimental.enable_dump_debug_info()` at module
    level or in code that trains, not behind a flag and never switched off: a function or a class with a method that
    trains a model, or a function that the module calls.

    ## Why it costs memory
    Checking every op's result raises the peak of a graph and slows down every eager op. Dumping debug information
    keeps a record of every op in memory and on disk.

    ## Fix safety
    Unsafe: an overflow is not reported at its op any more.

    ## When not to use it
    While searching for a NaN.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/debugging/enable_check_numerics
    """

    code = "TFM802"
    summary = "numeric checks and debug dumps left on double the peak and slow every op"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_call(*OFF)
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        name = call.name or ""
        if not any(file.calls(OFF[name])) and _runs_always(file, call.node, limits.FOLLOWED_CALLS):
            fix = Fix.unsafe("remove it", _removal(file, call))
            yield self.finding(call, file, f"debugging left on: {COSTS[name]}", fix=fix)


def _removal(file: File, call: Call) -> Edit | None:
    statement = file.tree.parent(call.node)
    return fixes.remove_statement(file, statement) if isinstance(statement, cst.Expr) else None


def _runs_always(file: File, node: Node, left: int) -> bool:
    """Whether the module, code that trains, or what one of these calls reaches a place without a condition."""
    function = file.contexts.function(node)
    if ordering.under_condition(file, node):
        return False
    if not isinstance(function, cst.FunctionDef) or _trains(file, function):
        return True
    callers = file.call_graph.callers(function) if left else ()
    return any(_runs_always(file, caller.node, left - 1) for caller in callers or ())


def _trains(file: File, function: cst.FunctionDef) -> bool:
    """Whether a function, or any method of its class, trains a model, with Keras or by a tape."""
    owner = file.class_of(function)
    code = file.values.classes.methods(owner) if owner is not None else [function]
    tapes = (each for body in code for each in calls(file, body, "tf.GradientTape", through=limits.FOLLOWED_CALLS))
    return any(keras.fits(file, body) for body in code) or next(tapes, None) is not None
