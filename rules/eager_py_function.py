from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Rule, Shows, on_call, repetition, runtime, tracing


class EagerPyFunction(Rule):
    """
    ## What it does
    Reports `tf.py_function` that is called eagerly in a loop.

    ## Why it costs memory
    On TensorFlow 2.21 every eager call keeps its wrapper for ever, and whatever the Python function closes over.

    ## When not to use it
    In `Dataset.map` or a `tf.function` it is registered once; there it is not reported, nor in loops that are written
    for a `tf.function` of another module: over tensors, or with a `tf.TensorArray`.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/51839
    """

    code = "TFM511"
    summary = "an eager py_function call is never freed"
    no_fix = "the function gets arguments of another kind"

    @on_call("tf.py_function")
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        if runtime.turns_eager_off(file) or file.contexts.traced(call.node):
            return
        found = repetition.repetitions(file, call.node)
        if any(not file.contexts.traced(each.inside) and not tracing.for_graphs(file, each.place) for each in found):
            yield self.finding(
                call,
                file,
                "each eager py_function call keeps its wrapper for ever; call the Python function itself",
                shows=Shows(metric="functions"),
            )
