"""Other libraries that take memory of the GPU that TensorFlow uses: CuPy, PyTorch, JAX and their like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Api, Const, Instance, Value
from tfmemlint.query.facts import Fact
from tfmemlint.query.ordering.conditions import conditions
from tfmemlint.syntax.scopes import dotted, parameters
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

LIBRARIES = ("cupy", "torch", "jax", "numba", "pycuda", "cudf")


@dataclass(frozen=True, slots=True)
class Allocation:
    """A call by which a library takes memory of the GPU."""

    library: str
    call: Call


def _allocations(file: File) -> Iterator[Allocation]:
    if not _imports(file, "tensorflow") and not _imports(file, "tf_keras"):
        return  # Keras alone may run on the other library
    used = {library for library in LIBRARIES if _always_imported(file, library)}
    for node in file.tree.of(cst.Call) if used else ():
        call = file.call(node)
        library = _allocates(file, call)
        if library in used and not any(conditions(file, node)):
            yield Allocation(library, call)


gpu_allocations = Fact(_allocations, *LIBRARIES)
"""Each call by which another library certainly takes memory of the GPU, if there is one, in a program of TensorFlow
that always uses it: its import and the call stand under no condition, and where TensorFlow is imported inside of
functions the library is imported beside it. What its objects' methods do is known of PyTorch alone: `.cuda()` and
`.to("cuda")`. Nothing for a program that imports Keras alone, which may run on the other library."""


def _allocates(file: File, call: Call) -> str:
    """The library that a call takes memory of the GPU for, or ""."""
    name = call.name or ""
    if name.startswith("torch.") and not name.startswith("torch.cuda.") and name != "torch.device":
        return "torch" if _on_gpu(file, call.given("device")) else ""
    if knowledge.in_group(name, "allocates_on_gpu"):
        return name.partition(".")[0]
    return "torch" if _moves_to_gpu(file, call) else ""


def _moves_to_gpu(file: File, call: Call) -> bool:
    """`tensor.cuda()`, `model.to("cuda")`: methods of what is not known, but not TensorFlow's."""
    if call.receiver_node is None or (call.name or "").startswith(("tf.", "np.")):
        return False
    if call.method == "cuda":
        return not isinstance(file.value(call.receiver_node), Api)
    given = call.given(0) if call.arg(0) is not None else call.given("device")
    return call.method == "to" and _on_gpu(file, given)


def _on_gpu(file: File, device: Value) -> bool:
    """Whether a device of PyTorch may be the GPU: `"cuda"`, `"cuda:0"`, `torch.device("cuda" if ... else "cpu")`. One
    that a function chooses for its callers must be, whatever they ask for."""
    for option in device.options:
        of_gpu = any
        if isinstance(option, Instance) and option.type_name == "torch.device" and option.call is not None:
            of_gpu = all if _is_for_callers(file, option.call.node) else any
            option = option.call.value_of(0)
        if of_gpu(isinstance(o, Const) and str(o.value).startswith("cuda") for o in option.options):
            return True
    return False


def _is_for_callers(file: File, node: Node) -> bool:
    """Whether code stands in a function that is told something."""
    function = file.contexts.function(node)
    return function is not None and next(parameters(function), None) is not None


def _always_imported(file: File, library: str) -> bool:
    """Whether a library is imported without a condition: it is not one back end of several."""
    homes = {file.contexts.function(s) for name in ("tensorflow", "keras") for s in _imports(file, name)}
    return any(
        not any(conditions(file, s)) and (None in homes or file.contexts.function(s) in (None, *homes))
        for s in _imports(file, library)
    )


def _imports(file: File, library: str) -> list[Node]:
    """The statements that import a library or something of it."""
    found: list[tuple[Node, Node]] = [(s, alias.name) for s in file.tree.of(cst.Import) for alias in s.names]
    found += [(s, s.module) for s in file.tree.of(cst.ImportFrom) if s.module is not None]
    return [s for s, name in found if (dotted(name) or "").partition(".")[0] == library]
