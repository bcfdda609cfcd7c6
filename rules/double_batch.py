from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._datasets import makes_sequences

from tfmemlint.api import Call, Dataset, File, Finding, Function, Rule, Step, integer, on_call, parameters, walk
from tfmemlint.model.mapped import body, function_of
from tfmemlint.query.pipelines import batched_source

GROUPS = frozenset({"batch", "padded_batch", "ragged_batch"})
ENDS = frozenset({"unbatch", "window", "flat_map", "interleave", "apply", "scan", "rebatch", "group_by_window"})
"""Steps after which the batches of before are batches no more, or may be none."""

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
        found = [self._before(ds) for ds in batch.datasets()]
        earlier = found[0] if found else None
        if (
            earlier is None
            or any(call is None for call in found)
            or self._meant(batch, file)
            or self._meant(earlier, file)
            or self._asked(batch, file)
        ):
            return
        sizes = [integer(call.given("batch_size")) for call in (earlier, batch)]
        product = f": {sizes[0]} x {sizes[1]} examples in one" if None not in sizes else ""
        yield self.finding(
            batch,
            file,
            f"this pipeline is batched already, so its elements become batches of batches{product}; batch once",
            related=[(earlier, "batched here")],
        )

    def _before(self, ds: Dataset) -> Call | None:
        """The call that made batches which arrive here as such, or None."""
        names = ds.names()
        last = max((i for i, name in enumerate(names) if name in GROUPS), default=-1)
        mapped = [step for step in ds.steps[last + 1 :] if step.name == "map"]
        if ENDS & set(names[last + 1 :]) or any(self._reshapes(step) for step in mapped):
            return None
        if last < 0:
            return ds.call if batched_source(ds) else None
        if any(body(step).unseen for step in mapped):
            return None
        step = ds.steps[last]
        if step.call is None or makes_sequences(step, ds.steps[last + 1 :]):
            return None
        return step.call

    def _reshapes(self, step: Step) -> bool:
        """Whether a map makes something else of batches than batches: it reshapes them, or picks one by its number."""
        if body(step).does("takes_batch_apart"):
            return True
        value = function_of(step)
        functions = [o.node for o in value.options if isinstance(o, Function)] if value is not None else []
        indices = (n for f in functions for n in walk(f.body, cst.Index))
        return any(isinstance(index.value, cst.Integer) for index in indices)

    def _asked(self, batch: Call, file: File) -> bool:
        """Whether a condition on what the function was given decides if it batches."""
        function = file.contexts.function(batch.node)
        if function is None:
            return False
        given = {p.name.value for p in parameters(function)}
        return any(
            isinstance(above, (cst.If, cst.IfExp))
            and any(isinstance(n, cst.Name) and n.value in given for n in walk(above.test))
            for above in file.tree.ancestors(batch.node)
            if file.tree.contains(function, above)
        )

    def _meant(self, call: Call, file: File) -> bool:
        size = call.arg("batch_size")
        return call.open or (size is not None and bool(MEANT.search(file.text(size.expression))))
