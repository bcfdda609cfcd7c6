from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Dataset,
    Edit,
    File,
    Finding,
    Rule,
    Shows,
    facts,
    fixes,
    integer,
    keras,
    knowledge,
    on,
    on_call,
    repetition,
    walk,
)


class DataRebuiltPerFit(Rule):
    """
    ## What it does
    Reports data that is read again for each `fit` in a loop, from arguments that do not change, also by the constructor
    of a Keras `Sequence` or `PyDataset`; `fit` of one epoch for each single batch or example of a loop; and a history
    that gets longer in each step of a loop which makes one array of all of it and trains with that.

    ## Why it costs memory
    Reading takes its time in each iteration, and makes all arrays anew beside those of the last one, which the names
    still hold. Keras 3 keeps each Python data set that `fit` was given, with its arrays. Each `fit` starts a pipeline,
    an iterator and callbacks of its own for one step of work: `train_on_batch` takes that step with none of them.

    A history is copied in each step, as a list into an array and as an array into a tensor, and trained with as a
    whole, so that all steps together take time with the square of their number; in `train_on_batch` the activations
    grow with it. A window (`deque(maxlen=10_000)`), or a sample of it for each step, costs the same in all of them.

    ## When not to use it
    When the file changes while the program runs, as where the loop gives a function its name beforehand together with
    something of each iteration. A history of which few examples are asked for, each of them dear, as in active
    learning, may have to be trained with whole: such loops of up to ten rounds, and those that train a new model in
    each, are not reported.

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
                contrast=_without_starting(file, fit),
                shows=Shows(metric="seconds"),
            )

    def _samples(self, found: repetition.Repetition, file: File) -> bool:
        """Whether a loop runs over items that were drawn at random: a batch, one example at a time."""
        drawn = [file.written(each.iter) for each in found.each]
        return any(isinstance(d, cst.Call) and knowledge.in_group(file.call(d).name, "samples_items") for d in drawn)

    @on(facts.calls_of_unknown("fit", "fit_generator"))
    @on_call("tf.keras.Model.fit", "tf.keras.Model.train_on_batch", "tf.keras.Model.fit_generator")
    def read_again(self, fit: Call, file: File) -> Iterator[Finding]:
        for source in repetition.data_reads(file, fit):
            found = repetition.rebuilt(file, source)
            if not fit.names and not keras.makes_data_set(file, source):
                continue  # only Keras' models take its data sets
            if found is not None and repetition.rewritten(file, found.place, found.loop):
                continue
            if found is not None and repetition.trains_in(file, fit, found.loop, read=True):
                place = source if file.is_own(source.node) else found.place
                direct = found.place is source
                each = f"again for each {fit.method}() of the loop, the same each time"
                message = f"this data is read {each}; read it once"
                if keras.makes_data_set(file, source):
                    message = f"this data set reads its data {each}, and Keras keeps them all; make it once"
                called = (found.place, "called in the loop") if place is source else (source, "read here")
                yield self.finding(
                    place,
                    file,
                    message,
                    related=[*([] if direct else [called]), (fit, "trained with here")],
                    shows=Shows(metric="made_anew"),
                )

    @on_call("tf.keras.Model.fit", "tf.keras.Model.train_on_batch")
    def growing(self, fit: Call, file: File) -> Iterator[Finding]:
        found = repetition.growing_data(file, fit)
        if found is not None:
            added = [] if found.added is found.made else [(found.added, "added to here")]
            yield self.finding(
                found.made,
                file,
                "all that was collected so far is copied into one array and trained with again in each step, so that "
                "time and memory grow with the steps; train with a window or a sample of fixed size",
                related=[*added, (fit, "trained with here")],
            )


def _without_starting(file: File, fit: Call) -> list[Edit]:
    """The same step with no pipeline, iterator or callbacks for it."""
    receiver, given = fit.receiver_node, [each for each in (fit.arg("x"), fit.arg("y")) if each is not None]
    if receiver is None or file.called(fit.node) is not fit.node.func:
        return []
    text = f".train_on_batch({', '.join(file.text(each.expression) for each in given)})"
    return [Edit(fixes.outer_span(file, receiver).end, file.span(fit.node).end, text)]
