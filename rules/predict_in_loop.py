from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._dtypes import is_test
from tfmemlint_rules._loops import assigned_names
from tfmemlint_rules._models import all_models

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, on_call, walk
from tfmemlint.finding import Edit
from tfmemlint.fix.edits import outer_span

FEW = 5


class PredictInLoop(Rule):
    """
    ## What it does
    Reports `model.predict()` of a Keras model that is called for each item or batch in a Python loop.

    ## Why it costs memory
    Every call builds a dataset, an iterator and callbacks before the model runs: 131 ms against 1.2 ms for one small
    batch on TensorFlow 2.21. It leaks no more on current versions, but each call holds its own copy of the input.

    ## Example
    ```python
    for sample in samples:
        scores.append(model.predict(sample[None]))
    ```
    Call the model on single batches:
    ```python
    for sample in samples:
        scores.append(model(sample[None], training=False))
    ```

    ## Fix safety
    Unsafe: the result is a tensor, not a NumPy array.

    ## When not to use it
    Where each call predicts a whole data set; loops over models and folds are not reported.

    ## References
    - https://keras.io/api/models/model_training_apis/#predict-method
    """

    code = "TFM602"
    summary = "predict() in a loop sets up a dataset for every item"
    fix_safety = (Safety.UNSAFE,)

    @on_call("tf.keras.Model.predict")
    def check(self, predict: Call, file: File) -> Iterator[Finding]:
        if is_test(file) or not all_models(predict.receiver, file):
            return
        loop = self._loop(predict, file)
        if loop is None or self._model_changes(predict, loop, file):
            return
        yield self.finding(
            predict,
            file,
            "predict() sets up a dataset, an iterator and callbacks for every item: about 130 ms a call against 1 ms for "
            "model(x, training=False); or predict all items at once",
            fix=self._call(predict, file),
            related=[(loop, "the loop")] if isinstance(loop, (cst.For, cst.While)) else [],
        )

    def _loop(self, predict: Call, file: File) -> cst.CSTNode | None:
        """The loop whose items are predicted one by one."""
        argument = predict.arg("x")
        if argument is None:
            return None
        read = {n.value for n in walk(argument.expression) if isinstance(n, cst.Name)}
        for loop in file.contexts.loops(predict.node):
            count = file.contexts.literal_count(loop)
            if count is not None and count <= FEW:
                continue
            if read & set(assigned_names(loop, file)):
                return loop
        comprehension = file.contexts.comprehension(predict.node)
        if comprehension is not None:
            bound = {n.value for c in walk(comprehension) if isinstance(c, cst.CompFor) for n in walk(c.target) if isinstance(n, cst.Name)}
            return comprehension if read & bound else None
        return None

    def _model_changes(self, predict: Call, loop: cst.CSTNode, file: File) -> bool:
        """Whether the loop goes over models, or makes or trains one: then each prediction is of a whole set."""
        receiver = predict.receiver_node
        names = {n.value for n in walk(receiver) if isinstance(n, cst.Name)} if receiver is not None else set()
        if isinstance(loop, (cst.For, cst.While)):
            if names & (set(assigned_names(loop, file)) - {"self"}):
                return True
            trains = {"fit", "load_weights", "set_weights"}
            return any(isinstance(n, cst.Call) and file.call(n).method in trains for n in walk(loop.body))
        return any(n.value in names for c in walk(loop) if isinstance(c, cst.CompFor) for n in walk(c.target) if isinstance(n, cst.Name))

    def _call(self, predict: Call, file: File) -> Fix | None:
        receiver, argument = predict.receiver_node, predict.arg("x")
        extra = [a for a in predict.node.args if a.keyword is not None and a.keyword.value not in ("verbose", "x")]
        if receiver is None or argument is None or extra or len([a for a in predict.node.args if a.keyword is None]) > 1:
            return None
        at = outer_span(file, argument.expression)
        text = file.source.text[at.start : at.end]
        edit = Edit(outer_span(file, receiver).end, file.span(predict.node).end, f"({text}, training=False)")
        return Fix("call the model", (edit,), Safety.UNSAFE)
