from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import File, Finding, Rule, Severity, estimate, on, show_bytes

NEARLY_FULL = 0.8
MOSTLY_KEPT = 0.6
FEWEST_LAYERS = 8
LEAST_SHARE, LEAST_BYTES = 0.25, 512 << 20


class CheckpointingCandidate(Rule):
    """
    ## What it does
    Gives the advice to compute parts of a model again in the backward pass (`keras.remat`, `tf.recompute_grad`), where
    a training step nearly fills the card of the configuration (`gpu-memory = "16GiB"`), most of it are activations
    that wait for the backward pass, and blocks of the layers would save a quarter of the step and 512 MiB.

    ## Why it costs memory
    The backward pass needs the activations of all layers. A block that is computed again keeps its inputs alone; about
    as many blocks as the root of the number of layers keep least.

    ## When not to use it
    Where time is dearer than memory: each block runs forward twice. Models that already do so are not reported.

    ## References
    - https://keras.io/api/utils/experiment_management_utils/
    - https://www.tensorflow.org/api_docs/python/tf/recompute_grad
    """

    code = "TFM611"
    summary = "computing blocks of layers again would save much of what the backward pass waits for"
    severity = Severity.INFO
    default = False
    no_fix = "which layers make a block is for the author to say"
    in_tests = False

    @on(estimate.budgeted_steps)
    def check(self, budgeted: estimate.Budgeted, file: File) -> Iterator[Finding]:
        found, usable = budgeted.estimate, budgeted.usable
        kept = sum(layer.kept for layer in found.layers)
        if found.high <= NEARLY_FULL * usable or kept < MOSTLY_KEPT * found.step or len(found.layers) < FEWEST_LAYERS:
            return
        low, count = budgeted.in_blocks() or (found.low, 0)
        if found.low - low < max(LEAST_SHARE * found.low, LEAST_BYTES):
            return
        yield self.finding(
            budgeted.place,
            file,
            f"of the {show_bytes(found.low)} of a step {show_bytes(kept)} wait for the backward pass; {count} blocks "
            f"of layers that are computed again there would take {show_bytes(low)}",
            bytes=found.low - low,
            related=[
                (node, f"what is made here holds {show_bytes(held)} at the peak")
                for node, held in estimate.layers_at_peak(file, found)
            ],
        )
