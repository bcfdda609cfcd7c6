"""What calls do: initialise the runtime, draw at random, hold optimizer slots, return bundled data."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

Half = tuple[tuple[str, tuple[int | None, ...]], ...]


@cache
def _facts() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((Path(__file__).parent / "facts.json").read_text("utf-8"))
    return {**loaded, "initialises": frozenset(loaded["initialises"]), "leaves": frozenset(loaded["leaves"])}


def initialises(name: str) -> bool | None:
    """Whether calling an API initialises TensorFlow's runtime; None where it was not probed."""
    facts = _facts()
    return True if name in facts["initialises"] else False if name in facts["leaves"] else None


def is_random(name: str) -> bool:
    """Whether an op or layer gives other values each time it is called with the same arguments."""
    if name.startswith(("tf.random.", "tf.image.", "tf.keras.random.")):
        last = name.rpartition(".")[2]
        drawn = not name.startswith("tf.image.") or last.startswith(("random_", "sample_distorted"))
        return drawn and "stateless" not in last and last not in ("set_seed", "set_global_generator", "get_global_generator")
    return name in _facts()["random"]


def optimizer_slots(name: str) -> int | None:
    """How many arrays of a parameter's size an optimizer class keeps for each parameter."""
    found: int | None = _facts()["slots"].get(name)
    return found


def bundled_dataset(name: str) -> tuple[Half, Half] | None:
    """Dtypes and shapes of the training and test half of a data set that Keras bundles, or None."""
    halves = _facts()["bundled"].get(name)
    if halves is None:
        return None
    first, second = (tuple((dtype, tuple(shape)) for dtype, shape in half) for half in halves)
    return first, second


def returns_class(name: str) -> str | None:
    """The class of what a function returns, where it is always the same: `keras.applications` make models."""
    if name.startswith("tf.keras.applications.") and name.count(".") == 3 and name.rpartition(".")[2][:1].isupper():
        return "tf.keras.Model"
    returned: str | None = _facts()["returns"].get(name)
    return returned
