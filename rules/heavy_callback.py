from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import libcst as cst
from tfmemlint_rules._heavy_callback import additions, is_bounded, is_trimmed

from tfmemlint.api import (
    Call,
    File,
    Finding,
    Function,
    Node,
    Rule,
    Sequence,
    Value,
    classes_deriving,
    constant,
    copies_weights,
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

Hook = cst.FunctionDef | cst.Lambda


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
            what = "histograms and images copy every weight to the host each time; write one of them, or neither"
            yield self.finding(call, file, what)
        steps = self._profiled(call.value_of("profile_batch"))
        if steps > MOST_PROFILED:
            yield self.finding(call, file, f"the profiler keeps every op of {steps} steps in memory; profile a few")

    def _profiled(self, batches: Value) -> int:
        """The steps between the first and the last that are profiled, where a pair or a text says them."""
        words = str(constant(batches)).split(",")
        bounds = [int(word) if _STEP.fullmatch(word.strip()) else None for word in words]
        if isinstance(batches, Sequence):
            bounds = [integer(item) for item in batches.items]
        known = [bound for bound in bounds if bound is not None]
        return known[1] - known[0] if len(known) == len(bounds) == 2 else 0

    @on(classes_deriving("tf.keras.callbacks.Callback"))
    def callbacks(self, callback: cst.ClassDef, file: File) -> Iterator[Finding]:
        hooks = [method for method in file.values.classes.methods(callback) if method.name.value in HOOKS]
        for method in hooks:
            yield from self._keeps(method, callback, hooks, file)

    @on_call("tf.keras.callbacks.LambdaCallback")
    def functions(self, call: Call, file: File) -> Iterator[Finding]:
        for option in (option for hook in sorted(HOOKS) for option in call.given(hook).options):
            if isinstance(option, Function):
                yield from self._keeps(option.node, file.module, [option.node], file)

    def _keeps(self, hook: Hook, owner: Node, hooks: Iterable[Hook], file: File) -> Iterator[Finding]:
        """What a hook adds in each call to containers that outlive it and are never emptied."""
        for found in additions(file, hook.body):
            name = dotted(found.container)
            if name is None or (isinstance(found.container, cst.Name) and name in file.flow(hook).bindings):
                continue  # a list of this call alone
            if is_bounded(owner, name) or any(is_trimmed(each.body, name) for each in hooks):
                continue
            if copies_weights(file, found.item):
                what = "each call of this hook keeps another copy of weights or outputs"
                yield self.finding(found.where, file, f"{what}; keep a number, or write to disk")
