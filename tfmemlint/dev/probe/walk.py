"""Collects the public objects of TensorFlow, Keras and NumPy by path, and picks one canonical path for each.

Runs only inside a probe's child process, where importing TensorFlow is allowed.
"""

from __future__ import annotations

import enum
import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any

SKIPPED = frozenset({
    "tf.compat", "tf.raw_ops", "tf.tools", "tf.security", "tf.lite", "tf.compat.v1.keras", "tf.compat.v1.compat",
    "tf.compat.v1.lite", "tf.compat.v1.raw_ops", "tf.compat.v1.tools", "tf.keras.optimizers.legacy",
    "tf.keras.optimizers.experimental", "tf.tpu", "tf.dtensor", "tf.experimental.dtensor", "tf.keras.dtensor",
    "tf.compat.v1.tpu", "tf.compat.v1.feature_column", "tf.compat.v1.profiler", "tf.compat.v1.test",
    "tf.compat.v1.mlir",
})  # fmt: skip
"""Modules that no rule names; `tf.compat.v1` is walked on its own."""

NUMPY_MODULES = ("", "random", "linalg", "fft", "lib.stride_tricks")


def walk(root: types.ModuleType, path: str, inside: Callable[[str], bool]) -> dict[str, Any]:
    """Public path -> object for everything reachable through public modules whose own name satisfies `inside`."""
    found: dict[str, Any] = {}
    stack = [(path, root)]
    seen = set()
    while stack:
        where, module = stack.pop()
        if where in seen or (where in SKIPPED and where != path):
            continue
        seen.add(where)
        for name in _public(module):
            try:
                value = getattr(module, name)
                inner = value.__name__ if isinstance(value, types.ModuleType) else None
            except Exception:  # lazily loaded names may need a package that is not installed
                continue
            if inner is not None:
                if inside(inner) and len(where.split(".")) < 8:
                    stack.append((f"{where}.{name}", value))
            elif (callable(value) and not _is_numpy_class(value, where)) or is_constant(value):
                found[f"{where}.{name}"] = value
    return found


def _is_numpy_class(value: Any, where: str) -> bool:
    return inspect.isclass(value) and value.__module__ == "numpy" and not where.startswith("np")


def _public(module: types.ModuleType) -> list[str]:
    try:
        return sorted(name for name in dir(module) if not name.startswith("_"))
    except ImportError:  # a lazy module of Keras 2 under Keras 3
        return []


def is_constant(value: Any) -> bool:
    """Whether a value that is not callable is worth an alias: dtypes and plain numbers or words."""
    return isinstance(value, (int, str)) or type(value).__name__ == "DType"


def in_tensorflow(name: str) -> bool:
    return (name.startswith("tensorflow") and ".python" not in name and ".core" not in name) or in_keras(name)


def in_keras(name: str) -> bool:
    return name.split(".")[0] == "keras" and ".src" not in name


def numpy_objects() -> dict[str, Any]:
    """The callables of NumPy's main modules under `np.`."""
    import numpy as np

    found: dict[str, Any] = {}
    for module_path in NUMPY_MODULES:
        module: Any = np
        for part in filter(None, module_path.split(".")):
            module = getattr(module, part)
        names: Iterable[str] = getattr(module, "__all__", dir(module))
        for name in sorted(names):
            value = getattr(module, name, None)
            if name.startswith("_") or isinstance(value, types.ModuleType) or not callable(value):
                continue
            if inspect.isclass(value) and issubclass(value, (BaseException, Warning)):
                continue
            found[".".join(filter(None, ("np", module_path, name)))] = value
    return found


def rank(path: str, value: Any, keras2: frozenset[str]) -> tuple[Any, ...]:
    """Sort key of the paths of one object: the smallest is canonical.

    Keras objects live under `tf.keras`; names that Keras 2 has too, then short ones, then the one that the object
    calls itself by, are what people write.
    """
    parts = path.split(".")
    own = getattr(value, "__module__", "") or ""
    at_home = path.startswith("tf.keras.") or not (isinstance(own, str) and own.startswith(("keras", "tf_keras")))
    return (
        "compat" in parts,
        not at_home,
        "experimental" in parts or "legacy" in parts,
        at_home and path.startswith("tf.keras.") and path not in keras2,
        len(parts),
        (getattr(value, "__name__", None) or getattr(value, "name", None)) != parts[-1],
        len(path),
        path,
    )


def group(found: dict[str, Any], keras2: frozenset[str]) -> dict[str, str]:
    """Path -> canonical path, where one object, or an equal constant of the same name, has several."""
    paths: dict[Any, list[str]] = {}
    for path, value in found.items():
        if isinstance(value, (int, str)) and not isinstance(value, enum.Enum):
            top = path.split(".")[:2]
            key: Any = (*top, path.rpartition(".")[2], value)
        else:
            key = id(value)
        paths.setdefault(key, []).append(path)
    canonical = {}
    for same in paths.values():
        best = min(same, key=lambda path: rank(path, found[path], keras2))
        canonical.update(dict.fromkeys(same, best))
    return canonical
