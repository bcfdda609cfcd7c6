"""Joins what was probed about names into the tables that `tfmemlint.knowledge` reads.

Runs only inside a probe's child process.
"""

from __future__ import annotations

import ast
import platform
from importlib import import_module
from typing import Any

from tfmemlint.dev.probe.names import Names, numpy_names, tensorflow_names
from tfmemlint.knowledge.naming import RETIRED

V1 = "tf.compat.v1."

V1_LIKE_V2 = frozenset(
    {"device", "ones_like", "zeros_like", "shape", "size", "constant_initializer", "nn.max_pool", "nn.avg_pool"}
)
"""Names of `tf.compat.v1` whose parameters differ from v2's in name only, or after those that matter here."""

V1_APART = frozenset({"saved_model.load", "test.compute_gradient"})
"""Names that `tf.compat.v1` and v2 share for different things."""


def name_tables() -> dict[str, dict[str, Any]]:
    """The contents of signatures, classes, aliases and keras2, each a flat table."""
    first, old, second = tensorflow_names()
    numpy = numpy_names()
    signatures = {**first.signatures, **numpy.signatures}
    bases = {**first.bases, **numpy.bases}
    aliases = {path: name for names in (first, numpy) for path, name in names.canonical.items() if path != name}
    keras2 = _add_keras2(first, second, signatures, bases, aliases)
    _add_v1(old, first, signatures, bases, aliases)
    aliases = {path: name for path, name in aliases.items() if not _follows(path, name, aliases)}
    constants = sorted({*first.constants} - {*signatures})
    return {
        "signatures": signatures,
        "classes": {name: " ".join(above) for name, above in bases.items()},
        "aliases": aliases,
        "constants": {name: _constant(first.constants[name]) for name in constants},
        "keras2": keras2,
        "versions": _versions(),
    }


def _follows(path: str, name: str, aliases: dict[str, str]) -> bool:
    """Whether the rules of `naming` lead from the path to the name without a table."""
    module, _, last = path.rpartition(".")
    target = f"{RETIRED.get(module)}.{last}"
    return module in RETIRED and aliases.get(target, target) == name


def _versions() -> dict[str, str]:
    found = {name: str(import_module(name).__version__) for name in ("tensorflow", "keras", "tf_keras", "numpy")}
    return {**found, "python": ".".join(platform.python_version_tuple()[:2])}


def _constant(value: Any) -> Any:
    return value if isinstance(value, (bool, int, str)) else value.name


def _add_keras2(
    first: Names, second: Names, signatures: dict[str, str], bases: dict[str, list[str]], aliases: dict[str, str]
) -> dict[str, str]:
    """Adds what only Keras 2 has; returns the signatures that Keras 2 has otherwise."""
    renamed: dict[str, str] = {}
    for path, name in second.canonical.items():
        if path in first.canonical:
            renamed.setdefault(name, first.canonical[path])
    for path, name in second.canonical.items():
        target = renamed.get(name, name)
        if path not in first.canonical and path != target:
            aliases[path] = target
    other: dict[str, str] = {}
    for key, text in sorted(second.signatures.items()):
        owner, _, method = key.rpartition(".")
        name = renamed.get(key) or (f"{renamed[owner]}.{method}" if owner in renamed else key)
        if name in signatures:
            if not agree(text, signatures[name], longest=None):
                other[name] = text
        elif owner not in second.bases or owner not in renamed or not _inherits(name, first):
            signatures[name] = text
    for key, above in second.bases.items():
        if renamed.get(key, key) not in bases:
            bases[key] = [renamed.get(base, base) for base in above]
    return other


def _inherits(name: str, first: Names) -> bool:
    owner, _, method = name.rpartition(".")
    return any(f"{base}.{method}" in first.signatures for base in first.bases.get(owner, ()))


def _add_v1(
    old: Names, first: Names, signatures: dict[str, str], bases: dict[str, list[str]], aliases: dict[str, str]
) -> None:
    """Adds `tf.compat.v1`: what is like v2 becomes the v2 name, the rest is its own."""
    own = {path: _v2_name(path, old, first) for path in old.canonical if path.startswith(V1)}
    for path, target in own.items():
        canonical = old.canonical[path]
        plain = "tf." + path[len(V1) :]
        if target is not None:
            if first.canonical.get(plain) != target:
                aliases[path] = target
        elif canonical != path:
            aliases[path] = own.get(canonical) or canonical
        else:
            signatures[path] = old.signatures.get(path, "")
            if path in old.bases:
                bases[path] = [own.get(base) or base for base in old.bases[path]]
    for key, text in old.signatures.items():
        owner = key.rpartition(".")[0]
        if owner in old.bases and own.get(owner, "") is None and owner == old.canonical[owner]:
            signatures[key] = text


def _v2_name(path: str, old: Names, first: Names) -> str | None:
    """The v2 name that a v1 path stands for, or None for a thing of its own."""
    canonical = old.canonical[path]
    if not canonical.startswith(V1):
        return first.canonical.get(canonical, canonical)
    plain = canonical[len(V1) :]
    name = first.canonical.get("tf." + plain)
    if name is None or plain in V1_APART or (canonical in old.bases) != (name in first.bases):
        return None
    mine, theirs = old.signatures.get(canonical), first.signatures.get(name)
    if mine is None or theirs is None or plain in V1_LIKE_V2 or (canonical in old.bases and plain.startswith("data.")):
        return name
    return name if agree(mine, theirs, longest=2) else None


def agree(one: str, other: str, longest: int | None) -> bool:
    """Whether two signatures name the same parameter at each position, up to the `longest` first ones."""
    pairs = list(zip(_positional(one), _positional(other), strict=False))[:longest]
    return all(left == right for left, right in pairs)


def _positional(text: str) -> list[str]:
    function = ast.parse(f"def f({text}): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    return [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
