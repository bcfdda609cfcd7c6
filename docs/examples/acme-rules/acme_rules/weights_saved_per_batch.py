from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Rule, on_call, repetition


class WeightsSavedPerBatch(Rule):
    """
    ## What it does
    Reports `save()` and `save_weights()` of a Keras model in a loop over the batches of a pipeline.

    ## Why it costs memory
    Each save copies all weights to host memory before they are written. Our jobs share their hosts.

    ## When not to use it
    When a batch takes minutes.

    ## References
    - https://keras.io/api/callbacks/model_checkpoint/
    """

    code = "ACM101"
    summary = "a model is saved for every batch"
    no_fix = "how often to save is yours to say"

    @on_call("tf.keras.Model.save", "tf.keras.Model.save_weights")
    def check(self, save: Call, file: File) -> Iterator[Finding]:
        loop = repetition.repeats(file, save.node)
        if loop is None or not loop.over_data:
            return
        message = "all weights are copied to the host for every batch; save once an epoch"
        yield self.finding(save, file, message, related=[(loop.place, "the loop over batches")])
