"""Probes which functions of two operands broadcast them and which want equal shapes.

Runs only inside a probe's child process.
"""

from __future__ import annotations

import contextlib
import io
from typing import Any

from tfmemlint.dev.probe.effects import UNTRIED
from tfmemlint.dev.probe.namespace import namespace
from tfmemlint.knowledge import signature
from tfmemlint.knowledge.tables import texts

MODULES = ("tf", "tf.math", "tf.nn", "tf.bitwise", "tf.experimental.numpy", "tf.keras.ops", "np")

PAIRS = (((2, 1), (1, 3)), ((2, 3), (3,)), ((1, 3), (2, 3)))
"""Shapes that broadcast to `RESULT`; more than one pair, so that products of matrices do not pass."""

RESULT = (2, 3)


def shape_table() -> dict[str, str]:
    """Function -> `yes` where operands of unequal shapes are broadcast, `no` where only equal ones are taken."""
    names = namespace(3)
    found = {}
    for name in sorted(texts("signatures")):
        taken = signature(name)
        if name.rpartition(".")[0] not in MODULES or name in texts("classes") or UNTRIED.fullmatch(name):
            continue
        if taken is None or len(taken.positional) < 2:
            continue
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            function = _there(name, names)
            answer = None if function is None else _answer(function, names["np"])
        if answer:
            found[name] = answer
    return found


def _there(name: str, names: dict[str, Any]) -> Any:
    """What has that name, None where the installed version has no such thing."""
    try:
        return eval(name, names)
    except AttributeError:
        return None


def _answer(function: Any, np: Any) -> str | None:
    for dtype in ("float32", "int32", "bool"):
        if _shape(function, np, dtype, RESULT, RESULT) == RESULT:
            broadcast = all(_shape(function, np, dtype, left, right) == RESULT for left, right in PAIRS)
            refused = all(_shape(function, np, dtype, left, right) is None for left, right in PAIRS)
            return "yes" if broadcast else "no" if refused else None
    return None


def _shape(function: Any, np: Any, dtype: str, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        value = function(np.ones(left, dtype), np.ones(right, dtype))
        return tuple(int(size) for size in value.shape)
    except Exception:
        return None
