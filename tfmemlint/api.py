"""All that a rule may import: re-exports, no logic."""

from tfmemlint import knowledge
from tfmemlint.finding import Edit, Finding, Fix, Related, Safety, Severity, Span
from tfmemlint.model.arithmetic import least
from tfmemlint.model.calls import Argument, Call
from tfmemlint.model.file import File
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
)
from tfmemlint.rule import Rule, on_call, on_file
from tfmemlint.syntax.names import Loop, assigned_names, free_names, home_of, is_variable, variables
from tfmemlint.syntax.numbers import range_length
from tfmemlint.syntax.scopes import Binds, Definition, Reaching, dotted, own_nodes, parameters, written
from tfmemlint.syntax.tree import Node, called_word, children, walk
from tfmemlint.units import show_bytes

__all__ = [
    "ITEM_BYTES", "Api", "Argument", "Array", "Binds", "Call", "Class", "Const", "Dataset", "Definition", "Devices",
    "Edit", "File", "Finding", "Fix", "Function", "Instance", "Iterator", "Length", "Loop", "Mapping", "Method",
    "Node", "OneOf", "Reaching", "Related", "Rule", "Safety", "Sequence", "Severity", "Span", "Step", "Unknown",
    "Value", "assigned_names", "called_word", "children", "constant", "dotted", "elements", "free_names", "home_of",
    "integer", "is_variable", "knowledge", "least", "on_call", "on_file", "own_nodes", "parameters", "range_length",
    "show_bytes", "structure_bytes", "variables", "walk", "written",
]  # fmt: skip
