from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Rule, constant, integer, on_call

DEFAULT = 10
LARGE_QUEUE = 64
MANY_WORKERS = 16


class OversizedQueue(Rule):
    """
    ## What it does
    Reports `max_queue_size` of 64 or more batches, and 16 or more worker processes, for Keras' Python data sets.

    ## Why it costs memory
    The queue holds that many finished batches in host memory. Each process is a copy of the program with its own
    copies of what its data set holds.

    ## Example
    ```python
    model.fit(batches, max_queue_size=500)
    ```
    A few batches are enough:
    ```python
    model.fit(batches, max_queue_size=10)
    ```

    ## Fix safety
    No fix: how much the queue must bridge is yours to say.

    ## When not to use it
    When batches are small and their making is very uneven.

    ## References
    - https://keras.io/api/utils/python_utils/#pydataset-class
    """

    code = "TFM615"
    summary = "a long queue of batches and many processes fill host memory"

    @on_call(
        "tf.keras.Model.fit", "tf.keras.Model.evaluate", "tf.keras.Model.predict", "tf.keras.Model.fit_generator",
        "tf.keras.utils.PyDataset", "tf.keras.utils.Sequence", "tf.keras.utils.PyDataset.__init__",
    )  # fmt: skip
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        queue, workers = integer(call.value_of("max_queue_size")), integer(call.value_of("workers"))
        if queue is not None and queue >= LARGE_QUEUE:
            yield self.finding(
                call, file, f"the queue keeps {queue} finished batches in host memory; about {DEFAULT} are enough"
            )
        elif workers is not None and workers >= MANY_WORKERS and constant(call.value_of("use_multiprocessing")) is True:
            yield self.finding(
                call,
                file,
                f"{workers} processes each hold a copy of the data set and its arrays; use fewer, or threads",
            )
