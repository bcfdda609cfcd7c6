"""`# tfmemlint: example x=float32[32,224,224,3]`: what a name stands for where the code does not say it."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass

from tfmemlint.model.values import ITEM_BYTES
from tfmemlint.text.source import Source
from tfmemlint.text.statements import Statements
from tfmemlint.verify.plan.elements import STRINGS, enough

_COMMENT = re.compile(r"#\s*tfmemlint\s*:\s*example\s+(?P<rest>.*)")
_ARRAY = re.compile(r"(?P<dtype>[a-z]+\d*)\[(?P<shape>[\d,\s]*)\]")
_DATASET = re.compile(
    r"dataset\(\s*(?P<parts>[a-z]+\d*\[[\d,\s]*\](\s*,\s*[a-z]+\d*\[[\d,\s]*\])*)\s*\)(\s*\*\s*(?P<count>[\d_]+))?"
)
_ENTRY = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*=\s*")
DTYPES = frozenset(ITEM_BYTES) | {"string"}


class ExampleError(Exception):
    """An example comment that cannot be read; the text says where and what to write."""


@dataclass(frozen=True)
class Example:
    """A value to stand for a name: Python code that makes it, and the words of the comment."""

    name: str
    code: str
    words: str


def read_examples(source: Source) -> dict[str, Example]:
    """The examples in the comments of a file, by name; the last one of a name counts. Raises ExampleError."""
    found: dict[str, Example] = {}
    for comment in Statements(source).comments:
        match = _COMMENT.fullmatch(source.text[comment.start : comment.end].rstrip())
        if match is None:
            continue
        try:
            entries = list(_entries(match["rest"]))
        except ValueError as error:
            row = source.position(comment.start).row
            raise ExampleError(f"{source.path}:{row}: {error}") from error
        found.update((entry.name, entry) for entry in entries)
    return found


def _entries(rest: str) -> list[Example]:
    entries: list[Example] = []
    rest = rest.strip()
    while rest:
        head = _ENTRY.match(rest)
        if head is None:
            raise ValueError(f"'{rest}' is no example; write NAME=dtype[shape], as in x=float32[32,224,224,3]")
        rest = rest[head.end() :]
        code, words, rest = _value(rest)
        entries.append(Example(head["name"], code, f"{head['name']}={words}"))
        rest = rest.lstrip(" ,;")
    return entries


def _spec(array: re.Match[str]) -> tuple[str, tuple[int, ...]]:
    """Dtype and shape. Raises ValueError for a dtype that there is not."""
    if array["dtype"] not in DTYPES:
        raise ValueError(f"no dtype '{array['dtype']}'; known are {', '.join(sorted(DTYPES))}")
    return array["dtype"], tuple(int(size) for size in array["shape"].split(",") if size.strip())


def _dataset(words: re.Match[str]) -> str:
    """Code for a data set of elements of these parts, of so many as the words say, else as show what they cost."""
    specs = [_spec(each) for each in _ARRAY.finditer(words["parts"])]
    each = sum((ITEM_BYTES.get(dtype) or 0) * math.prod(shape) for dtype, shape in specs)
    count = int(words["count"]) if words["count"] else enough(each) if each else STRINGS
    parts = ", ".join(f'("{dtype}", {shape})' for dtype, shape in specs)
    return f"tfmemlint_dataset({parts if len(specs) == 1 else f'[{parts}]'}, {count})"


def _value(rest: str) -> tuple[str, str, str]:
    """Code, words and what follows."""
    array, dataset = _ARRAY.match(rest), _DATASET.match(rest)
    if array:
        dtype, shape = _spec(array)
        return f'tfmemlint_array("{dtype}", {shape})', array.group(), rest[array.end() :]
    if dataset:
        return _dataset(dataset), dataset.group(), rest[dataset.end() :]
    for stop in [*(match.start() for match in re.finditer(r"[\s,;]+[A-Za-z_]\w*\s*=", rest)), len(rest)]:
        text = rest[:stop].strip().rstrip(",;")
        try:
            return repr(ast.literal_eval(text)), text, rest[stop:]
        except (ValueError, SyntaxError):
            continue
    raise ValueError(f"'{rest}' is neither dtype[shape] nor a Python literal")
