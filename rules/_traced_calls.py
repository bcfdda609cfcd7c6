"""Calls of traced functions."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Function


def traced_calls(file: File) -> Iterator[tuple[Call, Function]]:
    """The calls, in source order, of which what is called is certainly a traced function of this file."""
    for node in file.tree.of(cst.Call):
        call = file.call(node)
        targets = call.target.options
        if all(isinstance(t, Function) and t.traced for t in targets) and isinstance(targets[0], Function):
            yield call, targets[0]


def signed(function: Function, file: File) -> bool:
    """Whether an `input_signature` says what the function is traced for."""
    return says(function, frozenset({"input_signature"}), file)


def says(function: Function, words: frozenset[str], file: File) -> bool:
    """Whether the `tf.function` of a function is given one of these keywords."""
    makers = [d.decorator for d in getattr(function.node, "decorators", ())]
    for call in file.calls("tf.function"):
        wrapped = call.value_of(0, "func").options
        makers += [call.node] if any(isinstance(o, Function) and o.node is function.node for o in wrapped) else []
    return any(isinstance(m, cst.Call) and any(a.keyword and a.keyword.value in words for a in m.args) for m in makers)
