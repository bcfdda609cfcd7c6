"""How many bytes a training step takes, where the configuration names the card's memory."""

from tfmemlint.estimate.reported import Budgeted, budgeted_steps, layers_at_peak, made_at

__all__ = ["Budgeted", "budgeted_steps", "layers_at_peak", "made_at"]
