from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._items import item_loop
from tfmemlint_rules._loops import assigned_names

from tfmemlint.api import (
    Call,
    Const,
    Dataset,
    File,
    Finding,
    Fix,
    Instance,
    Length,
    Node,
    Rule,
    Safety,
    integer,
    on_call,
    walk,
)
from tfmemlint.finding import Edit
from tfmemlint.fix.edits import outer_span

FEW = 10
"""Iterations of a loop that predicts whole sets, such as the parts of a split or the steps of a forecast."""
COPIES = frozenset({"copy", "deepcopy", "array"})
OF_TENSORS = frozenset({"numpy", "shape", "dtype", "ndim"})
"""Attributes that tensors and NumPy arrays both have."""


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
    Unsafe: the result is a tensor. Where the code uses it as only NumPy arrays can be, `.numpy()` is added, which a
    model of several outputs does not have.

    ## When not to use it
    Where each call predicts a whole data set: loops over models, folds and data sets, calls with a `batch_size` of
    their own, and predictions every so many steps are not reported.

    ## References
    - https://keras.io/api/models/model_training_apis/#predict-method
    """

    code = "TFM602"
    summary = "predict() in a loop sets up a dataset for every item"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_call("tf.keras.Model.predict")
    def check(self, predict: Call, file: File) -> Iterator[Finding]:
        argument = predict.arg("x")
        if argument is None:
            return
        if self._whole_set(predict, file):
            return
        loop = item_loop(argument.expression, file, FEW)
        if loop is None or self._model_changes(predict, loop, file) or self._rare(predict.node, loop, file):
            return
        yield self.finding(
            predict,
            file,
            "predict() sets up a dataset, an iterator and callbacks for every item: about 130 ms a call against 1 ms "
            "for model(x, training=False); or predict all items at once",
            fix=self._call(predict, file),
            related=[(loop, "the loop")] if isinstance(loop, (cst.For, cst.While)) else [],
        )

    def _whole_set(self, predict: Call, file: File) -> bool:
        """Whether each call predicts many rows in batches: a dataset, or a batch size of its own for other data."""
        data = predict.value_of("x")
        if any(isinstance(option, Dataset) for option in data.options) or predict.arg("steps") is not None:
            return True
        if self._copy_of_all(predict, file):
            return True
        size = predict.arg("batch_size")
        loop = file.contexts.loop(predict.node)
        return size is not None and size.value != Const(1) and not (loop is not None and file.contexts.over_data(loop))

    def _copy_of_all(self, predict: Call, file: File) -> bool:
        """Whether what is predicted is a copy of the same data each time, changed a little: `x = x_test.copy()`."""
        argument, loop = predict.arg("x"), file.contexts.loop(predict.node)
        if argument is None or loop is None or not isinstance(argument.expression, cst.Name):
            return False
        bound = set(assigned_names(loop, file))
        found = file.definitions(argument.expression)
        copies = [file.call(d.value) for d in found if isinstance(d.value, cst.Call) and not d.path]
        return bool(copies) and all(
            copy.method in COPIES and not bound & {n.value for n in walk(copy.node) if isinstance(n, cst.Name)}
            for copy in copies
        )

    def _rare(self, node: Node, loop: Node, file: File) -> bool:
        """Whether the loop predicts only now and then: `if step % 100 == 0`, `if len(batch) == 64`."""
        tests = (a.test for a in file.tree.ancestors(node) if isinstance(a, cst.If) and file.tree.contains(loop, a))
        parts = [n for test in tests for n in walk(test)]
        if any(isinstance(getattr(n, "operator", None), cst.Modulo) for n in parts):
            return True
        return any(self._collected(n, file) for n in parts if isinstance(n, cst.Comparison))

    def _collected(self, test: cst.Comparison, file: File) -> bool:
        """Whether a test waits until a list has some length: not whether it holds anything."""
        counted = isinstance(test.left, cst.Call) and file.call(test.left).name == "builtins.len"
        bound = file.value(test.comparisons[0].comparator)
        return counted and bound not in (Const(0), Const(1)) and not isinstance(bound, Length)

    def _model_changes(self, predict: Call, loop: Node, file: File) -> bool:
        """Whether the loop goes over models, or makes or trains one: then each prediction is of a whole set."""
        receiver = predict.receiver_node
        made = [o.call for o in predict.receiver.options if isinstance(o, Instance) and o.call is not None]
        if any(file.tree.contains(loop, call.node) for call in made):
            return True
        names = {n.value for n in walk(receiver) if isinstance(n, cst.Name)} if receiver is not None else set()
        if isinstance(loop, (cst.For, cst.While)):
            if names & (set(assigned_names(loop, file)) - {"self"}):
                return True
            return any(isinstance(n, cst.Call) and self._trains(file.call(n), loop, file) for n in walk(loop.body))
        targets = (c.target for c in walk(loop) if isinstance(c, cst.CompFor))
        return any(isinstance(n, cst.Name) and n.value in names for target in targets for n in walk(target))

    def _trains(self, call: Call, loop: cst.For | cst.While, file: File) -> bool:
        """Whether a call gives the model other weights for a whole set: not the single steps of an agent's memory."""
        if call.method in ("load_weights", "set_weights"):
            return True
        if call.method != "fit":
            return False
        steps = integer(call.value_of("epochs", "nb_epoch")) == 1 or call.lacks("epochs", "nb_epoch")
        over = walk(loop.iter) if isinstance(loop, cst.For) else ()
        return not steps or any(isinstance(n, cst.Call) and file.call(n).method == "split" for n in over)

    def _call(self, predict: Call, file: File) -> Fix | None:
        receiver, argument = predict.receiver_node, predict.arg("x")
        extra = [a for a in predict.node.args if a.keyword is not None and a.keyword.value not in ("verbose", "x")]
        unnamed = [a for a in predict.node.args if a.keyword is None]
        if receiver is None or argument is None or extra or len(unnamed) > 1:
            return None
        at = outer_span(file, argument.expression)
        text = file.source.text[at.start : at.end]
        array = ".numpy()" if self._used_as_array(predict.node, file) else ""
        edit = Edit(outer_span(file, receiver).end, file.span(predict.node).end, f"({text}, training=False){array}")
        return Fix("call the model", (edit,), Safety.UNSAFE)

    def _used_as_array(self, result: cst.BaseExpression, file: File) -> bool:
        """Whether the code does with a result what only NumPy arrays can: their methods, and setting an item."""
        parent = file.tree.parent(result)
        if isinstance(parent, cst.Subscript) and parent.value is result:
            above = file.tree.parent(parent)
            return isinstance(above, (cst.AssignTarget, cst.AugAssign)) or self._used_as_array(parent, file)
        if isinstance(parent, cst.Attribute):
            return parent.value is result and parent.attr.value not in OF_TENSORS
        target = parent.targets[0].target if isinstance(parent, cst.Assign) and len(parent.targets) == 1 else None
        if not isinstance(target, cst.Name):
            return False
        made = file.definition(target)
        return made is not None and any(self._used_as_array(use, file) for use in file.uses_of(made))
