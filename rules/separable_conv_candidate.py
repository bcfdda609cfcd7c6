from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import File, Finding, Rule, Severity, estimate, on, show_bytes

MOSTLY_WEIGHTS = 0.5
LEAST_SHARE = 0.2
COPIES = 2
"""Of the weights that training holds beside the optimizer's: they and their gradients."""


class SeparableConvCandidate(Rule):
    """
    ## What it does
    Gives the advice to make convolutions separable, where the configuration names a card (`gpu-memory = "16GiB"`), the
    weights of wide convolutions with their gradients and slots are at least half of a training step, and the step with
    `SeparableConv2D` takes a fifth less.

    ## Why it costs memory
    A convolution has a weight for each pair of channels and each pixel of its kernel, and training holds a gradient and
    the optimizer's slots for each. A separable one has a pixel for each channel and a weight for each pair.

    ## When not to use it
    Where activations dominate, as in most networks for images: a separable convolution keeps one more of them, so that
    a step takes more. These are not reported. The model is another one, and has to be trained anew.

    ## References
    - https://keras.io/api/layers/convolution_layers/separable_convolution2d/
    """

    code = "TFM609"
    summary = "separable convolutions would save most of the weights, which are most of the step"
    severity = Severity.INFO
    default = False
    no_fix = "it is another model"
    in_tests = False

    @on(estimate.budgeted_steps)
    def check(self, budgeted: estimate.Budgeted, file: File) -> Iterator[Finding]:
        step, found = budgeted.step, budgeted.estimate
        wide = budgeted.exchangeable()
        if not wide or not found.weights:
            return
        rows = zip(step.layers(), found.layers, strict=True)
        trained = sum(row.gradients for layer, row in rows if layer.layer in wide)
        if trained * (COPIES + found.slots / found.weights) < MOSTLY_WEIGHTS * found.low:
            return
        low = budgeted.separable(wide)
        if found.low - low < LEAST_SHARE * found.low:
            return
        yield self.finding(
            budgeted.place,
            file,
            f"{len(wide)} convolutions hold most of the {show_bytes(found.low)} of a step in weights and what trains "
            f"them; as SeparableConv2D the step takes {show_bytes(low)}",
            bytes=found.low - low,
            related=[(node, "one of them") for node in estimate.made_at(file, step, wide)],
        )
