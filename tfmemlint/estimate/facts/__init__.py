"""The facts of each training step of a program, found by following the program as Python runs it, on abstract values.

`machine` follows statements, `values` are what it holds, `recorded` what was applied to what; `keras` says what layers
and models do, `training` makes steps of `fit` and of gradients. Nothing of the program runs. What it does not say is
named in `missing`, never guessed.
"""

from tfmemlint.estimate.facts.found import follow, steps
from tfmemlint.estimate.facts.given import Given

__all__ = ["Given", "follow", "steps"]
