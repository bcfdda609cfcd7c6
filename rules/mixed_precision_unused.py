from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Edit,
    File,
    Finding,
    Fix,
    Instance,
    Rule,
    Safety,
    Severity,
    estimate,
    fixes,
    keras,
    on_call,
    once_per_file,
    show_bytes,
    tensors,
)

LOSS_SCALE = "tf.keras.mixed_precision.LossScaleOptimizer"
MANY_PARAMETERS = 1_000_000
LARGE_ACTIVATIONS = 1 << 20
"""Bytes of one example's activations."""
SMALLEST_PART = 8
"""A step that becomes smaller by less than this part of it is one of weights, which stay float32."""


class MixedPrecisionUnused(Rule):
    """
    ## What it does
    Gives the advice to train a model in mixed precision, where its size is known to be worth it and the module sets
    no dtype policy.

    ## Why it costs memory
    Under `mixed_float16` or `mixed_bfloat16` activations take 2 bytes for each number instead of 4. Weights stay
    float32: a model that is small beside its weights gains little.

    ## Fix safety
    Shown only: numbers have 3 digits, and the output layer should stay float32.

    ## When not to use it
    On CPUs, on GPUs without tensor cores, and where the digits are needed. Models of less than a million parameters
    (1 000 000) with less than 1 MiB of activations for an example are not reported, nor steps of training of which
    `tfmemlint estimate` knows that they would become smaller by less than an eighth.

    ## References
    - https://www.tensorflow.org/guide/mixed_precision
    """

    code = "TFM207"
    summary = "mixed precision would halve the memory of activations"
    severity = Severity.INFO
    default = False
    worth_in_bytes = False  # they are those of one example
    fix_safety = (Safety.DISPLAY,)
    in_tests = False

    @on_call("tf.keras.Model.compile")
    def check(self, compiled: Call, file: File) -> Iterator[Finding]:
        model = compiled.receiver
        if not isinstance(model, Instance) or model.call is None or not keras.is_model(file, model):
            return
        trains = _trains(file).get(model.call.node)
        if not trains or tensors.float64_by_design(file):
            return
        if keras.policy_set_in_program(file) or any(file.calls_within_reach(LOSS_SCALE)):
            return
        if any(layer.arg("dtype") is not None for layer in keras.layers_of(model.call)):
            return
        count, activations = keras.parameter_count(model.call) or 0, keras.activation_bytes(model.call) or 0
        if count < MANY_PARAMETERS and activations < LARGE_ACTIVATIONS:
            return
        saved = estimate.saved_in_mixed_precision(file, trains)
        if saved is not None and saved.bytes < saved.before // SMALLEST_PART:
            return
        large = activations if activations >= LARGE_ACTIVATIONS else None
        if saved is not None:
            says = (
                f"a step of training at batch {saved.batch:,} takes {show_bytes(saved.before)} in float32 and "
                f"{show_bytes(saved.after)} under a mixed precision policy, where activations take half"
            )
        else:
            size = f"{show_bytes(large)} of activations for each example" if large else f"{count:,} parameters"
            says = f"this model has {size} in float32; under a mixed precision policy activations take half"
        yield self.finding(
            compiled,
            file,
            says,
            fix=Fix.shown("set a mixed precision policy", _set_policy(file)),
            bytes=saved.bytes if saved is not None else large,
        )


@once_per_file
def _trains(file: File) -> dict[cst.Call, list[Call]]:
    """The calls that make the models which are trained, with those that train them."""
    found: dict[cst.Call, list[Call]] = {}
    for fit in file.calls("tf.keras.Model.fit", "tf.keras.Model.train_on_batch"):
        for option in fit.receiver.options:
            if isinstance(option, Instance) and option.call is not None:
                found.setdefault(option.call.node, []).append(fit)
    return found


def _set_policy(file: File) -> Edit | None:
    """Set it below the imports."""
    spelled = fixes.api_text(file, "tf.keras.mixed_precision.set_global_policy")
    lines = [line for line in file.module.body if isinstance(line, cst.SimpleStatementLine)]
    imports = [line for line in lines if isinstance(line.body[0], (cst.Import, cst.ImportFrom))]
    return fixes.insert_after(file, imports[-1], f'{spelled}("mixed_float16")') if spelled and imports else None
