"""Where code shows that float64 was chosen for its digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.model.transfer.table import dtype_of
from tfmemlint.query.tensors.dtypes import float64_asked_for
from tfmemlint.query.tensors.together import computed_from

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

CASTS = frozenset({"tf.cast", "tf.saturate_cast", "tf.keras.ops.cast", "tf.keras.backend.cast"})


def wants_digits(file: File, made: Call) -> bool:
    """Whether the code around a call that makes a float64 tensor shows that it wants the digits: it has asked for
    float64 before, or what it computes with the tensor is cast back to another dtype, or goes into a solver, a
    factorisation or an inverse. False where nothing of the kind is seen."""
    if float64_asked_for(file, made.node):
        return True
    calls = (use.call for use in computed_from(file, made.node) if use.call is not None)
    return any(knowledge.in_group(call.name, "needs_digits") or _casts_back(call) for call in calls)


def _casts_back(call: Call) -> bool:
    return call.name in CASTS and dtype_of(call.value_of("dtype"), "float32") != "float64"
