from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, Severity, fixes, on_call, pipelines


class VectorizableMapBeforeBatch(Rule):
    """
    ## What it does
    Gives the advice to batch before a `map` whose function only does arithmetic on each number of an element.

    ## Why it costs memory
    It costs time, not memory: the function is called for every example, and for small elements the call takes longer
    than the work. On batches it is called once for each batch.

    ## Fix safety
    Shown only: examples of different shapes cannot be batched before the map, and a function may mean an axis.

    ## When not to use it
    When elements are large: then the call costs nothing beside the work, and batches take more memory in the map.

    ## References
    - https://www.tensorflow.org/guide/data_performance#vectorizing_mapping
    """

    code = "TFM314"
    summary = "a map of plain arithmetic runs faster on batches"
    severity = Severity.INFO
    default = False
    fix_safety = (Safety.DISPLAY,)

    @on_call("tf.data.Dataset.batch")
    def check(self, batch: Call, file: File) -> Iterator[Finding]:
        last = {ds.steps[-1] if ds.steps else None for ds in batch.datasets()}
        step = last.pop() if len(last) == 1 else None
        if step is None or step.name != "map" or step.call is None or not pipelines.elementwise(step):
            return
        if any(pipelines.batched(ds) for ds in step.call.datasets()):
            return  # it is called for batches already
        yield self.finding(
            step.call,
            file,
            "this function is called for every example; after batch() it is called once for each batch (time, not "
            "memory)",
            fix=Fix.shown("batch first", fixes.move_link(file, [step.call, batch], -1, 0)),
            related=[(batch, "batched here")],
        )
