"""Programs that Keras 3 refuses, run with Keras 2: most code was written for that, and few lines of it tell."""

from __future__ import annotations

import re
from dataclasses import replace

from tfmemlint.verify.result import Pair
from tfmemlint.verify.run.runs import Failure, Run

OF_KERAS = re.compile(
    r"[/\\]keras[/\\]src[/\\]|KerasTensor|module '[.\w]*keras[.\w]*' has no attribute|'as_list'"
    r"|\bLayer\.(?:__init__|add_weight)\(\) (?:takes|got) |\w(?:Cell|RNN)\.get_initial_state\(\) got "
)
"""What errors say that come of Keras 3."""


def with_keras_2(pair: Pair, run: Run) -> Pair | None:
    """The programs as ones for Keras 2; None where the run did not fail in Keras 3, or was one of these."""
    program = pair.before
    if program.keras_2 or program.version_1 or run.error is None or not _is_of_keras(run.error):
        return None
    return of_keras_2(pair)


def of_keras_2(pair: Pair) -> Pair:
    """The programs as ones for Keras 2."""
    after = None if pair.after is None else replace(pair.after, keras_2=True)
    return replace(pair, before=replace(pair.before, keras_2=True), after=after)


def _is_of_keras(error: Failure) -> bool:
    return OF_KERAS.search(error.traceback) is not None or OF_KERAS.search(error.message) is not None
