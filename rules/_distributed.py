"""What a program with a distribution strategy trains, and which models are made outside of its scope."""

from __future__ import annotations

import libcst as cst
from tfmemlint_rules._strategies import ENTERS, MAKES

from tfmemlint.api import Call, File, Function, Instance, is_model, own_nodes


def replicated(node: cst.Call, file: File, depth: int = 2) -> bool:
    """Whether a strategy's `run` is given the function that a call stands in, or one that calls it."""
    function = file.contexts.function(node)
    if function is None:
        return False
    functions = file.values.functions
    takers = (functions.given_to(use) for use in functions.uses(function))
    if any(taker is not None and taker.method == "run" for taker in takers):
        return True
    callers = functions.callers(function) if depth else ()
    return any(replicated(call.node, file, depth - 1) for call in callers or ())


def trains(made: Call, given: Call, file: File) -> bool:
    """Whether the program of this strategy trains: its function, or the file where it is the only strategy."""
    trained = [*file.calls("tf.keras.Model.fit"), *file.calls("tf.GradientTape")]
    if all(other.node is made.node for other in file.calls(*MAKES)):
        return bool(trained)
    home = file.contexts.function(given.node)
    return any(file.contexts.function(call.node) is home for call in trained)


def built_outside(fit: Call, made: Call, file: File) -> Call | None:
    """The call beside the strategy's that makes the model which is trained, in no `with` at all."""
    receiver = fit.receiver_node
    if not isinstance(receiver, cst.Name):
        return None
    definitions = file.definitions(receiver)
    if len(definitions) != 1 or not isinstance(definitions[0].value, cst.Call) or definitions[0].path:
        return None
    call = file.call(definitions[0].value)
    here = file.contexts.function(call.node) is file.contexts.function(made.node)
    if not here or any(True for _ in file.contexts.withs(call.node)) or not _makes_model(call, file):
        return None
    return call


def _makes_model(call: Call, file: File) -> bool:
    """Whether the call makes a model, and no scope is entered in the function of the module that it calls."""
    values = call.value.options
    if not all(isinstance(value, Instance) and is_model(file, value) for value in values):
        return False
    called = [target.node for target in call.target.options if isinstance(target, Function)]
    read = [n for body in called for n in own_nodes(body, cst.Attribute)]
    return not any(isinstance(n, cst.Attribute) and n.attr.value in ENTERS for n in read)
