from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import File, Finding, Rule, Shows, calls, gradients, on, repetition


class TapeAroundLoop(Rule):
    """
    ## What it does
    Reports a gradient tape whose block contains the loop over batches, with one gradient taken after the loop.

    ## Why it costs memory
    Nothing that the tape recorded is released before `gradient()`: the activations of every batch stay in memory, so
    the memory grows with the number of batches.

    ## When not to use it
    For loops over the time steps or layers of one batch, which belong inside the tape; they are not reported.

    ## References
    - https://www.tensorflow.org/guide/autodiff
    """

    code = "TFM404"
    summary = "a tape around the loop over batches keeps the activations of all of them"
    no_fix = "whether to update for each batch or to add up gradients is yours to say"

    @on(gradients.tapes)
    def check(self, tape: gradients.Tape, file: File) -> Iterator[Finding]:
        if not tape.gradients:
            return
        for loop in repetition.batch_loops(file, tape.block.body):
            inside = any(file.tree.contains(loop, each.node) for each in tape.gradients)
            if not inside and not any(calls(file, loop, gradients.TAPE)):
                yield self.finding(
                    tape.block,
                    file,
                    "this tape records every batch of the loop inside it: the activations of all of them stay in "
                    "memory until gradient(); make the tape inside the loop",
                    related=[(loop, "the loop over batches")],
                    shows=Shows(metric="live_slope"),
                )
                return
