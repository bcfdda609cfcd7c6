from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._state import guarded, guarded_entry, makes_state, outermost

from tfmemlint.api import Api, Call, File, Finding, Rule, on_file, once_per_file, own_nodes, parameters, walk

CALLS = frozenset({"call", "__call__"})
ONCE = frozenset({"build", "__init__", "setup"})
STEPS = frozenset({"train_step", "test_step", "train_on_batch", "training_step", "train_one_step", "step"})


class StateMadePerCall(Rule):
    """
    ## What it does
    Reports variables, layers with weights, models, optimizers and metrics that are created in a traced function, in
    `call()` of a layer or model, or in a training step.

    ## Why it costs memory
    Every call makes new weights, which are random and never trained, and keeps the old ones as long as a graph or an
    optimizer refers to them. Under `tf.function` the second call raises `ValueError`: it only supports variables that
    are created once.

    ## When not to use it
    Never. Creation that is guarded (`if self.dense is None`) is not reported.

    ## References
    - https://www.tensorflow.org/guide/function#creating_tfvariables
    """

    code = "TFM503"
    summary = "variables, layers or optimizers created on every call"
    no_fix = "the object must move to `__init__` or `build`"

    @on_file("function", "call", "__call__", "train_step", "GradientTape")
    def check(self, file: File) -> Iterator[Finding]:
        for function in file.tree.of(cst.FunctionDef):
            place = self._per_call(function, file)
            if place is None or self._recomputed(function, file):
                continue
            for node in own_nodes(function, cst.Call):
                call = file.call(node)
                what = makes_state(call)
                if what is None or guarded(file, node, function) or not outermost(file, call):
                    continue
                if not (place == "step" and self._of_input(call, function)):
                    yield self._report(call, what, place, file)

    def _per_call(self, function: cst.FunctionDef, file: File) -> str | None:
        """Why the function's body runs for every step: "traced", "call", "step", or None."""
        owner, name = file.class_of(function), function.name.value
        if owner is not None and name in CALLS and file.values.classes.derives(owner, "tf.keras.layers.Layer"):
            return "call"
        first = function.body.body[0] if function.body.body else None
        if first is not None and file.contexts.traced(first) and not file.contexts.mapped(first):
            return None if name in ONCE or guarded_entry(file, function) else "traced"
        if id(function) in _with_tapes(file):
            loops = any(file.contexts.loop(c.node) is not None for c in file.values.functions.callers(function) or ())
            has_loop = any(True for _ in own_nodes(function, cst.For, cst.While))
            return "step" if (loops or name in STEPS) and not has_loop else None
        return None

    def _recomputed(self, function: cst.FunctionDef, file: File) -> bool:
        """Whether `recompute_grad` runs the function, about which another rule speaks."""
        return any(file.value(d.decorator) == Api("tf.recompute_grad") for d in function.decorators)

    def _of_input(self, call: Call, function: cst.FunctionDef) -> bool:
        """Whether it is a variable made of the step's own input, to be changed by the step (an adversarial image)."""
        names = {p.name.value for p in parameters(function)}
        return call.name == "tf.Variable" and any(
            isinstance(n, cst.Name) and n.value in names for arg in call.node.args[:1] for n in walk(arg.value)
        )

    def _report(self, call: Call, what: str, place: str, file: File) -> Finding:
        then = {
            "traced": "under tf.function the second call raises ValueError",
            "call": "each call makes new ones that are never trained",
            "step": "each step starts with new ones",
        }[place]
        return self.finding(call, file, f"{call.method} creates {what} on every call: {then}; create it once, outside")


@once_per_file
def _with_tapes(file: File) -> set[int]:
    """The functions (by id) that record a tape."""
    return {id(file.contexts.function(tape.node)) for tape in file.calls("tf.GradientTape")}
