from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Binds, File, Finding, Node, Rule, Shows, dotted, keras, on, repetition, tracing, written


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

    @on(tracing.traced_calls)
    def check(self, traced: tracing.TracedCall, file: File) -> Iterator[Finding]:
        if traced.function.receiver is not None:
            return  # its cache is freed with the object
        arguments = (arg.value for arg in traced.call.node.args)
        given = next((each for each in arguments if _made_again(each, traced.function.node, file)), None)
        if given is not None:
            name = (dotted(given) or "model").removeprefix("self.")
            yield self.finding(
                traced.call,
                file,
                f"the traced function keeps a graph for each {name} it is called with, and with it every {name} of "
                "this loop",
                shows=Shows(metric="live_slope", survives=True),
            )


def _made_again(given: cst.BaseExpression, traced: Node, file: File) -> bool:
    """Whether the argument is a model or optimizer that a loop makes again each time: one around the call, or one
    around the calls of its function. A loop or function that makes the traced function, too, frees both."""
    if not all(keras.is_model(file, option) or keras.is_optimizer(option) for option in file.value(given).options):
        return False
    found = file.definitions(given)
    if any(d.binds is not Binds.VALUE or d.path for d in found) or not (found or isinstance(given, cst.Call)):
        return False
    made: list[Node] = [d.node for d in written(found)] or [given]
    inside = file.contexts.function(given)
    for loop in repetition.repetitions(file, given):
        around = inside if loop.calls else loop.place
        if around is not None and file.tree.contains(around, traced):
            return False
        if all(file.tree.contains(around or loop.place, node) for node in made):
            return True
    return False
