"""What the model knows about a program, line by line, for finding out why a rule spoke or was silent."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.testing.cases import CaseError

if TYPE_CHECKING:
    import libcst as cst

    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.model.values import Value
    from tfmemlint.syntax.tree import Node

_DEEPEST = 6


def dump_model(data: bytes, path: str) -> Iterator[str]:
    """Lines that give, in source order, the value of each assigned name and what each call calls, does and returns.

    Raises CaseError for a file that cannot be read or parsed.
    """
    from tfmemlint.config.settings import Config
    from tfmemlint.lint.engine import parse
    from tfmemlint.model.file import File
    from tfmemlint.text.read import read_source
    from tfmemlint.text.source import SourceError

    try:
        source = read_source(data, path)
    except SourceError as error:
        raise CaseError(f"{path}:{error.row}:{error.column}: {error.message}") from None
    module, readable, problems = parse(source)
    if module is None:
        place = source.position(problems[0].span.start)
        raise CaseError(f"{path}:{place.row}:{place.column}: {problems[0].message}")
    file = File(readable, module, Config())
    for node in _spoken_of(file):
        yield from _lines(file, node)
    yield f"{len(file.tree)} nodes; {file.values.memo.spent} evaluations of at most {file.values.memo.budget}"


def _spoken_of(file: File) -> list[Node]:
    import libcst as cst

    found: list[Node] = [*file.tree.of(cst.Call), *file.tree.of(cst.AssignTarget), *file.tree.of(cst.AnnAssign)]
    return sorted(found, key=file.tree.order)


def _lines(file: File, node: Node) -> Iterator[str]:
    import libcst as cst

    if isinstance(node, cst.Call):
        call = file.call(node)
        yield f"{_place(file, call.name_node)} call {_text(file, node.func)}: {_called(call)}"
        arguments = [(name, call.arg(name)) for name in call.parameter_names]
        for name, argument in arguments:
            if argument is not None:
                yield f"    {name} = {describe(argument.value)}"
        if _loop(file, node):
            yield f"    in the loop of line {_loop(file, node)}"
        if file.contexts.traced(node):
            yield "    traced"
        yield from _runtime(file, call)
        yield f"    gives {describe(call.value)}"
        return
    target = node.target if isinstance(node, (cst.AssignTarget, cst.AnnAssign)) else node
    above = file.tree.parent(node) if isinstance(node, cst.AssignTarget) else node
    value = getattr(above, "value", None)
    if value is not None and not isinstance(target, (cst.Tuple, cst.List)):
        yield f"{_place(file, target)} {_text(file, target)} = {describe(file.value(value))}"


def _runtime(file: File, call: Call) -> Iterator[str]:
    """What the call does to TensorFlow's runtime, and whether something before it has started that already."""
    from tfmemlint.query.runtime.runtime import INITIALISED, initialisation, initialises

    if initialises(file, call):
        yield "    initialises the runtime"
    happened = initialisation(file).before(call.node, INITIALISED)
    if happened is not None:
        row = file.source.position(file.span(happened.node).start).row
        yield f"    after the runtime is {'certainly' if happened.certain else 'perhaps'} initialised, in line {row}"


def _called(call: Call) -> str:
    return " or ".join(call.names) or f"no API; {describe(call.target)}"


def _loop(file: File, node: cst.Call) -> int | None:
    loop = file.contexts.loop(node)
    return None if loop is None else file.source.position(file.span(loop).start).row


def _place(file: File, node: Node) -> str:
    position = file.source.position(file.span(node).start)
    cell = f"cell {position.cell}:" if position.cell is not None else ""
    return f"{cell}{position.row}:{position.column}"


def _text(file: File, node: Node) -> str:
    text = " ".join(file.text(node).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def describe(value: object, depth: int = 0) -> str:
    """A value in one line: its kind and what is known of it; syntax nodes by their names, calls by what they call."""
    from tfmemlint.model.values import Unknown, Value

    if isinstance(value, Unknown):
        return f"unknown ({value.why})" if value.why else "unknown"
    if depth > _DEEPEST:
        return "..."
    if isinstance(value, tuple):
        return f"({', '.join(describe(item, depth + 1) for item in value)})"
    if isinstance(value, Value):
        return _described(value, depth)
    if type(value).__module__.startswith("libcst"):
        return str(getattr(getattr(value, "name", None), "value", type(value).__name__))
    if type(value).__name__ == "Call":
        return str(getattr(value, "name", None) or getattr(value, "method", "call"))
    if type(value).__name__ == "Step":
        return str(getattr(value, "name", "step"))
    return repr(value)


def _described(value: Value, depth: int) -> str:
    from tfmemlint.model.values import Const

    if isinstance(value, Const):
        return repr(value.value)
    parts = []
    for field in (each for each in dataclasses.fields(value) if each.repr):
        part = getattr(value, field.name)
        if part is None or part is False or part == () or field.name == "frame":
            continue
        parts.append(f"{field.name}={describe(part, depth + 1)}")
    size = getattr(value, "bytes", None)
    if isinstance(size, int):
        parts.append(f"bytes={size}")
    return f"{type(value).__name__}({', '.join(parts)})"
