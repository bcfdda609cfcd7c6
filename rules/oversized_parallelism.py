from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, integer, on_call
from tfmemlint.fix.edits import api_text, replace_node

MANY = 32


class OversizedParallelism(Rule):
    """
    ## What it does
    Reports `num_parallel_calls` and `cycle_length` of 32 or more.

    ## Why it costs memory
    One element for each parallel call is in flight, and each interleaved file has buffers of its own: 16.8 MB against 1.2 MB
    for 64 calls on small images. More calls than cores make nothing faster.

    ## Example
    ```python
    ds = ds.map(load, num_parallel_calls=64)
    ```
    Let TensorFlow choose:
    ```python
    ds = ds.map(load, num_parallel_calls=tf.data.AUTOTUNE)
    ```

    ## Fix safety
    Safe: elements and order stay the same. `cycle_length` decides the order, so it has no fix.

    ## When not to use it
    On hosts with that many cores, after measuring.

    ## References
    - https://www.tensorflow.org/guide/data_performance
    """

    code = "TFM320"
    summary = "a large constant parallelism keeps that many elements in flight"
    fix_safety = (Safety.SAFE,)

    @on_call(*(f"tf.data.Dataset.{name}" for name in ("map", "interleave", "batch", "padded_batch")))
    def check(self, step: Call, file: File) -> Iterator[Finding]:
        for parameter in ("num_parallel_calls", "cycle_length"):
            argument = step.arg(parameter)
            count = integer(argument.value) if argument is not None else None
            if argument is None or count is None or count < MANY or not isinstance(argument.expression, (cst.Integer, cst.Name)):
                continue
            spelled = api_text(file, "tf.data.AUTOTUNE")
            fix = None
            if spelled is not None and parameter == "num_parallel_calls":
                fix = Fix("let TensorFlow choose", (replace_node(file, argument.expression, spelled),), Safety.SAFE)
            yield self.finding(step, file, f"{parameter}={count} keeps that many elements in flight; let TensorFlow choose", fix=fix)
