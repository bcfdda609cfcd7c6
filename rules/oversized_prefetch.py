from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._datasets import last_before

from tfmemlint.api import (
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
)
from tfmemlint.query.pipelines import batched, batched_source

GROUPS = ("batch", "padded_batch", "ragged_batch")

LARGE = 10
"""Batches from which on a constant is reported; smaller ones are pinned by people who measured."""


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
        argument = prefetch.arg("buffer_size")
        datasets = prefetch.datasets()
        if argument is None or not datasets or not all(batched(ds) for ds in datasets):
            return
        batch = self._batch(prefetch, datasets)
        if batch is None or self._before_batch(prefetch, file):
            return
        count = least(argument.value)
        batch_size = batch.arg("batch_size")
        same = batch_size is not None and self._same(argument.expression, batch_size.expression, file)
        if not (count is not None and count >= LARGE) and not (same and (count is None or count > 2)):
            return
        size = self._element_bytes(prefetch)
        cost = size * count if size is not None and count is not None else None
        held = f"{count} batches" if count is not None else "as many batches as a batch has examples"
        if size is not None and cost is not None:
            held = f"{count} batches of {show_bytes(size)}"
        per = f": {show_bytes(cost)}" if cost is not None else ""
        spelled = autotune_text(file, prefetch)
        fix = (
            Fix("let TensorFlow choose the buffer", (replace_node(file, argument.expression, spelled),), Safety.SAFE)
            if spelled
            else None
        )
        yield self.finding(
            prefetch,
            file,
            f"prefetch() counts batches here, not examples: it keeps {held} ready{per}",
            fix=fix,
            related=[(batch, "batched here")],
            bytes=cost,
        )

    def _batch(self, prefetch: Call, datasets: tuple[Dataset, ...]) -> Call | None:
        """The call that makes the batches: a step, or the source."""
        for name in GROUPS:
            step = last_before(prefetch, name)
            if step is not None:
                return step.call
        return datasets[0].call if batched_source(datasets[0]) else None

    def _before_batch(self, prefetch: Call, file: File) -> bool:
        """A batch that follows makes it another rule's finding: the prefetch stands at the wrong place."""
        parent = file.tree.parent(prefetch.node)
        while isinstance(parent, (cst.Attribute, cst.Call)):
            if isinstance(parent, cst.Attribute) and parent.attr.value in GROUPS:
                return True
            parent = file.tree.parent(parent)
        return False

    def _same(self, a: object, b: object, file: File) -> bool:
        return file.text(a) == file.text(b)  # type: ignore[arg-type]

    def _element_bytes(self, prefetch: Call) -> int | None:
        sizes = {structure_bytes(ds.element) for ds in prefetch.datasets()}
        return sizes.pop() if len(sizes) == 1 else None
