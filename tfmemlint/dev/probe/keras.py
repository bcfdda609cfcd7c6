"""Probes Keras: what optimizers keep for each parameter, which layers have weights or draw, how big its models are.

Runs only inside a probe's child process.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

from tfmemlint.dev.probe.forks import in_fork
from tfmemlint.dev.probe.namespace import namespace
from tfmemlint.dev.probe.values import fingerprint, preload
from tfmemlint.knowledge import bases
from tfmemlint.knowledge.tables import texts

OPTIONS: dict[str, dict[str, Any]] = {
    "": {}, "momentum": {"momentum": 0.9}, "centered": {"centered": True}, "amsgrad": {"amsgrad": True},
    "use_ema": {"use_ema": True}, "gradient_accumulation_steps": {"gradient_accumulation_steps": 2},
}  # fmt: skip
"""Arguments that may make an optimizer keep more."""

SHAPE = (64, 48)

LAYER_ARGUMENTS = (
    "", "0.5", "2", "2, 2", "(2, 2)", '"relu"', "lambda x: x", "0.5, 0.5", "0.5, 0.5, 0.5, 0.5",
    "tf.keras.layers.Dense(2)", "tf.keras.layers.LSTM(2)", "tf.keras.layers.LSTMCell(2)",
    "tf.keras.layers.Conv2D(2, 2)", "4, 4", "[8]", "0.1", "(4, 4)", "4, 2, 2", '"ab,bc->ac", output_shape=2',
    "num_tokens=2", "num_bins=2", "value_range=(0, 1)", "[tf.keras.layers.RandomFlip()]", 'vocabulary=["a", "b"]',
    "(2, 1)", "axes=1", "2, 3, 4",
)  # fmt: skip

INPUTS = (
    "noise((8, 12, 12, 3))", "noise((8, 6))", "noise((8, 6, 4))", "noise((2, 4, 8, 8, 3))", "noise((2, 2, 4, 8, 8, 3))",
    "np.ones((4, 6), 'int64')", "[noise((8, 6)), noise((8, 6))]", "[noise((8, 6, 4)), noise((8, 6, 4))]", "noise((8,))",
    "tf.constant([['a', 'b']])", "[tf.constant(['a']), tf.constant(['b'])]", "noise((8, 12, 12, 4))",
)  # fmt: skip

LIKELY_RANDOM = re.compile(r"Random|Dropout|Noise")
"""Layers that are tried on until they draw, since some of their arguments switch drawing off."""

TIMES = 30


def keras_tables(only: list[str]) -> dict[str, dict[str, Any]]:
    """The tables of optimizers and layers; of those in `only` where it is not empty."""
    preload()
    slots: dict[str, Any] = {}
    layers: dict[str, str] = {}
    for name in sorted(only or texts("classes")):
        if "tf.keras.optimizers.Optimizer" in bases(name):
            slots.update(_either(name, _slots))
        if "tf.keras.layers.Layer" in bases(name) and name.startswith("tf.keras.layers."):
            layers.update(_either(name, _layer))
    return {"slots": slots, "layers": layers}


def application_table(only: list[str]) -> dict[str, dict[str, int]]:
    """The models of `keras.applications`; of those in `only` where it is not empty."""
    preload()
    found: dict[str, dict[str, int]] = {}
    for name in sorted(only or texts("signatures")):
        if name.startswith("tf.keras.applications.") and name.count(".") == 3 and name.rpartition(".")[2][0].isupper():
            found.update(_either(name, _application))
    return found


def _either(name: str, probe: Any) -> dict[str, Any]:
    """What Keras 3 answers, and Keras 2 under `NAME keras2` where that is something else."""
    third, second = (in_fork(partial(_asked, probe, name, keras)) for keras in (3, 2))
    found: dict[str, Any] = {}
    if third:
        found[name] = third
    if second and second != third:
        found[f"{name} keras2" if third else name] = second
    return found


def _asked(probe: Any, name: str, keras: int) -> Any:
    return probe(name, namespace(keras))


def _slots(name: str, names: dict[str, Any]) -> dict[str, int]:
    """Option -> arrays of a parameter's size that the optimizer keeps for each parameter."""
    found: dict[str, int] = {}
    for option, arguments in OPTIONS.items():
        try:
            optimizer = eval(name, names)(**arguments)
            own = getattr(names["tf"].keras, "Variable", names["tf"].Variable)
            variable = own(names["np"].ones(SHAPE, "float32"))
            optimizer.build([variable])
            kept: Any = optimizer.variables
            number = [tuple(one.shape) for one in (kept() if callable(kept) else kept)].count(SHAPE)
        except Exception:
            continue
        if option == "" or number != found.get(""):
            found[option] = number
    return found


def _layer(name: str, names: dict[str, Any]) -> str:
    """`trainable`, `state` (weights that are not trained) or `none`, and `random` where calls draw."""
    np = names["np"]
    names["noise"] = lambda shape: np.random.default_rng(1).uniform(size=shape).astype("float32")
    names["tf"].random.set_seed(0)
    found = ""
    for given, data in itertools.product(_accepted(name, names), INPUTS):
        try:
            layer = eval(f"{name}({given})", names)
            value = eval(data, names)
            first = fingerprint(_call(layer, value))
        except Exception:
            continue
        weights = "trainable" if layer.trainable_weights else "state" if layer.weights else "none"
        if weights != "none":
            return weights
        if first is not None and any(fingerprint(_call(layer, value)) != first for _ in range(TIMES)):
            return "none random"
        found = found or weights
        if not LIKELY_RANDOM.search(name):
            break
    return found


def _accepted(name: str, names: dict[str, Any]) -> Iterator[str]:
    """The arguments with which the layer can be made."""
    for given in LAYER_ARGUMENTS:
        with contextlib.suppress(Exception):
            eval(f"{name}({given})", names)
            yield given


def _call(layer: Any, value: Any) -> Any:
    state = import_module("numpy").ones((8, 2), "float32")
    for given, named in (((), {"training": True}), ((), {}), ((value,), {}), (([state, state],), {}), ((state,), {})):
        try:
            return layer(value, *given, **named)
        except Exception:
            continue
    raise TypeError(f"{type(layer).__name__} takes none of the inputs tried")


def _application(name: str, names: dict[str, Any]) -> dict[str, int]:
    """Parameters of a bundled model with its default arguments; parameters and channels of it without its top; and by
    how much it shrinks an image's sides, where that is so for two images."""
    import_module("gc").disable()
    build = eval(name, names)
    found = {"parameters": int(build(weights=None).count_params())}
    sides = {}
    for image in ((224, 224), (96, 128)):
        with contextlib.suppress(ValueError):  # too small for it
            body = build(weights=None, include_top=False, input_shape=(*image, 3))
            found |= {"features": int(body.count_params()), "channels": int(body.output_shape[-1])}
            sides[image] = body.output_shape[1:3]
    shrinks = {given / made for image in sides for given, made in zip(image, sides[image], strict=True)}
    if len(shrinks) == 1 and len(sides) == 2:
        found["stride"] = int(shrinks.pop())
    return found
