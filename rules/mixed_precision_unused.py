from __future__ import annotations

import math
from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._dtypes import POLICIES, float64_by_design

from tfmemlint.api import (
    Call,
    File,
    Finding,
    Fix,
    Instance,
    Rule,
    Safety,
    Severity,
    api_text,
    insert_after,
    is_model,
    on_call,
    once_per_file,
    show_bytes,
)
from tfmemlint.model.layers import networks

SET_POLICY = "tf.keras.mixed_precision.set_global_policy"
MANY_PARAMETERS = 1_000_000
LARGE_ACTIVATIONS = 1 << 20
"""Bytes of one example's activations."""

COMPUTES = ("Conv", "Dense", "Attention", "MultiHead", "SeparableConv", "DepthwiseConv", "LSTM", "GRU")


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
    On CPUs, on GPUs without tensor cores, and where the digits are needed.

    ## References
    - https://www.tensorflow.org/guide/mixed_precision
    """

    code = "TFM207"
    summary = "mixed precision would halve the memory of activations"
    severity = Severity.INFO
    default = False
    fix_safety = (Safety.DISPLAY,)
    in_tests = False

    @on_call("tf.keras.Model.compile")
    def check(self, compiled: Call, file: File) -> Iterator[Finding]:
        model = compiled.receiver
        if not is_model(file, model) or not isinstance(model, Instance) or model.call is None:
            return
        if any(file.calls(*POLICIES, "tf.keras.mixed_precision.LossScaleOptimizer")) or float64_by_design(file):
            return
        if any(layer.arg("dtype") is not None for layer in _layers(model.call)):
            return
        if id(model.call.node) not in _trained(file):
            return
        count, activations = networks.parameters(model.call), _activations(model.call)
        if (count or 0) < MANY_PARAMETERS and (activations or 0) < LARGE_ACTIVATIONS:
            return
        large = activations if activations is not None and activations >= LARGE_ACTIVATIONS else None
        size = f"{show_bytes(large)} of activations for each example" if large else f"{count:,} parameters"
        yield self.finding(
            compiled,
            file,
            f"this model has {size} in float32; under a mixed precision policy activations take half",
            fix=self._policy(file),
            bytes=large,
        )

    def _policy(self, file: File) -> Fix | None:
        spelled = api_text(file, SET_POLICY)
        imports = [s for s in file.module.body if isinstance(s, cst.SimpleStatementLine) and _imports(s)]
        if spelled is None or not imports:
            return None
        edit = insert_after(file, imports[-1], f'{spelled}("mixed_float16")')
        return Fix("set a mixed precision policy", (edit,), Safety.DISPLAY)


@once_per_file
def _trained(file: File) -> set[int]:
    """The calls (by the ids of their nodes) that make the models which are trained."""
    fits = file.calls("tf.keras.Model.fit", "tf.keras.Model.train_on_batch")
    made = (option.call for fit in fits for option in fit.receiver.options if isinstance(option, Instance))
    return {id(call.node) for call in made if call is not None}


def _imports(statement: cst.SimpleStatementLine) -> bool:
    return isinstance(statement.body[0], (cst.Import, cst.ImportFrom))


def _layers(model: Call) -> list[Call]:
    found = [step.layer for step in networks.layers(model)]
    return [layer.call for layer in found if isinstance(layer, Instance) and layer.call is not None]


def _activations(model: Call) -> int | None:
    """Bytes of what the layers of a model give out for one example, as far as their shapes are known."""
    total = 0
    computes = False
    for step in networks.layers(model):
        kind = (getattr(step.layer, "type_name", None) or "").rpartition(".")[2]
        computes = computes or kind.startswith(COMPUTES)
        sizes = [n for n in step.effect.shape[1:] if n is not None] if step.effect is not None else []
        if step.effect is not None and len(sizes) == len(step.effect.shape) - 1 and step.effect.parameters:
            total += 4 * math.prod(sizes)
    return total if computes else None
