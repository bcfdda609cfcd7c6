from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, fixes, least, limits, on_call, pipelines, show_bytes


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
    When reading stalls for many steps at a time and you measured that a deep buffer bridges it.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#prefetch
    """

    code = "TFM304"
    summary = "prefetch() of many batches keeps them all in memory"
    fix_safety = (Safety.SAFE,)
    in_tests = False

    @on_call("tf.data.Dataset.prefetch")
    def check(self, prefetch: Call, file: File) -> Iterator[Finding]:
        argument, batch = prefetch.arg("buffer_size"), pipelines.batched_before(prefetch)
        if argument is None or batch is None or not all(pipelines.batched(ds) for ds in prefetch.datasets()):
            return
        if any(step.method in pipelines.BATCHES for step in pipelines.following(file, prefetch)):
            return  # it stands at the wrong place, which is another rule's finding
        count, batch_size = least(argument.value), batch.arg("batch_size")
        same = batch_size is not None and file.text(argument.expression) == file.text(batch_size.expression)
        if not (count is not None and count > limits.FEW_BATCHES) and not (same and (count is None or count > 2)):
            return
        size = pipelines.element_bytes(prefetch.datasets())
        cost = size * count if size is not None and count is not None else None
        held = f"{count} batches" if count is not None else "as many batches as a batch has examples"
        weigh = f"{held} of {show_bytes(size)} ready: {show_bytes(cost)}" if size and cost else f"{held} ready"
        yield self.finding(
            prefetch,
            file,
            f"prefetch() counts batches here, not examples: it keeps {weigh}",
            fix=Fix.safe("let TensorFlow choose the buffer", fixes.set_autotune(file, prefetch, "buffer_size")),
            related=[(batch, "batched here")],
            bytes=cost,
        )
