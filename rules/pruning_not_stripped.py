from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Finding, Rule, on_call

PRUNE = ("tensorflow_model_optimization.sparsity.keras.prune_low_magnitude",)
STRIP = ("tensorflow_model_optimization.sparsity.keras.strip_pruning",)
SAVES = frozenset({"save", "save_weights", "export"})
EXPORTS = (
    "tf.keras.models.save_model",
    "tf.saved_model.save",
    "tf.lite.TFLiteConverter.from_keras_model",
    "tf.keras.saving.save_model",
)


class PruningNotStripped(Rule):
    """
    ## What it does
    Reports models made with `prune_low_magnitude` that are saved or exported with no `strip_pruning`.

    ## Why it costs memory
    While it prunes, each layer holds a mask and a threshold beside its dense weights: twice the weights. Saved like
    that, the model is larger than before pruning, on disk and in memory.

    ## Example
    ```python
    pruned = tfmot.sparsity.keras.prune_low_magnitude(model)
    pruned.fit(x, y)
    pruned.save("model.h5")
    ```
    Strip it first:
    ```python
    tfmot.sparsity.keras.strip_pruning(pruned).save("model.h5")
    ```

    ## Fix safety
    No fix: where training ends is yours to say.

    ## When not to use it
    For checkpoints from which pruning goes on.

    ## References
    - https://www.tensorflow.org/model_optimization/guide/pruning
    """

    code = "TFM608"
    summary = "a pruned model that is not stripped holds twice the weights"

    @on_call(*PRUNE)
    def check(self, prune: Call, file: File) -> Iterator[Finding]:
        if any(file.calls(*STRIP)) or "strip_pruning" in file.calls_by_word:
            return
        assign = file.tree.parent(prune.node)
        target = assign.targets[0].target if isinstance(assign, cst.Assign) else None
        if not isinstance(target, cst.Name):
            return
        definitions = [d for d in file.flow(file.scope_of(target)).bindings.get(target.value, ()) if d.node is target]
        uses = [use for d in definitions for use in file.uses_of(d)]
        for use in uses:
            saved = self._saved(use, file)
            if saved is not None:
                yield self.finding(
                    saved, file, "the pruning masks are saved with the model: twice the weights; strip_pruning() first",
                    related=[(prune, "pruned here")],
                )  # fmt: skip
                return

    def _saved(self, use: cst.Name, file: File) -> Call | None:
        parent = file.tree.parent(use)
        if isinstance(parent, cst.Attribute) and parent.value is use and parent.attr.value in SAVES:
            call = file.tree.parent(parent)
            return file.call(call) if isinstance(call, cst.Call) else None
        if isinstance(parent, cst.Arg):
            call = file.tree.parent(parent)
            found = file.call(call) if isinstance(call, cst.Call) else None
            return found if found is not None and found.name in EXPORTS else None
        return None
