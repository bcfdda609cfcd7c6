from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._dtypes import policy_name

from tfmemlint.api import (
    Api,
    Array,
    Call,
    Const,
    File,
    Finding,
    Instance,
    Rule,
    Severity,
    Value,
    classes_deriving,
    constant,
    elements,
    on,
    on_call,
)
from tfmemlint.model.layers import networks

SET_POLICY = (
    "tf.keras.mixed_precision.set_global_policy", "tf.keras.config.set_dtype_policy",
    "tf.keras.mixed_precision.set_dtype_policy",
)  # fmt: skip
SCALES = frozenset({"LossScaleOptimizer", "get_scaled_loss", "get_unscaled_gradients", "scale_loss"})
SQUASHES = frozenset({"softmax", "sigmoid", "log_softmax"})


class MixedPrecisionMisused(Rule):
    """
    ## What it does
    Reports, under the policy `mixed_float16`, a softmax or sigmoid output layer that is left in float16, and a custom
    training loop that does not scale its loss.

    ## Why it costs memory
    float16 holds no number below 6e-8 and rounds to 3 digits: probabilities and small gradients become 0, training
    stalls, and the usual remedy is to go back to float32 and to twice the memory of activations.

    ## When not to use it
    Under `mixed_bfloat16`, which has the range of float32 and is not reported.

    ## References
    - https://www.tensorflow.org/guide/mixed_precision
    """

    code = "TFM210"
    summary = "outputs in float16 and unscaled losses lose what mixed precision should keep"
    no_fix = "the numbers change, and a loop needs its loss scaled in two places"
    severity = Severity.INFO
    default = False

    @on_call("tf.keras.Sequential", "tf.keras.Model")
    def check_output(self, model: Call, file: File) -> Iterator[Finding]:
        yield from self._reported(_outputs(model), file)

    @on(classes_deriving("tf.keras.Model"), *SET_POLICY)
    def check_classes(self, model: cst.ClassDef, file: File) -> Iterator[Finding]:
        forward = file.values.classes.method(model, "call")
        if forward is not None:
            given = [file.value(leaving.value) for leaving in file.returns(forward) if leaving.value is not None]
            made = [v.origin.target for v in given if isinstance(v, Array) and v.origin is not None]
            yield from self._reported(_calls(made), file)

    def _reported(self, layers: list[Call], file: File) -> Iterator[Finding]:
        for layer in layers:
            if layer.lacks("dtype") and _squashes(layer) and self._mixed(layer, file):
                yield self.finding(
                    layer,
                    file,
                    "under mixed_float16 this output is float16 and rounds probabilities to 3 digits; give it "
                    'dtype="float32"',
                )

    @on_call("tf.keras.optimizers.Optimizer.apply_gradients")
    def check_loop(self, step: Call, file: File) -> Iterator[Finding]:
        if any(file.calls_by_word.get(word) for word in SCALES) or not self._mixed(step, file):
            return
        if any(file.calls("tf.GradientTape")):
            yield self.finding(
                step,
                file,
                "under mixed_float16 small gradients become 0 in this loop; scale the loss with a LossScaleOptimizer",
            )

    def _mixed(self, call: Call, file: File) -> bool:
        """Whether the policy is certainly `mixed_float16` when this runs."""
        set_before = file.effects.order("mixed policy", _classify).before(call.node, "mixed")
        return set_before is not None and set_before.certain


def _classify(node: object) -> str | None:
    if not isinstance(node, Call) or node.name not in SET_POLICY:
        return None
    return "mixed" if policy_name(node) == "mixed_float16" else None


def _outputs(model: Call) -> list[Call]:
    """The layers that give a model's outputs."""
    found: list[Value] = []
    if model.name == networks.SEQUENTIAL:
        steps = list(networks.placed(model))
        found = [steps[-1].layer] if steps else []
    else:
        for leaf in elements(model.value_of("outputs")):
            if isinstance(leaf, Array) and leaf.library != "np" and leaf.origin is not None:
                found.append(leaf.origin.target)
    return _calls(found)


def _calls(layers: list[Value]) -> list[Call]:
    """The calls that make layers."""
    return [layer.call for layer in layers if isinstance(layer, Instance) and layer.call is not None]


def _squashes(layer: Call) -> bool:
    if layer.name == "tf.keras.layers.Softmax":
        return True
    if layer.name not in ("tf.keras.layers.Dense", "tf.keras.layers.Activation", "tf.keras.layers.Conv2D"):
        return False
    activation = layer.value_of("activation")
    if isinstance(activation, Const):
        return constant(activation) in SQUASHES
    return isinstance(activation, Api) and activation.name.rpartition(".")[2] in SQUASHES
