"""All that a rule may import: re-exports, no logic. Questions lie in modules by subject: `flow`, `keras`, `pipelines`.

May import `estimate`, `finding`, `knowledge`, `model`, `query`, `fix`, `rule`, `syntax`, `units`.
"""

from typing import TYPE_CHECKING, Any

from tfmemlint import knowledge
from tfmemlint.finding import Edit, Finding, Fix, Related, Safety, Severity, Shows, Span
from tfmemlint.model.calls import Argument, Call
from tfmemlint.model.file import File
from tfmemlint.model.mapped import body
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.transfer.table import elements, structure_bytes
from tfmemlint.model.values import (
    ITEM_BYTES,
    Api,
    Array,
    Class,
    Const,
    Dataset,
    Devices,
    Function,
    Instance,
    Iterator,
    Length,
    Mapping,
    Method,
    OneOf,
    Sequence,
    Step,
    Unknown,
    Value,
    constant,
    integer,
    least,
)
from tfmemlint.query.calls import calls
from tfmemlint.query.facts import Fact
from tfmemlint.query.flow.uses import Does, Use, uses
from tfmemlint.rule import Rule, on, on_call
from tfmemlint.syntax.names import Loop, assigned_names, free_names, home_of, is_variable, names_any, variables
from tfmemlint.syntax.numbers import range_length
from tfmemlint.syntax.scopes import Binds, Definition, Reaching, dotted, own_nodes, parameters, written
from tfmemlint.syntax.tree import Node, called_word, children, walk
from tfmemlint.units import AtLeast, at_most, show_bytes, show_each, show_halved, total_bytes

if TYPE_CHECKING:
    from tfmemlint.api import (
        estimate,
        facts,
        fixes,
        flow,
        gradients,
        keras,
        limits,
        ordering,
        pipelines,
        repetition,
        runtime,
        tensors,
        tracing,
    )

__all__ = [
    "ITEM_BYTES",
    "Api",
    "Argument",
    "Array",
    "AtLeast",
    "Binds",
    "Call",
    "Class",
    "Const",
    "Dataset",
    "Definition",
    "Devices",
    "Does",
    "Edit",
    "Fact",
    "File",
    "Finding",
    "Fix",
    "Function",
    "Instance",
    "Iterator",
    "Length",
    "Loop",
    "Mapping",
    "Method",
    "Node",
    "OneOf",
    "Reaching",
    "Related",
    "Rule",
    "Safety",
    "Sequence",
    "Severity",
    "Shows",
    "Span",
    "Step",
    "Unknown",
    "Use",
    "Value",
    "assigned_names",
    "at_most",
    "body",
    "called_word",
    "calls",
    "children",
    "constant",
    "dotted",
    "elements",
    "estimate",
    "facts",
    "fixes",
    "flow",
    "free_names",
    "gradients",
    "home_of",
    "integer",
    "is_variable",
    "keras",
    "knowledge",
    "least",
    "limits",
    "names_any",
    "on",
    "on_call",
    "once_per_file",
    "ordering",
    "own_nodes",
    "parameters",
    "pipelines",
    "range_length",
    "repetition",
    "runtime",
    "show_bytes",
    "show_each",
    "show_halved",
    "structure_bytes",
    "tensors",
    "total_bytes",
    "tracing",
    "uses",
    "variables",
    "walk",
    "written",
]


def __getattr__(name: str) -> Any:
    """The module of a subject, imported when a rule asks for it: most files wake few rules."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return importlib.import_module(f"{__name__}.{name}")
