from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    File,
    Finding,
    Fix,
    Function,
    Instance,
    Mapping,
    Rule,
    Safety,
    Sequence,
    Shows,
    fixes,
    on,
    ordering,
    repetition,
    tracing,
)


class RetraceOnPythonValue(Rule):
    """
    ## What it does
    Reports traced functions that are called in a loop with a Python number, string or list that changes, or with a new
    lambda, object or bound method each time: each access of `solver.force` makes one.

    ## Why it costs memory
    Each distinct Python value is a trace of its own: another graph, which is never freed. Time and host memory grow
    with every iteration. `reduce_retracing` does not help for Python values.

    ## Fix safety
    Unsafe: inside the function the parameter is a tensor then, also in `if` and in f-strings.

    ## When not to use it
    When the function needs the value as a Python number, for a shape or `range`; such uses are seen and not reported.

    ## References
    - https://www.tensorflow.org/guide/function#controlling_retracing
    """

    code = "TFM501"
    summary = "a Python value that changes makes a new graph each time"
    fix_safety = (Safety.UNSAFE,)

    @on(tracing.traced_calls)
    def check(self, traced: tracing.TracedCall, file: File) -> Iterator[Finding]:
        call, function = traced.call, traced.function
        if file.contexts.traced(call.node) or "input_signature" in tracing.tracing_options(file, function):
            return
        loops = list(file.contexts.loops(call.node))
        if loops and all(ordering.runs_once(file, call.node, loop) for loop in loops):
            return
        found = list(self._changing(traced, file))
        if not found:
            return
        value, name, fresh = found[0]
        # Of several values the dtype of one depends on that of the others: repairing one leaves the finding, and all
        # at once may give a sum of floats an int32.
        repairable = fresh is None and len(found) == 1
        named = function.node.name if isinstance(function.node, cst.FunctionDef) else None
        yield self.finding(
            call,
            file,
            f"{fresh or f'the Python value {file.text(value)}'} differs in each iteration, and each makes a new graph "
            f"that is never freed; {'make it once, outside' if fresh else 'pass a tensor'}",
            fix=self._tensor(value, name, function, file) if repairable else None,
            related=[(named, "the traced function")] if named is not None else [],
            shows=Shows(metric="traces_slope", function=named.value if named is not None else ""),
        )

    def _changing(self, traced: tracing.TracedCall, file: File) -> Iterator[tuple[cst.BaseExpression, str, str | None]]:
        """The arguments that make a new graph each time: the value, the parameter, and what it is if made anew."""
        owner = traced.call.receiver_node or traced.call.node.func
        for arg in (each for each in traced.call.node.args if not each.star):
            if repetition.changes_with(file, arg.value, owner):
                continue  # a new object's method, and a new function, are traced anew whatever they are given
            name, fresh = tracing.parameter_of(traced.call, arg), _new_object(arg.value, file)
            differing = fresh is None and name != "" and repetition.differs(file, arg.value)
            if fresh is not None or (differing and not tracing.needs_python(file, traced.function, name)):
                yield arg.value, name, fresh

    def _tensor(self, value: cst.BaseExpression, name: str, function: Function, file: File) -> Fix | None:
        """`tf.constant(value)` with the dtype that the function calculates in; None where that is not known."""
        spelled, known = fixes.api_text(file, "tf.constant"), file.value(value)
        collection = any(isinstance(option, (Mapping, Sequence)) for option in known.options)
        dtype = tracing.dtype_for(file, function, name, value)
        if spelled is None or dtype is None or collection or isinstance(value, cst.Dict):
            return None
        module = spelled.rpartition(".")[0]
        written = f", {module}.{dtype}" if dtype and module else f", '{dtype}'" if dtype else ""
        return Fix.unsafe("pass a tensor", fixes.replace_node(file, value, f"{spelled}({file.text(value)}{written})"))


def _new_object(expression: cst.BaseExpression, file: File) -> str | None:
    """What an object is that is made anew for each call: a lambda, a local function, a bound method, an instance."""
    made, value = repetition.made_anew(file, expression), file.value(expression)
    if isinstance(value, Function) and value.node is made and not value.traced:
        return "a new lambda" if isinstance(made, cst.Lambda) else f"the new function {file.text(expression)}"
    if made is expression and tracing.is_bound_method(value):
        return "a new bound method"
    if not isinstance(value, Instance) or value.call is None or value.call.node is not made:
        return None
    if value.type_name == "functools.partial":
        return "a new partial function"
    plain = value.class_node is not None and not (value.class_node.bases or value.class_node.decorators)
    return "a new object" if plain or (value.type_name or "").startswith("tf.keras.losses.") else None
