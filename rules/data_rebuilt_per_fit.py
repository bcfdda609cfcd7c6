from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Dataset,
    File,
    Finding,
    Function,
    Loop,
    Rule,
    calls,
    integer,
    knowledge,
    on_call,
    own_nodes,
    repetition,
    walk,
    written,
)


class DataRebuiltPerFit(Rule):
    """
    ## What it does
    Reports data that is read again for each `fit` in a loop, from arguments that do not change, and `fit` of one epoch
    for each single batch or example of a loop.

    ## Why it costs memory
    Reading takes its time in each iteration, and makes all arrays anew beside those of the last one, which the names
    still hold. Each `fit` starts a pipeline, an iterator and callbacks of its own for one step of work:
    `train_on_batch` takes that step with none of them.

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
        sources = {id(file.tree.statement(source.node)): source for source in self._read(fit, file)}
        for source in sources.values():  # one of each statement
            found = repetition.rebuilt(file, source)
            if found is not None and file.tree.contains(found.loop, fit.node) and not self._writes(found.loop, file):
                direct = found.place is source
                yield self.finding(
                    source,
                    file,
                    f"this data is read again for each {fit.method}() of the loop, the same each time; read it once",
                    related=[*([] if direct else [(found.place, "called in the loop")]), (fit, "trained with here")],
                )

    def _writes(self, loop: Loop, file: File) -> bool:
        """Whether a loop writes data to files, which may be those that it reads."""
        return any(knowledge.in_group(each.method, "writes_data") for each in calls(file, loop.body))

    def _read(self, fit: Call, file: File) -> Iterator[Call]:
        """The calls that read what a model is trained with, behind its names and in functions that give it."""
        names = (name for arg in fit.node.args[:2] for name in walk(arg.value, cst.Name))
        values = [d.value for name in names for d in written(file.definitions(name)) if d.value is not None]
        for call in (file.call(node) for value in values for node in walk(value, cst.Call)):
            targets = [target for target in call.target.options if isinstance(target, Function)]
            inside = (file.call(node) for target in targets for node in own_nodes(target.node, cst.Call))
            yield from (each for each in (call, *inside) if knowledge.in_group(each.name, "reads_data"))
