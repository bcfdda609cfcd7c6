from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, at_most, fixes, on_call, pipelines, show_bytes


class OversizedPrefetch(Rule):
    """
    ## What it does
    Reports `prefetch(n)` after `batch()` where n is a constant of 10 or more, or is the batch size.

    ## Why it costs memory
    `prefetch` counts elements of the pipeline as it stands there, and after `batch(b)` an element is a whole batch:
    `prefetch(1000)` keeps a thousand batches ready. One or two are enough to overlap input with compute.

    ## Fix safety
    Safe: elements and order stay the same; only how many batches wait in memory changes.

    ## When not to use it
    When reading stalls for many steps at a time and you measured that a deep buffer bridges it. Batches that are known
    to take no more than `least-cost` together are not reported.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#prefetch
    """

    code = "TFM304"
    summary = "prefetch() of many batches keeps them all in memory"
    fix_safety = (Safety.SAFE,)
    in_tests = False

    @on_call("tf.data.Dataset.prefetch")
    def check(self, prefetch: Call, file: File) -> Iterator[Finding]:
        kept = pipelines.kept_batches(file, prefetch)
        if kept is None or pipelines.work_after(file, prefetch):
            return  # the second stands at the wrong place, which is TFM303's finding
        if at_most(kept.bytes, file.config.least_cost) or pipelines.never_runs(file, prefetch):
            return
        yield self.finding(
            prefetch,
            file,
            f"prefetch() counts batches here, not examples: it keeps {self._shown(kept)}",
            fix=Fix.safe("let TensorFlow choose the buffer", fixes.set_autotune(file, prefetch, "buffer_size")),
            related=[(kept.batch, "batched here")],
            bytes=kept.bytes,
        )

    def _shown(self, kept: pipelines.KeptBatches) -> str:
        number = f"{kept.count}" if kept.enough else f"up to {kept.count}"
        held = f"{number} batches" if kept.count is not None else "as many batches as a batch has examples"
        if kept.size and kept.bytes:
            return f"{held} of {show_bytes(kept.size)} ready: {show_bytes(kept.bytes)}"
        return f"{held} ready"
