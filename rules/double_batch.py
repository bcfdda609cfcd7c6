from __future__ import annotations

import re
from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Rule, body, integer, on_call, ordering, pipelines

MEANT = re.compile(r"device|replica|core|accum|worker|shard|host|gpu|tpu|step|seq|micro|group|ways?\b", re.IGNORECASE)
"""Words in the size of a batch of batches that is meant as one: an axis for devices, steps or sequences."""


class DoubleBatch(Rule):
    """
    ## What it does
    Reports a second `batch()` in a pipeline, or one on a source that gives batches already.

    ## Why it costs memory
    The second batch stacks whole batches: an element has one axis more, and the product of both sizes as examples.
    A model raises on the axis, or takes 32 x 32 examples where 32 were meant.

    ## When not to use it
    When the extra axis is meant, as for sequences or for several devices. Batches of single numbers and sizes that say
    so are not reported.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#batch
    """

    code = "TFM316"
    summary = "batching twice makes batches of batches"
    no_fix = "which of the two sizes was meant is not known"

    @on_call("tf.data.Dataset.batch", "tf.data.Dataset.padded_batch")
    def check(self, batch: Call, file: File) -> Iterator[Finding]:
        earlier = pipelines.batched_before(batch)
        if earlier is None or not self._still_batches(earlier, batch):
            return
        if self._meant(earlier, file) or self._meant(batch, file) or ordering.asks_parameter(file, batch.node):
            return
        sizes = [integer(call.given("batch_size")) for call in (earlier, batch)]
        product = f": {sizes[0]} x {sizes[1]} examples in one" if None not in sizes else ""
        yield self.finding(
            batch,
            file,
            f"this pipeline is batched already, so its elements become batches of batches{product}; batch once",
            related=[(earlier, "batched here")],
        )

    def _still_batches(self, earlier: Call, batch: Call) -> bool:
        """Whether what was batched arrives as batches: not as sequences, nor taken apart by a map."""
        step = pipelines.last_before(batch, *pipelines.BATCHES)
        after = pipelines.steps_between(batch, step)
        maps = [each for each in after if each.name == "map"]
        if any(pipelines.takes_batch_apart(each) for each in maps):
            return False
        return step is None or not (
            any(body(each).unseen for each in maps) or pipelines.makes_sequences(earlier, after)
        )

    def _meant(self, call: Call, file: File) -> bool:
        size = call.arg("batch_size")
        return call.open or (size is not None and bool(MEANT.search(file.text(size.expression))))
