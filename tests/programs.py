"""What the model says about small programs, in words short enough for tables."""

from __future__ import annotations

import textwrap

import libcst as cst

from tfmemlint.config.settings import Config
from tfmemlint.model.file import File
from tfmemlint.model.values import (
    Api,
    Array,
    Class,
    Const,
    Dataset,
    Function,
    Instance,
    Iterator,
    Length,
    Mapping,
    Method,
    OneOf,
    Sequence,
    Value,
)
from tfmemlint.text.read import read_source

HEADER = """
import math
import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow import keras
"""


def model_of(program: str, header: str = HEADER) -> File:
    """The model of a program below some imports."""
    source = read_source((header + textwrap.dedent(program)).encode(), "program.py")
    return File(source, cst.parse_module(source.text), Config())


def value_in(file: File) -> Value:
    """The value that a program asks for: of the argument of `probe(...)`, else of its last statement, an expression."""
    probes = file.calls_by_word.get("probe")
    if probes:
        return file.value(probes[0].args[0].value)
    last = file.module.body[-1]
    assert isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[0], cst.Expr), "no expression at the end"
    return file.value(last.body[0].value)


def shown_in(program: str) -> str:
    """The value that a program asks for, in words."""
    return shown(value_in(model_of(program)))


def shown(value: Value) -> str:
    """A value in words: `?` for what is not known, `a | b` for alternatives."""
    if isinstance(value, Const):
        return repr(value.value)
    if isinstance(value, Length):
        return f"len {_size(value.count)}"
    if isinstance(value, Array):
        kind = "var" if value.variable else value.library
        return f"{kind} {value.dtype or '?'} {_shape(value.shape)}"
    if isinstance(value, Dataset):
        return _dataset(value)
    if isinstance(value, Sequence):
        items = ", ".join([*map(shown, value.items), *(["..."] if value.open else [])])
        return f"[{items}]" if value.kind == "list" else f"({items})"
    if isinstance(value, Mapping):
        items = ", ".join([*(f"{key}: {shown(item)}" for key, item in value.items), *(["..."] if value.open else [])])
        return f"{{{items}}}"
    if isinstance(value, OneOf):
        return " | ".join(sorted(map(shown, value.values)))
    return _other(value)


def _other(value: Value) -> str:
    if isinstance(value, Iterator):
        return f"{value.function} of {shown(value.item)}"
    if isinstance(value, Function):
        name = value.node.name.value if isinstance(value.node, cst.FunctionDef) else "lambda"
        return f"traced {name}" if value.traced else name
    if isinstance(value, Class):
        return f"class {value.node.name.value}"
    if isinstance(value, Instance):
        return f"{value.class_node.name.value if value.class_node else value.type_name} object"
    if isinstance(value, (Api, Method)):
        return value.name
    return "?" if not value.known else type(value).__name__


def _size(size: int | None) -> str:
    return "?" if size is None else str(size)


def _shape(shape: tuple[int | None, ...] | None) -> str:
    return "..." if shape is None else f"({', '.join(map(_size, shape))})"


def _dataset(value: Dataset) -> str:
    source = (value.source or "?").rpartition(".")[2]
    count = "" if value.count is None else f" x {value.count}"
    return f"{' '.join((source, *value.names()))} -> {shown(value.element)}{count}"
