from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import AtLeast, File, Finding, Rule, estimate, on, show_bytes

SUGGESTED = 2


class EstimatedOverBudget(Rule):
    """
    ## What it does
    Estimates the memory of each training step, without running it, and reports those that take more than the card of
    the configuration has: `gpu-memory = "16GiB"`. Nothing is reported without that key.

    ## Why it costs memory
    A step needs the weights, the optimizer's slots, a batch, and at its peak the activations that the backward pass
    waits for, with gradients and what the optimizer computes meanwhile. What TensorFlow and the driver keep of a card
    for themselves is taken off first: about 2 GiB. `tfmemlint estimate` shows all of it, layer by layer.

    ## When not to use it
    The estimate is the bytes that the ops ask for in the order of the program, a lower bound. On a GPU, XLA may fuse
    ops and take less.

    ## References
    - https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
    """

    code = "TFM605"
    summary = "a training step takes more memory than the card has"
    no_fix = "a smaller batch, other numbers or less at once are the author's choice"
    in_tests = False

    @on(estimate.budgeted_steps)
    def check(self, budgeted: estimate.Budgeted, file: File) -> Iterator[Finding]:
        step, found, usable = budgeted.step, budgeted.estimate, budgeted.usable
        if found.low <= usable:
            return
        at = f"batch {step.batch:,}" if step.batch is not None else "a batch of one example"
        fits = budgeted.largest_batch()
        most = "not even one example fits" if not fits else f"the largest batch that fits is about {fits:,}"
        others = [each for each in budgeted.what_if() if not each.change.startswith("batch ")][:SUGGESTED]
        saves = "; ".join(f"{each.change} would save {show_bytes(each.saves)}" for each in others)
        size = AtLeast(found.low)
        yield self.finding(
            budgeted.place,
            file,
            f"a step at {at} takes {show_bytes(size)}, and of the card {show_bytes(usable)} can be used; {most}"
            + (f"; {saves}" if saves else ""),
            bytes=size,
            related=[
                (node, f"what is made here holds {show_bytes(held)} at the peak")
                for node, held in estimate.layers_at_peak(file, found)
            ],
        )
