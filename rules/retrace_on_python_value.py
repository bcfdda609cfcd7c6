from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._changing import changing_python_value
from tfmemlint_rules._growing import Rounds
from tfmemlint_rules._python_uses import float_parameter, needs_python
from tfmemlint_rules._traced_calls import signed, traced_calls

from tfmemlint.api import (
    Binds,
    Call,
    Class,
    File,
    Finding,
    Fix,
    Function,
    Mapping,
    Rule,
    Safety,
    Sequence,
    api_text,
    constant,
    on_file,
    replace_node,
)


class RetraceOnPythonValue(Rule):
    """
    ## What it does
    Reports traced functions that are called in a loop with a Python number, string or list that changes, or with a new
    lambda or object each time.

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

    @on_file("function")
    def check(self, file: File) -> Iterator[Finding]:
        for call, function in traced_calls(file):
            if call.node.args and not file.contexts.traced(call.node) and not signed(function, file):
                yield from self._arguments(call, function, file)

    def _arguments(self, call: Call, function: Function, file: File) -> Iterator[Finding]:
        found = list(self._changing(call, function, file))
        if not found:
            return
        value, name, fresh = found[0]
        # Of several values the dtype of one depends on that of the others: repairing one leaves the finding, and all
        # at once may give a sum of floats an int32.
        repairable = fresh is None and len(found) == 1
        traced = function.node.name if isinstance(function.node, cst.FunctionDef) else None
        yield self.finding(
            call,
            file,
            f"{fresh or f'the Python value {file.text(value)}'} differs in each iteration, and each makes a "
            f"new graph that is never freed; {'make it once, outside' if fresh else 'pass a tensor'}",
            fix=self._tensor(value, name, function, file) if repairable else None,
            related=[(traced, "the traced function")] if traced is not None else [],
        )

    def _changing(
        self, call: Call, function: Function, file: File
    ) -> Iterator[tuple[cst.BaseExpression, str, str | None]]:
        """The arguments that make a new graph each time: the value, the parameter, and what it is if made anew."""
        for index, arg in enumerate(call.node.args):
            fresh = None if arg.star else self._fresh(arg.value, file)
            if arg.star or (fresh is None and not changing_python_value(arg.value, file)):
                continue
            positional = call.parameter_names[index] if index < len(call.parameter_names) else None
            name = arg.keyword.value if arg.keyword else positional
            if fresh is None and (name is None or needs_python(function, name, file)):
                continue
            yield arg.value, name or "", fresh

    def _fresh(self, value: cst.BaseExpression, file: File) -> str | None:
        """What an object is that is made anew for each call: a lambda, a local function, an instance."""
        rounds = Rounds.around(value, file)
        made = value
        if isinstance(value, cst.Name):
            d = file.only_definition(value)
            if d is None or not rounds.holding(d.node) or d.path or rounds.few(rounds.holding(d.node), file):
                return None
            if d.binds is Binds.FUNCTION:
                return f"the new function {value.value}" if not getattr(d.node, "decorators", ()) else None
            if d.binds is not Binds.VALUE or not isinstance(d.value, cst.BaseExpression):
                return None
            made = d.value
        elif not rounds.any or rounds.few(list(rounds.nodes), file):
            return None
        if isinstance(made, cst.Lambda):
            return "a new lambda"
        if not isinstance(made, cst.Call):
            return None
        call = file.call(made)
        if call.name == "functools.partial":
            return "a new partial function"
        plain = isinstance(call.target, Class) and not (call.target.node.bases or call.target.node.decorators)
        return "a new object" if plain or (call.name or "").startswith("tf.keras.losses.") else None

    def _tensor(self, value: cst.BaseExpression, name: str, function: Function, file: File) -> Fix | None:
        """`tf.constant(value)`, as a float where the function calculates with it among floats."""
        spelled = api_text(file, "tf.constant")
        if spelled is None or isinstance(value, cst.Dict):
            return None
        if any(isinstance(option, (Mapping, Sequence)) for option in file.value(value).options):
            return None
        dtype = ""
        if constant(file.value(value)) is None and float_parameter(value, function, name, file):
            dtype = f", {spelled.rpartition('.')[0]}.float32" if "." in spelled else ", 'float32'"
        edit = replace_node(file, value, f"{spelled}({file.text(value)}{dtype})")
        return Fix("pass a tensor", (edit,), Safety.UNSAFE)
