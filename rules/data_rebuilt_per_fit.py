from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Dataset,
    File,
    Finding,
    Loop,
    Rule,
    calls,
    integer,
    keras,
    knowledge,
    on_call,
    repetition,
    walk,
)


class DataRebuiltPerFit(Rule):
    """
    ## What it does
    Reports data that is read again for each `fit` in a loop, from arguments that do not change, also by the constructor
    of a Keras `Sequence` or `PyDataset`, and `fit` of one epoch for each single batch or example of a loop.

    ## Why it costs memory
    Reading takes its time in each iteration, and makes all arrays anew beside those of the last one, which the names
    still hold. Keras 3 keeps each Python data set that `fit` was given: of data sets with 64 MiB each, made for ten
    fits, the process grew by 657 MiB, with one for all ten by 81 MiB (TensorFlow 2.21). Each `fit` starts a pipeline,
    an iterator and callbacks of its own for one step of work: `train_on_batch` takes that step with none of them.

    ## When not to use it
    When the file changes while the program runs.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/keras/Model#train_on_batch
    """

    code = "TFM618"
    summary = "data is read, or fit() started, again for each step of a loop"
    no_fix = "where the data is kept, and in which batches it is trained, is the program's choice"
    in_tests = False

    @on_call("tf.keras.Model.fit")
    def one_batch(self, fit: Call, file: File) -> Iterator[Finding]:
        x, epochs = fit.arg("x"), fit.arg("epochs")
        found = repetition.repeats(file, fit.node, calls=0)
        if x is None or fit.open or found is None or (epochs is not None and integer(epochs.value) != 1):
            return
        if any(isinstance(option, Dataset) for option in x.value.options):
            return
        given = {name.value for name in walk(x.expression, cst.Name)}
        if given & found.items and (found.over_data or self._samples(found, file)):
            yield self.finding(
                fit,
                file,
                "fit() of a single batch starts a pipeline and callbacks for one step; train_on_batch() takes it alone",
                related=[(found.place, "for each batch or example of this loop")],
            )

    def _samples(self, found: repetition.Repetition, file: File) -> bool:
        """Whether a loop runs over items that were drawn at random: a batch, one example at a time."""
        drawn = [file.written(each.iter) for each in found.each]
        return any(isinstance(d, cst.Call) and knowledge.in_group(file.call(d).name, "samples_items") for d in drawn)

    @on_call("tf.keras.Model.fit", "tf.keras.Model.train_on_batch", "tf.keras.Model.fit_generator")
    def read_again(self, fit: Call, file: File) -> Iterator[Finding]:
        for source in repetition.data_reads(file, fit):
            found = repetition.rebuilt(file, source)
            if found is not None and repetition.trains_in(file, fit, found.loop) and not self._writes(found.loop, file):
                direct = found.place is source
                each = f"again for each {fit.method}() of the loop, the same each time"
                message = f"this data is read {each}; read it once"
                if keras.makes_data_set(file, source):
                    message = f"this data set reads its data {each}, and Keras keeps them all; make it once"
                yield self.finding(
                    source,
                    file,
                    message,
                    related=[*([] if direct else [(found.place, "called in the loop")]), (fit, "trained with here")],
                )

    def _writes(self, loop: Loop, file: File) -> bool:
        """Whether a loop writes data to files, which may be those that it reads."""
        return any(knowledge.in_group(each.method, "writes_data") for each in calls(file, loop.body))
