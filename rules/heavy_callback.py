from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Array, Call, File, Finding, Rule, Sequence, constant, integer, on_call, on_file, walk

BATCH_HOOKS = frozenset({
    "on_batch_end", "on_train_batch_end", "on_test_batch_end", "on_predict_batch_end", "on_train_batch_begin", "on_batch_begin",
})  # fmt: skip
EPOCH_HOOKS = frozenset({"on_epoch_end", "on_epoch_begin"})
LARGE = frozenset({"get_weights", "predict"})
MOST_PROFILED = 20


class HeavyCallback(Rule):
    """
    ## What it does
    Reports `TensorBoard` callbacks that write histograms together with images of all weights, or profile more than 20
    steps, and callbacks of the module that keep tensors, predictions or weights for each batch or epoch.

    ## Why it costs memory
    Histograms and images copy every weight to the host each epoch. The profiler keeps an event for each op until it
    ends. A list of weights or predictions grows by one copy of the model or the outputs each time.

    ## Example
    ```python
    callbacks = [keras.callbacks.TensorBoard("logs", histogram_freq=1, write_images=True)]
    ```
    Write scalars, and a short profile where it is needed:
    ```python
    callbacks = [keras.callbacks.TensorBoard("logs", profile_batch=(10, 15))]
    ```

    ## Fix safety
    No fix: what is to be recorded is yours to say.

    ## When not to use it
    When the model is small.

    ## References
    - https://keras.io/api/callbacks/tensorboard/
    """

    code = "TFM607"
    summary = "a callback that records too much holds copies of weights or events"

    @on_call("tf.keras.callbacks.TensorBoard")
    def tensorboard(self, call: Call, file: File) -> Iterator[Finding]:
        frequency = integer(call.value_of("histogram_freq"))
        if frequency is not None and frequency > 0 and constant(call.value_of("write_images")) is True:
            yield self.finding(
                call,
                file,
                "histograms and images copy every weight to the host each time; write one of them, or neither",
            )
        first_last = call.value_of("profile_batch")
        bounds = (
            [integer(item) for item in first_last.items]
            if isinstance(first_last, Sequence)
            else self._text_range(constant(first_last))
        )
        if (
            len(bounds) == 2
            and bounds[0] is not None
            and bounds[1] is not None
            and bounds[1] - bounds[0] > MOST_PROFILED
        ):
            yield self.finding(
                call, file, f"the profiler keeps every op of {bounds[1] - bounds[0]} steps in memory; profile a few"
            )

    def _text_range(self, text: object) -> list[int | None]:
        parts = str(text).split(",") if isinstance(text, str) else []
        return [int(part) if part.strip().isdigit() else None for part in parts]

    @on_file("Callback")
    def callbacks(self, file: File) -> Iterator[Finding]:
        for node in file.tree.of(cst.ClassDef):
            if not file.values.classes.derives(node, "tf.keras.callbacks.Callback"):
                continue
            for method in file.values.classes.methods(node):
                if method.name.value in BATCH_HOOKS | EPOCH_HOOKS:
                    yield from self._keeps(method, file)

    def _keeps(self, method: cst.FunctionDef, file: File) -> Iterator[Finding]:
        for node in walk(method.body):
            if (
                not isinstance(node, cst.Call)
                or not isinstance(node.func, cst.Attribute)
                or node.func.attr.value != "append"
                or not node.args
            ):
                continue
            kept = node.func.value
            if (
                isinstance(kept, cst.Attribute)
                and isinstance(kept.value, cst.Name)
                and kept.value.value == "self"
                and self._large(node.args[0].value, method, file)
            ):
                yield self.finding(
                    file.call(node),
                    file,
                    "each call of this hook keeps another copy of weights or outputs; keep a number, or write it to disk",
                )

    def _large(self, item: cst.BaseExpression, method: cst.FunctionDef, file: File) -> bool:
        """Whether the item is weights, predictions or a tensor: `self.model.get_weights()`, `self.model(x)`."""
        if isinstance(item, cst.Name):
            values = [d.value for d in file.flow(method).uses.get(id(item), ())]
            return (
                len(values) == 1 and isinstance(values[0], cst.BaseExpression) and self._large(values[0], method, file)
            )
        if isinstance(item, cst.Call) and isinstance(item.func, cst.Attribute):
            func = item.func
            if func.attr.value in LARGE and self._own_model(func.value):
                return True
            return func.attr.value == "model" and self._own_model(func)
        value = file.value(item)
        return isinstance(value, Array) and value.library == "tf" and value.shape != ()

    def _own_model(self, node: cst.BaseExpression) -> bool:
        return (
            isinstance(node, cst.Attribute)
            and node.attr.value == "model"
            and isinstance(node.value, cst.Name)
            and node.value.value == "self"
        )
