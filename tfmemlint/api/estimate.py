"""How many bytes a training step takes, beside the memory of the configured card and after a change."""

from tfmemlint.estimate.reported import Budgeted, budgeted_steps, layers_at_peak, made_at
from tfmemlint.estimate.saved import Saved, saved_in_mixed_precision, saved_without_wrapper

__all__ = [
    "Budgeted",
    "Saved",
    "budgeted_steps",
    "layers_at_peak",
    "made_at",
    "saved_in_mixed_precision",
    "saved_without_wrapper",
]
