from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tfmemlint.api import (
    Call,
    Fact,
    File,
    Finding,
    Function,
    Instance,
    Rule,
    Value,
    calls,
    facts,
    keras,
    on,
    repetition,
)

PRUNE = "tensorflow_model_optimization.sparsity.keras.prune_low_magnitude"
STRIP = "tensorflow_model_optimization.sparsity.keras.strip_pruning"
CLONE = "tf.keras.models.clone_model"
METHODS = ("save", "save_weights", "export")
FUNCTIONS = {
    "tf.keras.models.save_model": "model", "tf.keras.saving.save_model": "model", "tf.saved_model.save": "obj",
    "tf.lite.TFLiteConverter.from_keras_model": "model",
}  # fmt: skip
"""What saves or exports a model, and how it calls it."""

saving = facts.calls_named(*METHODS, *(name.rpartition(".")[2] for name in FUNCTIONS))


@dataclass(frozen=True, slots=True)
class Saved:
    """The first call that saves a pruned model after its training, and the call that made it a pruned one."""

    by: Call
    pruned: Call


def _saved(file: File) -> Iterator[Saved]:
    reported: set[int] = set()
    for call in saving.of(file) if _prunes(file) else ():
        made = _pruned(file, call)
        if made is not None and id(made.node) not in reported and not _trains_on(file, call):
            reported.add(id(made.node))
            yield Saved(call, made)


def _prunes(file: File) -> bool:
    """Whether the program prunes and never strips, itself or in functions that it imports."""
    pruned, stripped = (repetition.imported_calls(each, again=False) for each in (PRUNE, STRIP))
    prunes = any(file.calls(PRUNE)) or any(pruned.of(file))
    return prunes and not file.loads("strip_pruning") and not stripped.of(file)


saved_while_pruned = Fact(_saved, PRUNE)


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

    @on(saved_while_pruned)
    def check(self, saved: Saved, file: File) -> Iterator[Finding]:
        what = "the pruning masks are saved with the model: twice the weights; strip_pruning() first"
        yield self.finding(saved.by, file, what, related=[(saved.pruned, "pruned here")])


def _pruned(file: File, save: Call) -> Call | None:
    """The one call that made the pruned model which is saved."""
    if save.name in FUNCTIONS:
        model = save.value_of(0) if save.arg(0) is not None else save.given(FUNCTIONS[save.name])
    elif save.method in METHODS:
        model = save.receiver
    else:
        return None
    found = {id(made): made for made in (_made(file, option) for option in model.options)}
    return next(iter(found.values())) if len(found) == 1 else None


def _made(file: File, model: Value) -> Call | None:
    """The call that prunes a model or a layer of it."""
    made = model.call if isinstance(model, Instance) else None
    if made is None or made.name == PRUNE:
        return made
    if made.name == CLONE:
        functions = (f.node for f in made.value_of("clone_function").options if isinstance(f, Function))
        return next((call for function in functions for call in calls(file, function, PRUNE)), None)
    return next((layer for layer in keras.layers_in(file, made) if layer.name == PRUNE), None)


def _trains_on(file: File, save: Call) -> bool:
    """Whether the loop around trains on: what is saved is a checkpoint."""
    return any(True for loop in file.contexts.loops(save.node) for _ in calls(file, loop, "fit"))
