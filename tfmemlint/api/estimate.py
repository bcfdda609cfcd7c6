"""How many bytes a training step takes, where the configuration names the card's memory."""

from tfmemlint.estimate.advise import accumulating, in_blocks, what_if
from tfmemlint.estimate.answer import Estimate
from tfmemlint.estimate.budget import largest_batch
from tfmemlint.estimate.engine import lowest
from tfmemlint.estimate.reported import Budgeted, budgeted_steps, layers_at_peak, made_at
from tfmemlint.estimate.separable import exchangeable, with_separable

__all__ = [
    "Budgeted",
    "Estimate",
    "accumulating",
    "budgeted_steps",
    "exchangeable",
    "in_blocks",
    "largest_batch",
    "layers_at_peak",
    "lowest",
    "made_at",
    "what_if",
    "with_separable",
]
