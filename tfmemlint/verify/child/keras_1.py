"""Gives layers the arguments that Keras 1 had, for code that was written for it; loaded by `main.py`.

Only what means the same today is taken for something else, and each thing that takes effect is noted.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

Note = Callable[[str], None]

RENAMED = {
    "W_regularizer": "kernel_regularizer",
    "b_regularizer": "bias_regularizer",
    "bias": "use_bias",
    "border_mode": "padding",
    "init": "kernel_initializer",
    "nb_epoch": "epochs",
    "nb_filter": "filters",
    "output_dim": "units",
    "p": "rate",
    "subsample": "strides",
}
"""Arguments of Keras 1 by their names since; only where the function has the new one and not the old."""

ORDERS = {"tf": "channels_last", "th": "channels_first"}
WRITTEN = re.compile(r"\b(?:border_mode|nb_epoch|nb_filter|subsample|W_regularizer|dim_ordering)\s*=")
"""What only code for Keras 1 has."""

OF_TWO_SIDES = ("Conv2D",)
"""Layers whose kernel had its rows and columns as two arguments: `Convolution2D(64, 3, 3)`."""


def patch(keras: Any, source: str, note: Note) -> None:
    """Let the layers and models of a Keras take such arguments, where a program has them."""
    if WRITTEN.search(source) is None:
        return
    for kind in {each for each in vars(keras.layers).values() if isinstance(each, type)}:
        if "__init__" in vars(kind):
            kind.__init__ = _taking(kind.__init__, kind.__name__, note)  # type: ignore[misc]
    for name in ("fit", "fit_generator"):
        if hasattr(keras.Model, name):
            setattr(keras.Model, name, _taking(getattr(keras.Model, name), name, note))


def _taking(function: Any, word: str, note: Note) -> Any:
    names = inspect.signature(function).parameters

    @functools.wraps(function)
    def taking(self: Any, *args: Any, **kwargs: Any) -> Any:
        for old in RENAMED.keys() & kwargs.keys():
            if old not in names and RENAMED[old] in names:
                kwargs[RENAMED[old]] = kwargs.pop(old)
                note(f"{RENAMED[old]} was set for {old} of {word}, as Keras 1 had it")
        order = ORDERS.get(str(kwargs.get("dim_ordering")))
        if "dim_ordering" in kwargs and "dim_ordering" not in names:
            del kwargs["dim_ordering"]
            kwargs.update({"data_format": order} if order is not None else {})
            note(f"data_format was set for dim_ordering of {word}, as Keras 1 had it")
        if word in OF_TWO_SIDES and len(args) == 3 and all(isinstance(each, int) for each in args):
            args = (args[0], args[1:])
            note(f"the second and the third number of {word} are its kernel, as Keras 1 had it")
        return function(self, *args, **kwargs)

    taking.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return taking
