from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Call,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    fixes,
    least,
    on_call,
    pipelines,
    show_bytes,
    show_each,
)

MANY = 32
"""Calls at a time from which on a constant is reported."""

OLD_INTERLEAVE = "tf.data.experimental.parallel_interleave"
"""For `apply`, from before `interleave` ran in parallel: it refuses `tf.data.AUTOTUNE`, `interleave` takes it."""

STEPS = (*(f"tf.data.Dataset.{name}" for name in ("map", "interleave", "batch", "padded_batch")),
         "tf.data.experimental.map_and_batch", OLD_INTERLEAVE)  # fmt: skip


class OversizedParallelism(Rule):
    """
    ## What it does
    Reports `num_parallel_calls` and `cycle_length` that are constants of 32 or more.

    ## Why it costs memory
    Each call that runs or waits holds its element, and an interleave holds an open file and a buffer for each input of
    its cycle: 64 files with a `buffer_size` of 8 MiB took 525 MiB, with the reader's own buffers 26 MiB, and mix alike.
    More calls than processors make nothing faster.

    ## Fix safety
    Safe for `num_parallel_calls`: elements and order stay the same. Unsafe for `cycle_length`, which decides the order
    in which the inputs of an interleave take turns. None for `tf.data.experimental.parallel_interleave`, which refuses
    `tf.data.AUTOTUNE`.

    ## When not to use it
    When the calls wait for a remote file system and many at a time were measured to help.

    ## References
    - https://www.tensorflow.org/guide/data_performance#parallelizing_data_transformation
    """

    code = "TFM320"
    summary = "a large constant parallelism holds an element for each call"
    fix_safety = (Safety.SAFE, Safety.UNSAFE)

    @on_call(*STEPS)
    def check(self, step: Call, file: File) -> Iterator[Finding]:
        given = {name: step.arg(name) for name in ("num_parallel_calls", "cycle_length")}
        found = {name: arg for name, arg in given.items() if arg is not None and (least(arg.value) or 0) >= MANY}
        if not found:
            return
        name, argument = next(iter(found.items()))
        count, size = least(argument.value) or 0, pipelines.element_bytes(pipelines.pipelines_of(step.value))
        calls = name == "num_parallel_calls"
        size = size if calls else pipelines.read_buffer(step)
        what = f"elements at a time{show_each(size, count)}" if calls else self._inputs(size, count)
        old = step.name == OLD_INTERLEAVE
        edits = [None] if old else [fixes.set_autotune(file, step, each) for each in found]
        advice = "Dataset.interleave can let TensorFlow choose" if old else "let TensorFlow choose"
        yield self.finding(
            step,
            file,
            f"{name}={count} holds up to {count} {what}; {advice}",
            fix=Fix.of(Safety.UNSAFE if "cycle_length" in found else Safety.SAFE, "let TensorFlow choose", *edits),
            bytes=size * count if size is not None else None,
            contrast=[fixes.replace_node(file, arg.expression, "1") for arg in found.values()],
        )

    def _inputs(self, buffer: int | None, count: int) -> str:
        if buffer is None:
            return "inputs with their buffers at a time"
        return f"inputs, each with a read buffer of {show_bytes(buffer)}: {show_bytes(buffer * count)}"
