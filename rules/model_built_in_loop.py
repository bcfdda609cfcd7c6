from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._dtypes import is_test

from tfmemlint.api import Call, Class, File, Finding, Fix, Function, Instance, Node, Rule, Safety, on_file, walk
from tfmemlint.fix.edits import api_text, insert_first

CLEAR = "tf.keras.backend.clear_session"
TRAINS = frozenset({"compile", "fit", "train_on_batch", "evaluate", "predict", "fit_generator"})
KEEPS = frozenset({"append", "add", "extend", "insert", "setdefault", "update", "put"})
BUILDERS = frozenset({"tf.keras.Sequential", "tf.keras.Model", "tf.keras.models.clone_model"})
FEW = 3


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

    ## Example
    ```python
    for rate in rates:
        model = build_model()
        model.compile(tf.keras.optimizers.Adam(rate), "mse")
        model.fit(x, y)
    ```
    Drop what the last iteration left:
    ```python
    for rate in rates:
        tf.keras.backend.clear_session()
        model = build_model()
        model.compile(tf.keras.optimizers.Adam(rate), "mse")
        model.fit(x, y)
    ```

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

    @on_file("for", "while")
    def check(self, file: File) -> Iterator[Finding]:
        if is_test(file):
            return
        for loop in (*file.tree.of(cst.For), *file.tree.of(cst.While)):
            count = file.contexts.literal_count(loop)
            if count is not None and count <= FEW:
                continue
            if self._clears(loop.body, file):
                continue
            for node in walk(loop.body):
                if isinstance(node, cst.Call) and file.contexts.loop(node) is loop and self._builds(node, file):
                    yield self._report(file.call(node), loop, file)

    def _builds(self, node: cst.Call, file: File) -> bool:
        """Whether the call makes a model that this iteration trains and nobody keeps."""
        call = file.call(node)
        if not self._makes_model(call) or self._factory_clears(call, file):
            return False
        assign = file.tree.parent(node)
        if not isinstance(assign, cst.Assign) or len(assign.targets) != 1 or not isinstance(assign.targets[0].target, cst.Name):
            return False
        target = assign.targets[0].target
        flow = file.flow(file.scope_of(node))
        definition = next((d for d in flow.bindings.get(target.value, ()) if d.node is target), None)
        if definition is None:
            return False
        uses = file.uses_of(definition)
        return not any(self._keeps(use, file) for use in uses) and any(self._trains(use, file) for use in uses)

    def _makes_model(self, call: Call) -> bool:
        if not all(isinstance(v, Instance) and self._is_model(v, call) for v in call.value.options):
            return False
        if call.names:
            return all(name in BUILDERS or name.startswith("tf.keras.applications.") for name in call.names)
        return all(isinstance(t, (Function, Class)) for t in call.target.options)

    def _is_model(self, value: Instance, call: Call) -> bool:
        if value.class_node is not None:
            return call.evaluator.classes.derives(value.class_node, "tf.keras.Model")
        return value.type_name in ("tf.keras.Model", "tf.keras.Sequential")

    def _factory_clears(self, call: Call, file: File) -> bool:
        return any(self._clears(t.node.body, file) for t in call.target.options if isinstance(t, Function))

    def _clears(self, body: Node, file: File) -> bool:
        for node in walk(body):
            if isinstance(node, cst.Call):
                call = file.call(node)
                if call.name == CLEAR or call.method in ("clear_session", "reset_default_graph"):
                    return True
                if any(isinstance(t, Function) and self._called_clear(t, file) for t in call.target.options):
                    return True
        return False

    def _called_clear(self, function: Function, file: File) -> bool:
        return any(isinstance(n, cst.Call) and file.call(n).method == "clear_session" for n in walk(function.node.body))

    def _trains(self, use: cst.Name, file: File) -> bool:
        attribute = file.tree.parent(use)
        return isinstance(attribute, cst.Attribute) and attribute.value is use and attribute.attr.value in TRAINS

    def _keeps(self, use: cst.Name, file: File) -> bool:
        """Whether a use stores the model: in a container, an attribute, a result."""
        parent = file.tree.parent(use)
        if isinstance(parent, cst.Arg):
            call = file.tree.parent(parent)
            return isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value in KEEPS
        if isinstance(parent, cst.Assign):
            return not isinstance(parent.targets[0].target, cst.Name)
        return isinstance(parent, (cst.Element, cst.DictElement, cst.Yield, cst.Return))

    def _report(self, call: Call, loop: cst.For | cst.While, file: File) -> Finding:
        spelled = api_text(file, CLEAR)
        edit = insert_first(file, loop, f"{spelled}()") if spelled is not None else None
        fix = Fix("clear the session first in each iteration", (edit,), Safety.UNSAFE) if edit is not None else None
        return self.finding(
            call,
            file,
            "a model built in each iteration leaves the earlier ones in memory; clear_session() frees what was not "
            "trained, for trained models use one process a trial or reset one model's weights",
            fix=fix,
            related=[(loop, "the loop")],
        )
