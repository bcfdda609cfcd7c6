"""The domain of abstract values: what an expression can be known to be, without running it.

Each kind is one class, which also says what Python's own operations make of it. `Unknown` says "not known" and why; a
rule that meets it stops. Values are frozen and compare by content, so that joins of equal values stay one value. Calls
inside values compare by identity: one source place is one call.
"""

from __future__ import annotations

from tfmemlint.model.arithmetic import Shape
from tfmemlint.model.values.alternatives import MOST_OPTIONS, OneOf, one_of, shared
from tfmemlint.model.values.array import ITEM_BYTES, AnyShape, Array, array_binary
from tfmemlint.model.values.callables import Api, Class, Function, Method, Module
from tfmemlint.model.values.constants import LONGEST_TEXT, Const, Length, constant, fold, integer, least, number
from tfmemlint.model.values.containers import COMPREHENSION, Iterator, Mapping, Sequence, unpacked
from tfmemlint.model.values.dataset import MOST_STEPS, PIPELINE_WEIGHT, Dataset, Step
from tfmemlint.model.values.devices import Devices
from tfmemlint.model.values.objects import CALLBACK, Instance, instance_of
from tfmemlint.model.values.tables import Bunch, Cells, DataFrame, Table
from tfmemlint.model.values.value import BOTTOM, Unknown, Value

__all__ = [
    "BOTTOM", "CALLBACK", "COMPREHENSION", "ITEM_BYTES", "LONGEST_TEXT", "MOST_OPTIONS", "MOST_STEPS",
    "PIPELINE_WEIGHT",
    "AnyShape", "Api", "Array", "Bunch", "Cells", "Class", "Const", "DataFrame", "Dataset", "Devices", "Function",
    "Instance", "Iterator", "Length", "Mapping", "Method", "Module", "OneOf", "Sequence", "Shape", "Step", "Table",
    "Unknown", "Value", "array_binary", "constant", "fold", "instance_of", "integer", "least", "number", "one_of",
    "shared", "unpacked",
]  # fmt: skip
