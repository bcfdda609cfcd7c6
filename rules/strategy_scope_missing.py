from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Finding, Node, Rule, Severity, on_call

MAKES = (
    "tf.distribute.MirroredStrategy", "tf.distribute.MultiWorkerMirroredStrategy", "tf.distribute.TPUStrategy",
    "tf.distribute.experimental.MultiWorkerMirroredStrategy", "tf.distribute.experimental.CentralStorageStrategy",
    "tf.distribute.experimental.TPUStrategy", "tf.distribute.experimental.ParameterServerStrategy",
)  # fmt: skip
ENTERS = frozenset({"scope", "run", "experimental_run_v2", "__enter__"})
BUILDS = frozenset({"tf.keras.Sequential", "tf.keras.Model"})


class StrategyScopeMissing(Rule):
    """
    ## What it does
    Reports distribution strategies that are made and never entered, and models that are built outside the scope of
    the program's strategy and then trained.

    ## Why it costs memory
    Without the scope nothing is distributed: model, gradients and activations of the whole batch are on one device,
    while the strategy has taken the memory of all of them.

    ## Example
    ```python
    strategy = tf.distribute.MirroredStrategy()
    model = build_model()
    model.fit(dataset)
    ```
    Build the model in its scope:
    ```python
    strategy = tf.distribute.MirroredStrategy()
    with strategy.scope():
        model = build_model()
    model.fit(dataset)
    ```

    ## Fix safety
    No fix is applied: the optimizer and metrics must be made in the scope too.

    ## When not to use it
    When the strategy is handed to other modules; then it is not reported.

    ## References
    - https://www.tensorflow.org/guide/distributed_training
    """

    code = "TFM903"
    summary = "a strategy whose scope is not entered trains on one device"
    severity = Severity.ERROR

    @on_call(*MAKES)
    def check(self, made: Call, file: File) -> Iterator[Finding]:
        assign = file.tree.parent(made.node)
        if (
            not isinstance(assign, cst.Assign)
            or len(assign.targets) != 1
            or not isinstance(assign.targets[0].target, cst.Name)
        ):
            return
        uses = self._uses(assign.targets[0].target, file)
        if uses is None or any(self._other_use(use, file) for use in uses):
            return
        entered = [use for use in uses if self._enters(use, file)]
        fits = list(file.calls("tf.keras.Model.fit"))
        if not entered:
            if fits or any(file.calls("tf.GradientTape")):
                yield self.finding(
                    made,
                    file,
                    "this strategy is never entered: the model is built and trained on one device; use its scope()",
                )
            return
        for fit in (f for f in fits if file.contexts.function(f.node) is file.contexts.function(made.node)):
            built = self._built_outside(made, fit, file)
            if built is not None:
                yield self.finding(
                    built,
                    file,
                    "this model is built outside the strategy's scope: it is trained on one device",
                    related=[(made, "the strategy")],
                )

    def _uses(self, target: cst.Name, file: File) -> list[cst.Name] | None:
        """All reads of the strategy's name, from functions too; None where the name is bound again."""
        bindings = file.flow(file.scope_of(target)).bindings.get(target.value, ())
        if len(bindings) != 1:
            return None
        return [
            use
            for use in file.loads(target.value)
            if use is not target and not isinstance(file.tree.parent(use), cst.AssignTarget)
        ]

    def _enters(self, use: cst.Name, file: File) -> bool:
        parent = file.tree.parent(use)
        return isinstance(parent, cst.Attribute) and parent.value is use and parent.attr.value in ENTERS

    def _other_use(self, use: cst.Name, file: File) -> bool:
        """Whether the strategy goes where it may be entered unseen."""
        parent = file.tree.parent(use)
        if isinstance(parent, cst.Attribute) and parent.attr is use:
            return False
        return not (isinstance(parent, cst.Attribute) and parent.value is use)

    def _built_outside(self, made: Call, fit: Call, file: File) -> Node | Call | None:
        receiver = fit.receiver_node
        if not isinstance(receiver, cst.Name):
            return None
        definitions = file.flow(file.scope_of(receiver)).uses.get(id(receiver), ())
        if len(definitions) != 1 or not isinstance(definitions[0].value, cst.Call) or definitions[0].path:
            return None
        call = file.call(definitions[0].value)
        if (
            call.name not in BUILDS
            or any(True for _ in file.contexts.withs(call.node))
            or file.contexts.function(call.node) is not file.contexts.function(made.node)
        ):
            return None
        return call
