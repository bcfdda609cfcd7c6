from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, Edit, File, Finding, Fix, Node, Rule, Safety, on_call, statement_lines, walk

OFF = {
    "tf.debugging.enable_check_numerics": "tf.debugging.disable_check_numerics",
    "tf.debugging.experimental.enable_dump_debug_info": "tf.debugging.experimental.disable_dump_debug_info",
}
ENTRIES = frozenset({"main", "train", "run", "fit", "setup", "init"})


class DebugInstrumentationLeftOn(Rule):
    """
    ## What it does
    Reports `tf.debugging.enable_check_numerics()` and `tf.debugging.experimental.enable_dump_debug_info()` at module
    level or in a training entry point, not behind a flag and never switched off.

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
        if any(file.calls(OFF[call.name or ""])) or _conditional(call, file):
            return
        function = file.contexts.function(call.node)
        if isinstance(function, cst.FunctionDef) and not _runs_always(function, file, 2):
            return
        cost = "every op's result is checked, which raises the peak of graphs and slows down eager ops"
        if "dump" in (call.name or ""):
            cost = "a record of every op is kept in memory and on disk"
        yield self.finding(call, file, f"debugging left on: {cost}", fix=self._remove(call, file))

    def _remove(self, call: Call, file: File) -> Fix | None:
        line = file.tree.statement(call.node)
        lines, block = statement_lines(file, line), file.tree.parent(line)
        alone = isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 and isinstance(line.body[0], cst.Expr)
        if not alone or lines is None or len(getattr(block, "body", ())) < 2:
            return None
        return Fix("remove it", (Edit(lines.start, lines.end, ""),), Safety.UNSAFE)


def _runs_always(function: cst.FunctionDef, file: File, depth: int) -> bool:
    """Whether a function is a training entry point, or is called from one or from the module without a condition."""
    if any(word in ENTRIES for word in function.name.value.split("_")):
        return True
    for caller in file.values.functions.callers(function) or () if depth else ():
        home = file.contexts.function(caller.node)
        if not _conditional(caller, file) and (
            home is None or (isinstance(home, cst.FunctionDef) and _runs_always(home, file, depth - 1))
        ):
            return True
    return False


def _conditional(call: Call, file: File) -> bool:
    """Whether a flag decides if the call happens: around it, or by a `return` in front of it."""
    below: Node = call.node
    for above in file.tree.ancestors(call.node):
        if isinstance(above, (cst.BooleanOperation, cst.IfExp, cst.MatchCase)):
            return True
        if isinstance(above, cst.If) and not _is_main(above.test):
            return True
        if isinstance(above, cst.FunctionDef):
            return False
        if isinstance(above, cst.IndentedBlock):
            before = above.body[: next(i for i, s in enumerate(above.body) if s is below)]
            if any(
                isinstance(s, cst.If) and any(walk(s, cst.Return, cst.Raise)) for s in before
            ):
                return True
        below = above
    return False


def _is_main(test: cst.BaseExpression) -> bool:
    """`__name__ == "__main__"`."""
    return isinstance(test, cst.Comparison) and isinstance(test.left, cst.Name) and test.left.value == "__name__"
