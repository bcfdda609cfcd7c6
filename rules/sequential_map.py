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
    on,
    pipelines,
)

ON_PURPOSE = re.compile(
    r"#.*\b(?:sequential|serial|in order|one (?:at a|by one)|single[- ]thread|order|thread[- ]?safe|race condition"
    r"|(?:not?|never|cannot|without|avoid|\w+n['’]?t)\b.{0,30}\b(?:parallel|concurrent|multi-?thread|threads\b))",
    re.IGNORECASE,
)
"""A comment that says why there is no parallelism."""


class SequentialMap(Rule):
    """
    ## What it does
    Gives the advice to pass `num_parallel_calls=tf.data.AUTOTUNE` to `map` and `interleave` that do without it, once
    for a pipeline: the other such steps are named as related places. Functions that only pick, stack, reshape or cast
    parts are left out.

    ## Why it costs memory
    It costs time, not memory: without the argument one element is made after the other on one processor, and the model
    waits. In parallel each call holds one element more.

    ## Fix safety
    Safe where the function is seen to hold no state and to draw nothing at random: elements and order stay the same.
    Unsafe where it draws, calls Python, or is not seen, and for an interleave that leaves its cycle to TensorFlow. The
    steps of a pipeline are repaired together.

    ## When not to use it
    When the calls must follow each other; a comment at the call that says so (`# sequential: ...`) is enough. On one
    processor TensorFlow runs one call at a time whatever the number, calls that only wait included, unless
    `tf.data.Options().threading.private_threadpool_size` gives the pipeline more threads.

    ## References
    - https://www.tensorflow.org/guide/data_performance#parallelizing_data_transformation
    """

    code = "TFM313"
    summary = "map() without num_parallel_calls makes one element at a time"
    severity = Severity.INFO
    default = False
    fix_safety = (Safety.SAFE, Safety.UNSAFE)
    in_tests = False

    @on(pipelines.steps_by_pipeline("map", "interleave"))
    def check(self, steps: list[Call], file: File) -> Iterator[Finding]:
        found = [call for call in steps if self._waits(call, file)]
        if not found:
            return
        first, *others = found
        safe = all(pipelines.runs_in_parallel(Step(call.method or "map", call)) for call in found)
        edits = (fixes.set_autotune(file, call, "num_parallel_calls") for call in found)
        yield self.finding(
            first,
            file,
            f"{first.method}() makes one element at a time; num_parallel_calls uses all processors (this costs time, "
            "not memory)",
            fix=Fix.of(Safety.SAFE if safe else Safety.UNSAFE, "run it in parallel", *edits),
            related=[(call, "so does this step") for call in others],
        )

    def _waits(self, call: Call, file: File) -> bool:
        """Whether a step makes its elements one after the other, and there is something to make."""
        if not call.datasets() or not call.lacks("num_parallel_calls") or file.contexts.mapped(call.node):
            return False
        if pipelines.only_regroups(Step(call.method or "map", call)) or pipelines.few_examples(call.datasets()):
            return False
        return ON_PURPOSE.search(flow.comments_at(file, call)) is None
