from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._models import is_model

from tfmemlint.api import (
    Argument,
    Call,
    Edit,
    File,
    Finding,
    Fix,
    Node,
    Rule,
    Safety,
    constant,
    on_call,
    on_file,
    remove_argument,
    statement_lines,
)

SWITCH = "tf.config.run_functions_eagerly"
OLD_SWITCH = "tf.config.experimental_run_functions_eagerly"
TRAINS = "run_eagerly=True trains without a graph: slower, and every intermediate result is kept"
DEBUG = "tf.data.experimental.enable_debug_mode"


class EagerDebuggingLeftOn(Rule):
    """
    ## What it does
    Reports `tf.config.run_functions_eagerly(True)` that is never set back, `compile(run_eagerly=True)`,
    `model.run_eagerly = True` and `tf.data.experimental.enable_debug_mode()`.

    ## Why it costs memory
    Without a graph every intermediate result of a step exists until Python lets go of it, and nothing is fused or
    reused. Steps are several times slower, and input pipelines run in Python, one element at a time.

    ## Fix safety
    Unsafe: Python side effects in functions run only while they are traced then.

    ## When not to use it
    While debugging; switches behind a flag and in unit tests are not reported.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/config/run_functions_eagerly
    """

    code = "TFM506"
    summary = "eager debugging left on runs every step without a graph"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_call(SWITCH, OLD_SWITCH, DEBUG)
    def switch(self, call: Call, file: File) -> Iterator[Finding]:
        if self._behind_flag(call.node, file):
            return
        if call.name != DEBUG and (constant(call.value_of("run_eagerly")) is not True or self._set_back(call, file)):
            return
        what = "functions run eagerly" if call.name != DEBUG else "input pipelines run in Python"
        yield self.finding(
            call,
            file,
            f"{what} from here on, without graphs: slower, and every intermediate result is kept",
            fix=self._remove(call.node, file),
        )

    @on_file("run_eagerly")
    def check(self, file: File) -> Iterator[Finding]:
        for node in file.calls_by_word.get("compile", ()):
            call = file.call(node)
            # The keyword is Keras' own: it says what an unknown receiver is.
            if call.name == "tf.keras.Model.compile" or not call.target.known:
                yield from self._compiled(call, file)

        assigned = [(a, a.targets[0].target) for a in file.tree.of(cst.Assign)]
        switches = [(a, t) for a, t in assigned if isinstance(t, cst.Attribute) and t.attr.value == "run_eagerly"]
        on = [constant(file.value(assign.value)) is True for assign, _ in switches]
        if all(on):
            for assign, target in switches:
                if is_model(file.value(target.value), file) and not self._behind_flag(assign, file):
                    yield self.finding(target.attr, file, TRAINS, fix=self._remove(assign, file))

    def _compiled(self, call: Call, file: File) -> Iterator[Finding]:
        flag = call.arg("run_eagerly")
        if flag is None and call.name and constant(call.value_of("run_eagerly")) is True:
            yield self.finding(call, file, TRAINS)  # in a dictionary of options
        if flag is None or not self._literally_true(flag):
            return
        fix = Fix("leave it out", (remove_argument(file, call.node, flag),), Safety.UNSAFE)
        yield self.finding(call, file, TRAINS, fix=fix)

    def _literally_true(self, flag: Argument) -> bool:
        return isinstance(flag.expression, cst.Name) and flag.expression.value == "True"

    def _behind_flag(self, node: Node, file: File, depth: int = 2) -> bool:
        """Whether an `if` around the statement, or around every call of its function, decides."""
        function = file.contexts.function(node)
        callers = (file.values.functions.callers(function) if function is not None and depth else None) or ()
        if callers and all(self._behind_flag(call.node, file, depth - 1) for call in callers):
            return True
        return any(isinstance(above, cst.If) and not _is_entry(above.test) for above in file.tree.ancestors(node))

    def _set_back(self, call: Call, file: File) -> bool:
        return any(
            constant(other.value_of("run_eagerly")) is not True
            for other in file.calls(SWITCH, OLD_SWITCH)
            if other.node is not call.node
        )

    def _remove(self, node: Node, file: File) -> Fix | None:
        line = file.tree.statement(node)
        lines, block = statement_lines(file, line), file.tree.parent(line)
        alone = (
            isinstance(line, cst.SimpleStatementLine)
            and len(line.body) == 1
            and isinstance(line.body[0], (cst.Expr, cst.Assign))
        )
        if not alone or lines is None or len(getattr(block, "body", ())) < 2:
            return None
        return Fix("remove the switch", (Edit(lines.start, lines.end, ""),), Safety.UNSAFE)


def _is_entry(test: cst.BaseExpression) -> bool:
    """Whether a test is that of `if __name__ == "__main__"`."""
    return isinstance(test, cst.Comparison) and isinstance(test.left, cst.Name) and test.left.value == "__name__"
