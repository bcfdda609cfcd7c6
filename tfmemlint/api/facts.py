"""Kinds of things that wake rules: loops, classes, functions that are traced, attributes that are set."""

from tfmemlint.query.facts import (
    AttributeSet,
    FunctionNode,
    Wrapped,
    attributes_set,
    calls_named,
    calls_of_unknown,
    calls_passing,
    classes_deriving,
    comprehensions,
    functions_given_to,
    loops,
    nodes,
    traced_functions,
)

__all__ = [
    "AttributeSet",
    "FunctionNode",
    "Wrapped",
    "attributes_set",
    "calls_named",
    "calls_of_unknown",
    "calls_passing",
    "classes_deriving",
    "comprehensions",
    "functions_given_to",
    "loops",
    "nodes",
    "traced_functions",
]
