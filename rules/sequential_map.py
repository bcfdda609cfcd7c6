from __future__ import annotations

import re
from collections.abc import Iterator

from tfmemlint.api import (
    Call,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Severity,
    Step,
    fixes,
    flow,
    limits,
    on_call,
    pipelines,
)

ON_PURPOSE = re.compile(
    r"#.*\b(sequential|serial|in order|one (at a|by one)|single[- ]thread|not parallel|no parallel|order)", re.I
)
"""A comment that says why there is no parallelism."""


class SequentialMap(Rule):
    """
    ## What it does
    Gives the advice to pass `num_parallel_calls=tf.data.AUTOTUNE` to `map` and `interleave` that do without it.

    ## Why it costs memory
    It costs time, not memory: without the argument one element is made after the other on one processor, and the model
    waits. In parallel each call holds one element more.

    ## Fix safety
    Safe where the function is seen to hold no state and to draw nothing at random: elements and order stay the same.
    Unsafe where it draws, calls Python, or is not seen, and for an interleave that leaves its cycle to TensorFlow.

    ## When not to use it
    When the calls must follow each other; a comment at the call that says so (`# sequential: ...`) is enough.

    ## References
    - https://www.tensorflow.org/guide/data_performance#parallelizing_data_transformation
    """

    code = "TFM313"
    summary = "map() without num_parallel_calls makes one element at a time"
    severity = Severity.INFO
    fix_safety = (Safety.SAFE, Safety.UNSAFE)
    in_tests = False

    @on_call("tf.data.Dataset.map", "tf.data.Dataset.interleave")
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        step = Step(call.method or "map", call)
        if not call.datasets() or not call.lacks("num_parallel_calls") or file.contexts.mapped(call.node):
            return
        if pipelines.only_regroups(step) or ON_PURPOSE.search(flow.comments_at(file, call)):
            return
        if all(ds.count is not None and ds.count <= limits.FEW_ELEMENTS for ds in call.datasets()):
            return
        edit = fixes.set_autotune(file, call, "num_parallel_calls")
        yield self.finding(
            call,
            file,
            f"{call.method}() makes one element at a time; num_parallel_calls uses all processors (this costs time, "
            "not memory)",
            fix=Fix.of(Safety.SAFE if pipelines.runs_in_parallel(step) else Safety.UNSAFE, "run it in parallel", edit),
        )
