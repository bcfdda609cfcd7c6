from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import libcst as cst
from tfmemlint_rules._copies import bounded, is_copy, kept, trimmed

from tfmemlint.api import (
    Call,
    File,
    Finding,
    Function,
    Node,
    Rule,
    Sequence,
    classes_deriving,
    constant,
    dotted,
    integer,
    on,
    on_call,
)

HOOKS = frozenset({
    "on_batch_end", "on_train_batch_end", "on_test_batch_end", "on_predict_batch_end", "on_train_batch_begin",
    "on_batch_begin", "on_epoch_end", "on_epoch_begin",
})  # fmt: skip
MOST_PROFILED = 20

_STEP = re.compile("[0-9]{1,18}")


class HeavyCallback(Rule):
    """
    ## What it does
    Reports `TensorBoard` callbacks that write histograms together with images of all weights, or profile more than 20
    steps, and callbacks of the module that keep tensors, predictions or weights for each batch or epoch.

    ## Why it costs memory
    Histograms and images copy every weight to the host each epoch. The profiler keeps an event for each op until it
    ends. A list of weights or predictions grows by one copy of the model or the outputs each time.

    ## When not to use it
    When the model is small.

    ## References
    - https://keras.io/api/callbacks/tensorboard/
    """

    code = "TFM607"
    summary = "a callback that records too much holds copies of weights or events"
    no_fix = "what is to be recorded is yours to say"
    in_tests = False

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
        return [int(part) if _STEP.fullmatch(part.strip()) else None for part in parts]

    @on(classes_deriving("tf.keras.callbacks.Callback"))
    def callbacks(self, callback: cst.ClassDef, file: File) -> Iterator[Finding]:
        hooks = [m for m in file.values.classes.methods(callback) if m.name.value in HOOKS]
        for method in hooks:
            yield from self._keeps(method, callback, hooks, file)

    @on_call("tf.keras.callbacks.LambdaCallback")
    def functions(self, call: Call, file: File) -> Iterator[Finding]:
        for hook in sorted(HOOKS):
            for option in call.value_of(hook).options:
                if isinstance(option, Function):
                    yield from self._keeps(option.node, file.module, [option.node], file)

    def _keeps(
        self,
        hook: cst.FunctionDef | cst.Lambda,
        owner: Node,
        hooks: Iterable[cst.FunctionDef | cst.Lambda],
        file: File,
    ) -> Iterator[Finding]:
        for found in kept(hook.body):
            name = dotted(found.container)
            if name is None or (isinstance(found.container, cst.Name) and name in file.flow(hook).bindings):
                continue  # a list of this call alone
            if any(trimmed(found.container, h.body) for h in hooks) or bounded(found.container, owner):
                continue
            if is_copy(found.item, file):
                where = file.call(found.where) if isinstance(found.where, cst.Call) else found.where
                what = (
                    "each call of this hook keeps another copy of weights or outputs; keep a number, or write to disk"
                )
                yield self.finding(where, file, what)
