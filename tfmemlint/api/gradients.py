"""Gradient tapes and what is taken of their record."""

from tfmemlint.query.gradients.gradients import sparse_gradients
from tfmemlint.query.gradients.held import of_numbers, work_while_held
from tfmemlint.query.gradients.recorded import recorded
from tfmemlint.query.gradients.tapes import TAPE, Tape, takes_gradient, tape_of, tape_of_gradient, tapes

__all__ = [
    "TAPE",
    "Tape",
    "of_numbers",
    "recorded",
    "sparse_gradients",
    "takes_gradient",
    "tape_of",
    "tape_of_gradient",
    "tapes",
    "work_while_held",
]
