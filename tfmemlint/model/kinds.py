"""What `isinstance` says of a value, where that is certain."""

from __future__ import annotations

import builtins

from tfmemlint.model.values import (
    Api,
    Class,
    Const,
    DataFrame,
    Dataset,
    Function,
    Instance,
    Mapping,
    Sequence,
    Value,
)

SCALARS = frozenset({"str", "bytes", "int", "float", "complex", "bool"})
"""Builtin types of which no container, function or table is one."""

NO_SCALARS = (Sequence, Mapping, Dataset, DataFrame, Function, Class)


def is_instance(value: Value, kinds: Value) -> bool | None:
    """What `isinstance(value, kinds)` gives for a builtin type, or a tuple of such; None where it is not known. Of an
    array it is not: an item of it may be `np.float64`, which is a `float`."""
    if isinstance(kinds, Sequence):
        found = {is_instance(value, kind) for kind in kinds.items}
        return None if kinds.open or not found else True if True in found else None if None in found else False
    library, _, name = kinds.name.rpartition(".") if isinstance(kinds, Api) else ("", "", "")
    if library != "builtins":
        return None
    if isinstance(value, Const):
        kind = getattr(builtins, name, None)
        return isinstance(value.value, kind) if isinstance(kind, type) else None
    return False if name in SCALARS and (isinstance(value, NO_SCALARS) or _is_of_keras(value)) else None


def _is_of_keras(value: Value) -> bool:
    return isinstance(value, Instance) and value.type_name is not None and value.type_name.startswith("tf.keras.")
