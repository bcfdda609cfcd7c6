from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Array,
    Call,
    File,
    Finding,
    Function,
    Instance,
    Rule,
    Value,
    calls_named,
    elements,
    on,
    walk,
)
from tfmemlint.model.layers.networks import SEQUENTIAL, placed

PRUNE = "tensorflow_model_optimization.sparsity.keras.prune_low_magnitude"
CLONE = "tf.keras.models.clone_model"
SAVES = frozenset({"save", "save_weights", "export"})
EXPORTS = {
    "tf.keras.models.save_model": "model", "tf.keras.saving.save_model": "model", "tf.saved_model.save": "obj",
    "tf.lite.TFLiteConverter.from_keras_model": "model",
}  # fmt: skip

saves = calls_named(*SAVES, "save_model", "from_keras_model")


class PruningNotStripped(Rule):
    """
    ## What it does
    Reports models made with `prune_low_magnitude` that are saved or exported with no `strip_pruning`.

    ## Why it costs memory
    While it prunes, each layer holds a mask and a threshold beside its dense weights: twice the weights. Saved like
    that, the model is larger than before pruning, on disk and in memory.

    ## When not to use it
    For checkpoints from which pruning goes on.

    ## References
    - https://www.tensorflow.org/model_optimization/guide/pruning
    """

    code = "TFM608"
    summary = "a pruned model that is not stripped holds twice the weights"
    no_fix = "where training ends is yours to say"
    in_tests = False

    @on(saves, PRUNE)
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        made = self._pruned(call, file)
        if made is None or self._strips(file) or self._still_trained(call.node, file):
            return
        others = (other for other in saves.of(file) if self._pruned(other, file) is made)
        if call is not next(other for other in others if not self._still_trained(other.node, file)):
            return  # saved again
        what = "the pruning masks are saved with the model: twice the weights; strip_pruning() first"
        yield self.finding(call, file, what, related=[(made, "pruned here")])

    def _strips(self, file: File) -> bool:
        """Whether the file calls or names `strip_pruning` anywhere."""
        return any(name.value == "strip_pruning" for name in file.tree.of(cst.Name))

    def _pruned(self, call: Call, file: File) -> Call | None:
        """The call that made the pruned model which this call saves."""
        saved: Value | None
        if call.name in EXPORTS:
            saved = call.value_of(0) if call.arg(0) is not None else call.value_of(EXPORTS[call.name])
        else:
            saved = call.receiver if call.method in SAVES else None
        found = {id(made): made for made in (self._made(o, file) for o in saved.options)} if saved is not None else {}
        return next(iter(found.values())) if len(found) == 1 else None

    def _made(self, model: Value, file: File) -> Call | None:
        if not isinstance(model, Instance) or model.call is None:
            return None
        call = model.call
        if call.name == PRUNE:
            return call
        if call.name == CLONE:
            return self._cloned(call, file)
        layers = (step.layer for step in placed(call)) if call.name == SEQUENTIAL else self._functional(call)
        return next((x.call for x in layers if isinstance(x, Instance) and x.call and x.call.name == PRUNE), None)

    def _functional(self, model: Call) -> Iterator[Value]:
        """The layers on the way back from a functional model's outputs."""
        pending = elements(model.value_of(1) if model.arg(1) is not None else model.value_of("outputs"))
        seen: set[int] = set()
        while pending:
            tensor = pending.pop()
            made = tensor.origin if isinstance(tensor, Array) else None
            if isinstance(made, Call) and id(made) not in seen:
                seen.add(id(made))
                yield made.target
                pending += [leaf for i in range(len(made.node.args)) for leaf in elements(made.value_of(i))]

    def _cloned(self, clone: Call, file: File) -> Call | None:
        """The call that prunes in the function which `clone_model` is given."""
        for option in clone.value_of("clone_function").options:
            inside = walk(option.node.body) if isinstance(option, Function) else ()
            calls = (file.call(node) for node in inside if isinstance(node, cst.Call))
            found = next((call for call in calls if call.name == PRUNE), None)
            if found is not None:
                return found
        return None

    def _still_trained(self, save: cst.Call, file: File) -> bool:
        """Whether the loop around the call trains on: a checkpoint."""
        loops = file.contexts.loops(save)
        return any(isinstance(n, cst.Call) and file.call(n).method == "fit" for loop in loops for n in walk(loop))
