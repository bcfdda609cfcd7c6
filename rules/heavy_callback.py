from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from tfmemlint.api import (
    Call,
    File,
    Finding,
    Function,
    Rule,
    Value,
    constant,
    dotted,
    facts,
    fixes,
    flow,
    integer,
    keras,
    on,
    on_call,
    ordering,
)
from tfmemlint.api import Sequence as Items

HOOKS = frozenset({
    "on_batch_end", "on_train_batch_end", "on_test_batch_end", "on_predict_batch_end", "on_train_batch_begin",
    "on_batch_begin", "on_epoch_end", "on_epoch_begin",
})  # fmt: skip
MOST_PROFILED = 20

SMALL = 1 << 20
"""1 MiB of weights, of which copies are lost beside what training takes."""

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
    When the model is small. Histograms and images are not reported where all models of the file are known to have less
    than 1 MiB of weights, nor where Keras until 2.3 trains without validation data and writes none, nor is a
    `TensorBoard` that is off until somebody asks for it.

    ## References
    - https://keras.io/api/callbacks/tensorboard/
    """

    code = "TFM607"
    summary = "a callback that records too much holds copies of weights or events"
    no_fix = "what is to be recorded is yours to say"
    in_tests = False

    @on_call("tf.keras.callbacks.TensorBoard")
    def tensorboard(self, call: Call, file: File) -> Iterator[Finding]:
        if ordering.asks_setting(file, call.node) or ordering.is_off_by_default(file, call.node):
            return
        frequency = integer(call.value_of("histogram_freq"))
        largest = keras.largest_model(file)
        small = largest is not None and largest < SMALL
        both = frequency is not None and frequency > 0 and constant(call.value_of("write_images")) is True
        if both and not small and not keras.lacks_validation(file):
            what = "histograms and images copy every weight to the host each time; write one of them, or neither"
            contrast = fixes.replace_keyword(file, call.node, "histogram_freq", "0")
            yield self.finding(call, file, what, contrast=contrast)
        steps = self._profiled(call.value_of("profile_batch"))
        if steps > MOST_PROFILED:
            what = f"the profiler keeps every op of {steps} steps in memory; profile a few"
            contrast = fixes.replace_keyword(file, call.node, "profile_batch", "0")
            yield self.finding(call, file, what, contrast=contrast)

    def _profiled(self, batches: Value) -> int:
        """The steps between the first and the last that are profiled, where a pair or a text says them."""
        words = str(constant(batches)).split(",")
        bounds = [int(word) if _STEP.fullmatch(word.strip()) else None for word in words]
        if isinstance(batches, Items):
            bounds = [integer(item) for item in batches.items]
        known = [bound for bound in bounds if bound is not None]
        return known[1] - known[0] if len(known) == len(bounds) == 2 else 0

    @on(facts.classes_deriving("tf.keras.callbacks.Callback"))
    def callbacks(self, callback: cst.ClassDef, file: File) -> Iterator[Finding]:
        hooks = [method for method in file.values.classes.methods(callback) if method.name.value in HOOKS]
        for method in hooks:
            yield from self._keeps(method, hooks, file)

    @on_call("tf.keras.callbacks.LambdaCallback")
    def functions(self, call: Call, file: File) -> Iterator[Finding]:
        for option in (option for hook in sorted(HOOKS) for option in call.given(hook).options):
            if isinstance(option, Function):
                yield from self._keeps(option.node, [option.node], file)

    def _keeps(self, hook: Hook, hooks: Sequence[Hook], file: File) -> Iterator[Finding]:
        """What a hook puts in each call into containers that outlive it and that no hook empties."""
        for put in flow.puts(file):
            path = dotted(put.container)
            if path is None or not file.tree.contains(hook.body, put.node) or path in _own_names(hook, file):
                continue
            emptied = any(flow.is_emptied(file, path, each) or flow.is_made_anew(file, path, each) for each in hooks)
            if not emptied and not flow.is_bounded(file, put.container) and keras.copies_weights(file, put.item):
                what = "each call of this hook keeps another copy of weights or outputs"
                nothing = fixes.replace_node(file, put.item, "None")
                yield self.finding(put.where, file, f"{what}; keep a number, or write to disk", contrast=nothing)


def _own_names(hook: Hook, file: File) -> set[str]:
    """The names of the hook's own variables: what they hold goes with the call."""
    return {name for name in file.flow(hook).bindings if "." not in name}
