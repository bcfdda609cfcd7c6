from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._items import item_loop, same_rows
from tfmemlint_rules._whole_predictions import model_changes, rare, whole_set

from tfmemlint.api import Call, Edit, File, Finding, Fix, Rule, Safety, on_call, outer_span

FEW = 10
"""Iterations of a loop that predicts whole sets, such as the parts of a split or the steps of a forecast."""
OF_TENSORS = frozenset({"numpy", "shape", "dtype", "ndim"})
"""Attributes that tensors and NumPy arrays both have."""


class PredictInLoop(Rule):
    """
    ## What it does
    Reports `model.predict()` of a Keras model that is called for each item or batch in a Python loop.

    ## Why it costs memory
    Every call builds a dataset, an iterator and callbacks before the model runs, which takes far longer than the model
    itself. It leaks no more on current versions, but each call holds its own copy of the input.

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
        if argument is None or whole_set(predict, file):
            return
        loop = item_loop(argument.expression, file, FEW) or same_rows(predict, file, FEW)
        if loop is None or model_changes(predict, loop, file) or rare(predict.node, loop, file):
            return
        yield self.finding(
            predict,
            file,
            "predict() sets up a dataset, an iterator and callbacks for every item; call model(x, training=False), or "
            "predict all items at once",
            fix=self._call(predict, file),
            related=[(loop, "the loop")] if isinstance(loop, (cst.For, cst.While)) else [],
        )

    def _call(self, predict: Call, file: File) -> Fix | None:
        receiver, argument = predict.receiver_node, predict.arg("x")
        extra = [a for a in predict.node.args if a.keyword is not None and a.keyword.value not in ("verbose", "x")]
        unnamed = [a for a in predict.node.args if a.keyword is None]
        if receiver is None or argument is None or extra or len(unnamed) > 1:
            return None
        displays = (cst.List, cst.Tuple)
        if isinstance(argument.expression, displays):
            if any(isinstance(element.value, displays) for element in argument.expression.elements):
                return None  # `predict` makes an array of nested lists, a call takes them for several inputs
        if self._parts_used_as_arrays(predict.node, file):
            return None
        at = outer_span(file, argument.expression)
        text = file.source.text[at.start : at.end]
        array = ".numpy()" if self._used_as_array(predict.node, file) else ""
        edit = Edit(outer_span(file, receiver).end, file.span(predict.node).end, f"({text}, training=False){array}")
        return Fix("call the model", (edit,), Safety.UNSAFE)

    def _parts_used_as_arrays(self, result: cst.BaseExpression, file: File) -> bool:
        """Whether the outputs of a model with several are unpacked, and one of them is used as an array."""
        assign = file.tree.parent(result)
        target = assign.targets[0].target if isinstance(assign, cst.Assign) else None
        if not isinstance(target, (cst.Tuple, cst.List)):
            return False
        made = [file.definition(e.value) for e in target.elements if isinstance(e.value, cst.Name)]
        return any(self._used_as_array(use, file) for d in made if d is not None for use in file.uses_of(d))

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
