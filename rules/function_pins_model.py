from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Finding, Function, Instance, Rule, on_file

KINDS = ("tf.keras.Model", "tf.keras.Sequential", "tf.keras.optimizers.Optimizer")


class FunctionPinsModel(Rule):
    """
    ## What it does
    Reports traced functions of a module that are given a model or an optimizer which a loop makes anew each time.

    ## Why it costs memory
    The function's cache has one graph for each object it was called with, and each graph holds its object: all models
    of the loop stay alive, with weights and optimizer slots.

    ## Example
    ```python
    @tf.function
    def train_step(model, x):
        return model(x)

    for width in widths:
        model = build(width)
        train_step(model, x)
    ```
    Make the traced function together with the model:
    ```python
    def make_step(model):
        @tf.function
        def step(x):
            return model(x)
        return step
    ```

    ## Fix safety
    No fix: the function must become a closure.

    ## When not to use it
    For one model in the whole program, which is not reported.

    ## References
    - https://www.tensorflow.org/guide/function
    """

    code = "TFM508"
    summary = "a traced function keeps every model that it was called with"

    @on_file("function")
    def check(self, file: File) -> Iterator[Finding]:
        for node in file.tree.of(cst.Call):
            if not node.args or file.contexts.loop(node) is None:
                continue
            call = file.call(node)
            targets = call.target.options
            if not all(isinstance(t, Function) and t.traced and t.receiver is None for t in targets):
                continue
            function = targets[0]
            if not isinstance(function, Function) or any(
                file.tree.contains(loop, function.node) for loop in file.contexts.loops(node)
            ):
                continue  # made anew by the loop, and freed with what it was called with
            for arg in node.args:
                if isinstance(arg.value, cst.Name) and self._made_in_loop(arg.value, file):
                    yield self._report(call, arg.value, file)
                    break

    def _made_in_loop(self, name: cst.Name, file: File) -> bool:
        """Whether the name is a model or optimizer that a loop around the call makes again each time."""
        loops = list(file.contexts.loops(name))
        definitions = file.flow(file.scope_of(name)).uses.get(id(name), ())
        inside = [d for d in definitions if any(file.tree.contains(loop, d.node) for loop in loops)]
        if not inside or len(inside) != len(definitions):
            return False
        return all(self._is_kind(option, file) for option in file.value(name).options)

    def _is_kind(self, value: object, file: File) -> bool:
        if not isinstance(value, Instance):
            return False
        if value.class_node is not None:
            return file.values.classes.derives(value.class_node, "tf.keras.Model")
        name = value.type_name or ""
        return name in KINDS or name.startswith("tf.keras.optimizers.")

    def _report(self, call: Call, name: cst.Name, file: File) -> Finding:
        return self.finding(
            call,
            file,
            f"the traced function keeps a graph for each {name.value} it is called with, and with it every "
            f"{name.value} of this loop",
        )
