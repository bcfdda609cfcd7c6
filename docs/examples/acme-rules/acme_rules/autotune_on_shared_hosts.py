from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Api, Call, File, Finding, Fix, Rule, Safety, fixes, on_call

AUTOTUNE = Api("tf.data.AUTOTUNE")
OURS = 4
"""The processors that a job of ours gets."""


class AutotuneOnSharedHosts(Rule):
    """
    ## What it does
    Reports `num_parallel_calls=tf.data.AUTOTUNE` for `map` and `interleave`.

    ## Why it costs memory
    TensorFlow counts the processors of the whole host, of which a job gets four. Each call that runs holds an element.

    ## Fix safety
    Safe: elements and order stay the same.

    ## When not to use it
    In jobs that have a host to themselves.

    ## References
    - https://www.tensorflow.org/guide/data_performance#parallelizing_data_transformation
    """

    code = "ACM102"
    summary = "AUTOTUNE starts a call for each processor of the host"
    fix_safety = (Safety.SAFE,)

    @on_call("tf.data.Dataset.map", "tf.data.Dataset.interleave")
    def check(self, step: Call, file: File) -> Iterator[Finding]:
        calls = step.arg("num_parallel_calls")
        if calls is None or calls.value != AUTOTUNE:
            return
        fix = Fix.safe(f"start {OURS} calls", fixes.replace_node(file, calls.expression, str(OURS)))
        yield self.finding(step, file, f"AUTOTUNE starts a call for each processor; a job of ours has {OURS}", fix=fix)
