from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Finding, Rule, Severity, facts, gradients, keras, on, on_call

MIXED = "mixed_float16"
SCALES = frozenset({"LossScaleOptimizer", "get_scaled_loss", "get_unscaled_gradients", "scale_loss"})


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
    @on(facts.classes_deriving("tf.keras.Model"))
    def check_outputs(self, model: Call | cst.ClassDef, file: File) -> Iterator[Finding]:
        for layer in keras.output_layers(file, model):
            probabilities = keras.gives_probabilities(layer) and layer.lacks("dtype")
            if probabilities and keras.policy_set_before(file, layer.node, MIXED) is not None:
                yield self.finding(
                    layer,
                    file,
                    "under mixed_float16 this output is float16 and rounds probabilities to 3 digits; give it "
                    'dtype="float32"',
                )

    @on_call("tf.keras.optimizers.Optimizer.apply_gradients")
    def check_loop(self, step: Call, file: File) -> Iterator[Finding]:
        if any(file.calls_by_word.get(word) for word in SCALES) or not any(file.calls(gradients.TAPE)):
            return
        if keras.policy_set_before(file, step.node, MIXED) is not None:
            yield self.finding(
                step,
                file,
                "under mixed_float16 small gradients become 0 in this loop; scale the loss with a LossScaleOptimizer",
            )
