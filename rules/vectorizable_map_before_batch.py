from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._elementwise import elementwise
from tfmemlint_rules._links import links

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, Severity, move_link, on_call
from tfmemlint.query.pipelines import batched


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
        datasets = batch.datasets()
        last = {id(ds.steps[-1].call): ds.steps[-1] for ds in datasets if ds.steps}
        if len(last) != 1 or not all(ds.steps for ds in datasets):
            return
        step = next(iter(last.values()))
        if step.name != "map" or step.call is None or not elementwise(step):
            return
        if any(batched(ds) for ds in step.call.datasets()):
            return  # it is called for batches already
        chain = links(file, [step.call, batch])
        fix = Fix.shown("batch first", move_link(file, chain, 1, 0) if chain is not None else None)
        yield self.finding(
            step.call,
            file,
            "this function is called for every example; after batch() it is called once for each batch (time, not "
            "memory)",
            fix=fix,
            related=[(batch, "batched here")],
        )
