from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Api,
    Call,
    Does,
    File,
    Finding,
    Rule,
    Shows,
    keras,
    on,
    ordering,
    own_nodes,
    parameters,
    repetition,
    tracing,
    uses,
    variables,
)

SINGLETON = "ValueError: tf.function only supports singleton tf.Variables"
THEN = {
    repetition.Runs.TRACED: "under tf.function the second call raises ValueError",
    repetition.Runs.CALL: "each call makes new ones that are never trained",
    repetition.Runs.STEP: "each step starts with new ones",
}


class StateMadePerCall(Rule):
    """
    ## What it does
    Reports variables, layers with weights, models, optimizers and metrics that are created in a traced function, in
    `call()` of a layer or model, or in a training step.

    ## Why it costs memory
    Every call makes new weights, which are random and never trained, and keeps the old ones as long as a graph or an
    optimizer refers to them. Under `tf.function` the second call raises `ValueError`: it only supports variables that
    are created once.

    ## When not to use it
    Never. Creation that may happen once (`if self.dense is None`) is not reported. A condition on the inputs or on a
    setting holds in each call: it guards nothing. Nor is a model between tensors of another, with whose layers it
    shares its weights, nor a `call()` that the class calls itself to give a functional model its outputs, which owns
    the layers then, nor anything in programs of TensorFlow 1, which call once, while they build the graph.

    ## References
    - https://www.tensorflow.org/guide/function#creating_tfvariables
    """

    code = "TFM503"
    summary = "variables, layers or optimizers created on every call"
    no_fix = "the object must move to `__init__` or `build`"

    @on(repetition.step_functions)
    def check(self, step: repetition.StepFunction, file: File) -> Iterator[Finding]:
        function = step.function
        if any(file.value(each.decorator) == Api("tf.recompute_grad") for each in function.decorators):
            return  # another rule speaks about that
        if step.runs is not repetition.Runs.STEP and tracing.in_graph_program(file, function):
            return  # called once, while the graph is built
        if step.runs is repetition.Runs.CALL and keras.makes_graph(file, function):
            return
        given = {param.name.value for param in parameters(function)}
        for call in map(file.call, own_nodes(function, cst.Call)):
            kind = tracing.creates_state(file, call)
            if kind is None or not tracing.outermost_state(file, call) or _made_once(file, call, function):
                continue
            value = call.arg("initial_value") if kind == "a variable" else None
            if step.runs is repetition.Runs.STEP and value is not None and given & variables(file, value.expression):
                continue  # made of the step's own input, to be changed by the step: an adversarial image
            yield self.finding(
                call,
                file,
                f"{call.method} creates {kind} on every call: {THEN[step.runs]}; create it once, outside",
                shows=Shows(SINGLETON if step.runs is repetition.Runs.TRACED else "", "made_per_call"),
            )


def _made_once(file: File, call: Call, function: cst.FunctionDef) -> bool:
    """Whether a condition may let the object be made the first time only, as any does where it is kept."""
    if ordering.guarded(file, call.node, function):
        return True
    kept = any(use.does is Does.STORE for use in uses(file, call.node))
    return kept and any(ordering.conditions(file, call.node, function))
