from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Argument,
    Call,
    Dataset,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    autotune_text,
    least,
    on_call,
    replace_node,
    show_bytes,
    structure_bytes,
)  # fmt: skip

MANY = 32
"""Calls at a time from which on a constant is reported."""

OLD = ("tf.data.experimental.parallel_interleave", "tf.data.experimental.map_and_batch")
"""Functions for `apply`, from before `interleave` and `map` ran in parallel."""


class OversizedParallelism(Rule):
    """
    ## What it does
    Reports `num_parallel_calls` and `cycle_length` that are constants of 32 or more.

    ## Why it costs memory
    Each call that runs or waits holds its element, and an interleave holds an open file and a buffer for each input of
    its cycle. More calls than processors make nothing faster.

    ## Fix safety
    Safe for `num_parallel_calls`: elements and order stay the same. Unsafe for `cycle_length`, which decides the order
    in which the inputs of an interleave take turns.

    ## When not to use it
    When the calls wait for a remote file system and many at a time were measured to help.

    ## References
    - https://www.tensorflow.org/guide/data_performance#parallelizing_data_transformation
    """

    code = "TFM320"
    summary = "a large constant parallelism holds an element for each call"
    fix_safety = (Safety.SAFE, Safety.UNSAFE)

    @on_call(*(f"tf.data.Dataset.{name}" for name in ("map", "interleave", "batch", "padded_batch")), *OLD)
    def check(self, step: Call, file: File) -> Iterator[Finding]:
        found = {
            name: argument for name in ("num_parallel_calls", "cycle_length") if (argument := self._many(step, name))
        }
        if not found:
            return
        name, argument = next(iter(found.items()))
        count = least(argument.value)
        size = self._bytes(step)
        cost = size * count if size is not None and count is not None and name == "num_parallel_calls" else None
        weigh = f" of {show_bytes(size)}: {show_bytes(cost)}" if size is not None and cost is not None else ""
        what = "elements" if name == "num_parallel_calls" else "inputs with their buffers"
        yield self.finding(
            step, file, f"{name}={count} holds up to {count} {what} at a time{weigh}; let TensorFlow choose",
            fix=self._autotune(step, found, file), bytes=cost,
        )  # fmt: skip

    def _many(self, step: Call, name: str) -> Argument | None:
        argument = step.arg(name)
        count = least(argument.value) if argument is not None else None
        return argument if count is not None and count >= MANY else None

    def _bytes(self, step: Call) -> int | None:
        sizes = {structure_bytes(ds.element) if isinstance(ds, Dataset) else None for ds in step.value.options}
        return sizes.pop() if len(sizes) == 1 else None

    def _autotune(self, step: Call, found: dict[str, Argument], file: File) -> Fix | None:
        spelled = autotune_text(file, step) if step.name not in OLD else None
        if spelled is None:
            return None
        edits = tuple(sorted(replace_node(file, argument.expression, spelled) for argument in found.values()))
        return Fix("let TensorFlow choose", edits, Safety.UNSAFE if "cycle_length" in found else Safety.SAFE)
