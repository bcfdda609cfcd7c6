"""Probes names: which public path is which object, what it takes, and what its classes derive from.

Runs only inside a probe's child process.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from tfmemlint.dev.probe.signatures import constructor_text, signature_text
from tfmemlint.dev.probe.walk import group, in_keras, in_tensorflow, numpy_objects, walk

PRIVATE = {"tf.python.client.device_lib.list_local_devices": "tensorflow.python.client.device_lib"}
"""Private functions that rules name, and the module that holds each."""

FORMS = {"tf.keras.Model": "keras.src.models.functional:Functional"}
"""Classes whose constructor passes on to another class, which says what the arguments are."""

CONCRETE = {
    "tf.Tensor": "tensorflow.python.framework.ops:EagerTensor",
    "tf.Variable": "tensorflow.python.ops.resource_variable_ops:ResourceVariable",
}
"""Classes whose objects really are of a private subclass, with more methods."""

V1_LAYERS = "tf_keras.src.legacy_tf_layers"
"""Where the layers of `tf.compat.v1.layers` are, which TensorFlow itself hides under Keras 3."""

HIDDEN_BASES = frozenset({"tf.keras.Operation"})
"""Bases of one Keras version only, which nobody derives from by name."""

SPECIAL_METHODS = ("__call__",)

PLUMBING = re.compile(
    r"call|build|get_config|from_config|compute_(mask|output_\w+)|convert_weight|get_random_transformation|transform_\w+"
)
"""Methods that layers override and programs do not call: only those of the root classes are recorded."""

ROOTS = frozenset({"tf.keras.layers.Layer", "tf.keras.Model"})

BARE_CLASSES = ("tf.test.", "tf.errors.", "np.exceptions.", "np.generic", "tf.compat.v1.summary.",
                "tf.compat.v1.layers.")  # fmt: skip
BARE_WORDS = ("Hook", "Listener", "Supervisor", "QueueRunner", "SessionManager", "SessionCreator", "Reader", "Scaffold",
              "MonitoredSession", "SyncReplicasOptimizer", "AccumulatorBase")  # fmt: skip
"""Classes of which only the constructor is recorded."""


@dataclass
class Names:
    """What one pass over a library found; every key is a canonical path."""

    canonical: dict[str, str] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)
    bases: dict[str, list[str]] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)


def load(reference: str) -> Any:
    """The object at `module:name`."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def collect(found: dict[str, Any], keras2: frozenset[str]) -> Names:
    """Signatures and bases of the objects found, each once, under its canonical path."""
    names = Names(canonical=group(found, keras2))
    by_id = {id(value): names.canonical[path] for path, value in found.items() if inspect.isclass(value)}
    for path in sorted(set(names.canonical.values())):
        value = found[path]
        if inspect.isclass(value):
            chain = [by_id[id(base)] for base in value.__mro__[1:] if id(base) in by_id]
            names.bases[path] = [name for name in chain if name not in HIDDEN_BASES]
    for path in sorted(set(names.canonical.values())):
        value = found[path]
        if inspect.isclass(value):
            text = constructor_text(load(FORMS[path]) if path in FORMS and "keras.src" in value.__module__ else value)
            _methods(path, value, found, names)
        elif callable(value):
            text = signature_text(value)
        else:
            names.constants[path] = value
            continue
        names.signatures[path] = "*args,**kwargs" if text is None else text
    return names


def _methods(path: str, cls: type, found: dict[str, Any], names: Names) -> None:
    if hasattr(cls, "DESCRIPTOR") or path.startswith(BARE_CLASSES) or path.endswith(BARE_WORDS):
        return
    bases = names.bases[path]
    sources = [cls] + ([load(CONCRETE[path])] if path in CONCRETE else [])
    for source in sources:
        for name in sorted(dir(source)):
            key = f"{path}.{name}"
            if name.startswith("_") and name not in SPECIAL_METHODS:
                continue
            if key in names.canonical or key in names.signatures:
                continue
            raw = inspect.getattr_static(source, name, None)
            text = _method_text(source, name, raw)
            if text is None:
                continue
            inherited = [b for b in bases if inspect.getattr_static(found[b], name, None) is not None]
            if PLUMBING.fullmatch(name) and path not in ROOTS:
                continue
            if inherited:
                above = inspect.getattr_static(found[inherited[0]], name)
                if above is raw or _method_text(found[inherited[0]], name, above) == text:
                    continue
            names.signatures[key] = text


def _method_text(cls: type, name: str, raw: Any) -> str | None:
    if isinstance(raw, property) or raw is None or inspect.isclass(raw) or not callable(getattr(raw, "__func__", raw)):
        return None
    owner = next((c for c in cls.__mro__ if name in vars(c)), None)
    if owner is None or owner.__module__ in ("builtins", "typing", "abc", "collections.abc"):
        return None
    if isinstance(raw, (staticmethod, classmethod)):
        text = signature_text(raw.__func__, bound=isinstance(raw, classmethod))
    else:
        text = signature_text(raw, bound=True)
    return "*args,**kwargs" if text is None else text


def tensorflow_names() -> tuple[Names, Names, Names]:
    """TensorFlow with Keras 3, `tf.compat.v1`, and Keras 2."""
    keras, tf, tf_keras = import_module("keras"), import_module("tensorflow"), import_module("tf_keras")

    second = walk(tf_keras, "tf.keras", lambda name: name.startswith("tf_keras") and ".src" not in name)
    keras2 = frozenset(second)
    found = walk(tf, "tf", in_tensorflow)
    own = walk(keras, "tf.keras", in_keras)
    found.update({path: value for path, value in own.items() if path not in found})
    found.update({path: load(f"{module}:{path.rpartition('.')[2]}") for path, module in PRIVATE.items()})
    first = collect(found, keras2)
    old = walk(tf.compat.v1, "tf.compat.v1", in_tensorflow) | _v1_layers()
    return first, _v1(old, found, first), collect(second, keras2)


def _v1_layers() -> dict[str, Any]:
    found = {}
    for part in ("core", "convolutional", "pooling", "normalization"):
        module = import_module(f"{V1_LAYERS}.{part}")
        for name, value in vars(module).items():
            if getattr(value, "__module__", "") == module.__name__ and not name.startswith("_"):
                found[f"tf.compat.v1.layers.{name}"] = value
    return found


def _v1(old: dict[str, Any], found: dict[str, Any], first: Names) -> Names:
    """`tf.compat.v1`: names of objects that v2 has too become the v2 name."""
    shared = {id(found[path]): path for path in first.canonical.values() if not isinstance(found[path], (int, str))}
    names = collect({**found, **old}, frozenset())
    for path in old:
        if id(old[path]) in shared:
            names.canonical[path] = shared[id(old[path])]
    return names


def numpy_names() -> Names:
    """NumPy under `np.`."""
    return collect(numpy_objects(), frozenset())
