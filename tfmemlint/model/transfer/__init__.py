"""What library calls return: one small function for each API that the model follows, found by canonical name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.model.calls import api_name
from tfmemlint.model.transfer import (  # noqa: F401  (they register)
    arrays,
    combined,
    datasets,
    devices,
    graphs,
    images,
    joins,
    keras,
    numeric,
    others,
    python,
    random_arrays,
    records,
    shapes,
    tables,
    tensors,
)
from tfmemlint.model.transfer.table import TABLE
from tfmemlint.model.values import Api, Unknown, Value, instance_of

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call


def transfer(call: Call, target: Value) -> Value:
    """The value that a call of an API function, class or method has."""
    name = api_name(target)
    if name is None:
        return Unknown("what is called is not known")
    known = TABLE.get(name)
    if known is not None:
        return known(call, target)
    made = knowledge.returns_class(name)
    if made is not None:
        return instance_of(made, call)
    if isinstance(target, Api) and knowledge.is_class(name):
        return instance_of(name, call)
    return Unknown(f"the result of {name} is not modelled")
