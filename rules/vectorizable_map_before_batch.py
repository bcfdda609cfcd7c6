from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._datasets import earlier_steps

from tfmemlint.api import Call, File, Finding, Rule, Severity, on_call
from tfmemlint.model.pipelines import calls_in_map

ELEMENTWISE = frozenset({"tf.cast", "tf.one_hot", "tf.math.divide", "tf.divide", "tf.image.convert_image_dtype", "tf.math.multiply", "tf.multiply"})


class VectorizableMapBeforeBatch(Rule):
    """
    ## What it does
    Gives the advice to batch before a `map` whose function only casts, scales or one-hot encodes.

    ## Why it costs memory
    It costs time more than memory: the function is called for each example where once a batch would do.

    ## Example
    ```python
    ds = ds.map(lambda x: tf.cast(x, tf.float32)).batch(32)
    ```
    Map whole batches:
    ```python
    ds = ds.batch(32).map(lambda x: tf.cast(x, tf.float32))
    ```

    ## Fix safety
    No fix: the function must be right for batches.

    ## When not to use it
    When the map makes elements smaller.

    ## References
    - https://www.tensorflow.org/guide/data_performance#vectorizing_mapping
    """

    code = "TFM314"
    summary = "a map of single examples could run on batches"
    severity = Severity.INFO
    default = False

    @on_call("tf.data.Dataset.batch")
    def check(self, batch: Call, file: File) -> Iterator[Finding]:
        for steps in earlier_steps(batch) or ():
            if not steps or steps[-1].name != "map" or steps[-1].call is None:
                return
            names = calls_in_map(steps[-1])
            if not names or not names <= ELEMENTWISE:
                return
            yield self.finding(steps[-1].call, file, "this function is called for each example; it could run on whole batches", related=[(batch, "batched here")])
            return
