from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._traced_calls import traced_calls

from tfmemlint.api import Binds, Call, File, Finding, Instance, Node, Rule, dotted, on_file, written

KINDS = ("tf.keras.Model", "tf.keras.Sequential", "tf.keras.optimizers.Optimizer")


class FunctionPinsModel(Rule):
    """
    ## What it does
    Reports traced functions of a module that are given a model or an optimizer which a loop makes anew each time.

    ## Why it costs memory
    The function's cache has one graph for each object it was called with, and each graph holds its object: all models
    of the loop stay alive, with weights and optimizer slots.

    ## When not to use it
    For one model in the whole program, which is not reported.

    ## References
    - https://www.tensorflow.org/guide/function
    """

    code = "TFM508"
    summary = "a traced function keeps every model that it was called with"
    no_fix = "the function must become a closure"

    @on_file("function")
    def check(self, file: File) -> Iterator[Finding]:
        for call, function in traced_calls(file):
            loops = file.contexts.loops(call.node)
            if function.receiver is not None or any(file.tree.contains(loop, function.node) for loop in loops):
                continue  # made anew by the loop, and freed with what it was called with
            for arg in call.node.args:
                if self._made_again(arg.value, function.node, file):
                    name = dotted(arg.value)
                    yield self._report(call, name.removeprefix("self.") if name is not None else "model", file)
                    break

    def _made_again(self, given: cst.BaseExpression, traced: Node, file: File) -> bool:
        """Whether the argument is a model or optimizer that a loop makes again each time: one around the call, or one
        that calls the function around both, which does not make the traced function."""
        if not isinstance(given, (cst.Name, cst.Attribute, cst.Call)):
            return False
        if not all(self._is_kind(option, file) for option in file.value(given).options):
            return False
        loops = list(file.contexts.loops(given))
        if isinstance(given, cst.Call):
            inside = bool(loops) or file.contexts.comprehension(given) is not None
            return inside or self._called_again(given, traced, file)
        found = file.definitions(given)
        if not found or any(d.binds is not Binds.VALUE or d.path for d in found):
            return False
        looped = [any(file.tree.contains(loop, d.node) for loop in loops) for d in written(found)]
        return all(looped) or (not any(looped) and self._called_again(given, traced, file))

    def _called_again(self, node: Node, traced: Node, file: File) -> bool:
        function = file.contexts.function(node)
        if function is None or file.tree.contains(function, traced):
            return False
        return any(file.contexts.per_item(call.node) for call in file.values.functions.callers(function) or ())

    def _is_kind(self, value: object, file: File) -> bool:
        if not isinstance(value, Instance):
            return False
        if value.class_node is not None:
            return file.values.classes.derives(value.class_node, "tf.keras.Model")
        name = value.type_name or ""
        return name in KINDS or name.startswith("tf.keras.optimizers.")

    def _report(self, call: Call, name: str, file: File) -> Finding:
        return self.finding(
            call,
            file,
            f"the traced function keeps a graph for each {name} it is called with, and with it every "
            f"{name} of this loop",
        )
