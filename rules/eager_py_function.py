from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Rule, on_call
from tfmemlint.model.runtime import GRAPH_ONLY


class EagerPyFunction(Rule):
    """
    ## What it does
    Reports `tf.py_function` that is called eagerly in a loop.

    ## Why it costs memory
    On TensorFlow 2.21 every eager call keeps its wrapper for ever, and whatever the Python function closes over.

    ## When not to use it
    In `Dataset.map` or a `tf.function` it is registered once; there it is not reported.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/51839
    """

    code = "TFM511"
    summary = "an eager py_function call is never freed"
    no_fix = "the function gets arguments of another kind"

    @on_call("tf.py_function")
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        if any(file.calls(*GRAPH_ONLY)) or file.contexts.traced(call.node) or not self._repeated(call, file):
            return
        yield self.finding(
            call, file, "each eager py_function call keeps its wrapper for ever; call the Python function itself"
        )

    def _repeated(self, call: Call, file: File) -> bool:
        if file.contexts.loop(call.node) is not None or file.contexts.comprehension(call.node) is not None:
            return True
        function = file.contexts.function(call.node)
        callers = file.values.functions.callers(function) if function is not None else ()
        return any(file.contexts.loop(c.node) is not None and not file.contexts.traced(c.node) for c in callers or ())
