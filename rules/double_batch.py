from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Rule, on_call
from tfmemlint.model.pipelines import BATCHED_SOURCES

ENDS = frozenset({"unbatch", "window", "flat_map", "interleave", "apply", "group_by_window", "map", "rebatch"})


class DoubleBatch(Rule):
    """
    ## What it does
    Reports `batch()` on a pipeline that is batched already: by an earlier `batch`, or by its source.

    ## Why it costs memory
    The elements become batches of batches: a step sees b1 x b2 examples, and the model an extra axis.

    ## Example
    ```python
    ds = keras.utils.image_dataset_from_directory("photos").batch(32)
    ```
    Batch once:
    ```python
    ds = keras.utils.image_dataset_from_directory("photos", batch_size=32)
    ```

    ## Fix safety
    No fix: which of the two is meant is yours to say.

    ## When not to use it
    For sequences of batches on purpose, as windows; then use `window`.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#batch
    """

    code = "TFM316"
    summary = "batching twice makes batches of batches"

    @on_call("tf.data.Dataset.batch", "tf.data.Dataset.padded_batch")
    def check(self, batch: Call, file: File) -> Iterator[Finding]:
        found: list[Call] = []
        for ds in batch.datasets():
            names = [step.name for step in ds.steps]
            last = max((i for i, name in enumerate(names) if name in ("batch", "padded_batch")), default=None)
            if last is not None and not ENDS & set(names[last:]):
                earlier = ds.steps[last].call
            elif last is None and self._batched_source(ds.source, ds.call) and not ENDS & set(names):
                earlier = ds.call
            else:
                return
            if earlier is None:
                return
            found.append(earlier)
        if found:
            yield self.finding(
                batch, file, "this pipeline is batched already: the elements become batches of batches", related=[(found[0], "batched here")]
            )

    def _batched_source(self, source: str | None, call: Call | None) -> bool:
        if call is None:
            return False
        size = call.arg("batch_size")
        unbatched = size is not None and getattr(size.value, "value", 0) is None
        if source in BATCHED_SOURCES:
            return not unbatched
        return source == "tfds.load" and size is not None and not unbatched
