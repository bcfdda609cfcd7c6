from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import File, Finding, Rule, Severity, estimate, on, show_bytes

LEAST_BATCH = 8
SMALLEST_PART = 4
MOST_STEPS = 32
NORMALIZES = "BatchNormalization"


class AccumulationCandidate(Rule):
    """
    ## What it does
    Gives the advice to accumulate gradients over several small batches, where a training step may not fit the card of
    the configuration (`gpu-memory = "16GiB"`), and one of at least 8 examples or a quarter of the batch does.

    ## Why it costs memory
    What the backward pass waits for grows with the batch. With `gradient_accumulation_steps=k` an optimizer of Keras 3
    adds up the gradients of k batches before it changes the weights: the batch is k times smaller, and one copy of the
    weights more is kept.

    ## When not to use it
    Where statistics come from the batch, as `BatchNormalization`'s do, they come from the small one then, which the
    message says. Steps that certainly fit are not reported.

    ## References
    - https://keras.io/api/optimizers/
    """

    code = "TFM610"
    summary = "gradients of small batches would fit the card where the large batch may not"
    severity = Severity.INFO
    default = False
    no_fix = "batch size and accumulation change how a model trains"
    in_tests = False

    @on(estimate.budgeted_steps)
    def check(self, budgeted: estimate.Budgeted, file: File) -> Iterator[Finding]:
        step, found, usable = budgeted.step, budgeted.estimate, budgeted.usable
        if step.batch is None or found.high <= usable:
            return
        for times in (2 ** power for power in range(1, MOST_STEPS.bit_length())):
            small = step.batch // times
            if not small or (small < LEAST_BATCH and small * SMALLEST_PART < step.batch):
                return
            low = budgeted.accumulated(times)
            if low is not None and low <= usable:
                normalizes = any(layer.kind == NORMALIZES for layer in step.layers())
                yield self.finding(
                    budgeted.place,
                    file,
                    f"a step at batch {step.batch:,} takes {show_bytes(found.low)} to {show_bytes(found.high)}, and of "
                    f"the card {show_bytes(usable)} can be used; batches of {small:,} and "
                    f"gradient_accumulation_steps={times} take {show_bytes(low)}"
                    + ("; BatchNormalization then takes its statistics from these" if normalizes else ""),
                    bytes=found.low - low,
                )
                return
