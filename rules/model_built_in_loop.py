from __future__ import annotations

from collections.abc import Iterator
from math import prod

import libcst as cst
from tfmemlint_rules._altered import changed
from tfmemlint_rules._iterations import few_iterations, iterations
from tfmemlint_rules._made import calls_in, fate
from tfmemlint_rules._models import clears, model_at
from tfmemlint_rules._once import made_once

from tfmemlint.api import (
    Call,
    Class,
    File,
    Finding,
    Fix,
    Function,
    Instance,
    Node,
    Rule,
    Safety,
    api_text,
    insert_first,
    on_file,
    walk,
)

CLEAR = "tf.keras.backend.clear_session"
LOADS = ("tf.keras.models.load_model", "tf.keras.saving.load_model")
FEW = 3
TRAINS = frozenset({"fit", "compile", "fit_generator", "train_on_batch"})
LAYERS = ("tf.keras.layers.", "tf.keras.applications.", "tf.keras.Sequential")


class ModelBuiltInLoop(Rule):
    """
    ## What it does
    Reports Keras models that are built again in each iteration of a loop (trials, folds, configurations), by a
    constructor or a function of the module, with no `clear_session()` in the loop or the function.

    ## Why it costs memory
    Keras keeps global state for every layer and model that is made, and the models of earlier iterations are held by
    reference cycles until the garbage collector runs. `clear_session()` drops that. It is not enough for models that
    were trained: on TensorFlow 2.11 to 2.21 the variables and optimizer slots of a trained model stay in a global
    registry until the process ends. One process for each trial, or one model whose weights are reset, is the sure way.

    ## Fix safety
    Unsafe: automatic layer names start again, models kept from before must not be used, and Keras 3 forgets a dtype
    policy that was set before the loop.

    ## When not to use it
    When all models are kept on purpose, for an ensemble; models that are stored are not reported.

    ## References
    - https://keras.io/api/utils/config_utils/#clear_session-function
    """

    code = "TFM601"
    summary = "a Keras model built in a loop leaves its predecessors in memory"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_file("for", "while")
    def check(self, file: File) -> Iterator[Finding]:
        cleared: dict[Node, bool] = {}
        for node in file.tree.of(cst.Call):
            loop = self._loop(node, cleared, file)
            if loop is not None and self._builds(node, loop, file):
                yield self._report(file.call(node), loop, file)

    def _loop(self, node: cst.Call, cleared: dict[Node, bool], file: File) -> Node | None:
        """The loop or comprehension of more than a few iterations that runs the call again and clears nothing."""
        loops: list[Node] = [*file.contexts.loops(node)]
        around = file.contexts.comprehension(node)
        rounds = [*loops, around] if around is not None else loops
        found = next((r for r in rounds if not few_iterations(r, file, FEW)), None)
        if found is None and prod(iterations(r, file) or 0 for r in rounds) > FEW:
            found = rounds[0]  # short loops in each other: a grid
        if found is None:
            return None
        for loop in loops:
            if loop not in cleared:
                cleared[loop] = clears(loop, file)
        return None if any(cleared[loop] for loop in loops) else found

    def _builds(self, node: cst.Call, loop: Node, file: File) -> bool:
        """Whether the call makes a model that this iteration uses up and nobody keeps."""
        call = file.call(node)
        if not (call.value.known or call.target.known) or made_once(node, loop, file) or _own_graph(node, loop, file):
            return False
        if any(clears(t.node, file) for t in call.target.options if isinstance(t, Function)):
            return False
        path = model_at(call)
        if call.name == "tf.keras.Model" and not self._new_layers(node, loop, file):
            return False  # another view of layers that are there already
        if any(isinstance(o, Instance) and o.call is not None and o.call.name in LOADS for o in call.value.options):
            return False  # read from a file: TFM606, where it is the same each time
        if path is not None:
            if (call.name or "").startswith("tf.keras.applications.") and not changed(node, file):
                return False  # loaded rather than built: TFM606
            done = fate(node, file, path)
            return done is not None and not done.kept and (done.trained or done.only_read or self._compiled(call, file))
        if all(isinstance(t, Class) and self._holds_model(t, file) for t in call.target.options):
            done = fate(node, file)
            return done is not None and not done.kept and done.only_read
        return all(isinstance(t, Function) and self._trains_one(t, file) for t in call.target.options)

    def _new_layers(self, node: cst.Call, loop: Node, file: File) -> bool:
        """Whether the loop makes layers for a functional model, itself or by functions of the module, or trains it."""
        for made in (n for n in walk(loop, cst.Call) if n is not node):
            call = file.call(made)
            if call.method in TRAINS or any(isinstance(t, (Function, Class)) for t in call.target.options):
                return True
            if any(n.startswith(LAYERS) and n.rpartition(".")[2][:1].isupper() for n in call.names):
                return True
        return False

    def _compiled(self, call: Call, file: File) -> bool:
        """Whether the factory compiles what it makes."""
        functions = [t for t in call.target.options if isinstance(t, Function)]
        return any(file.call(n).name == "tf.keras.Model.compile" for t in functions for n in calls_in(t, file))

    def _holds_model(self, made: Class, file: File) -> bool:
        """Whether the class, no model itself, makes a model when an object of it is made."""
        return any(model_at(file.call(n)) is not None for n in calls_in(made, file))

    def _trains_one(self, function: Function, file: File) -> bool:
        """Whether a function of the module builds a model, trains it and gives it to nobody."""
        for node in calls_in(function, file):
            path = model_at(file.call(node))
            done = fate(node, file, path) if path is not None else None
            if done is not None and done.trained and not done.kept and not made_once(node, function.node, file):
                return True
        return False

    def _report(self, call: Call, loop: Node, file: File) -> Finding:
        spelled = api_text(file, CLEAR)
        cloned = call.name == "tf.keras.models.clone_model"  # of a model that clearing would spoil
        edit = None
        if isinstance(loop, (cst.For, cst.While)) and spelled is not None and not cloned:
            edit = insert_first(file, loop, f"{spelled}()")
        fix = Fix("clear the session first in each iteration", (edit,), Safety.UNSAFE) if edit is not None else None
        return self.finding(
            call,
            file,
            "a model built in each iteration leaves the earlier ones in memory; clear_session() frees what was not "
            "trained, for trained models use one process a trial or reset one model's weights",
            fix=fix,
            related=[(loop, "the loop")],
        )


def _own_graph(node: cst.Call, loop: Node, file: File) -> bool:
    """Whether each iteration makes what it makes in a graph of its own."""
    blocks = (block for block in file.contexts.withs(node) if file.tree.contains(loop, block))
    return any("Graph" in file.text(item.item) for block in blocks for item in block.items)
