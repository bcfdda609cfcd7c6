"""Confirmations that rest on what was made up, and say nothing of the user's code."""

from __future__ import annotations

from collections.abc import Sequence

from tfmemlint.verify.claim import Claim
from tfmemlint.verify.metrics import CALLS, GIVEN
from tfmemlint.verify.run.runs import Run

MADE_WIDE = 'tfmemlint_array("float64"'
"""Code for arrays that are made up as what the finding says of the user's."""

SMALL_MODEL = "of one small layer"
"""What notes say of models that are made up."""


def rests_on_made_up(claim: Claim, source: str, before: Sequence[Run], saved: float | None) -> str:
    """Why a confirmation of this claim by the flagged program says nothing, empty where it does. Seconds that are
    `saved` are what a call sets up, whatever the model; what share of the time that is only the user's tells."""
    if claim.metric in GIVEN and MADE_WIDE in source:
        return "a float64 array was made up, which tells nothing of the user's"
    if claim.timed and any(SMALL_MODEL in note for run in before for note in run.notes):
        clocked = all(run.clocked is not None for run in before) and saved is not None
        sets_up = f"what it sets up takes {1000 * (saved or 0) / CALLS:.0f} ms each time; " if clocked else ""
        return f"{sets_up}the model was made up, and how long the user's takes is not known"
    return ""
