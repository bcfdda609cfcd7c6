"""Graphs of a step, of what was recorded: shapes with the number of examples left open, arguments as plain values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Sequence as SequenceOf
from typing import TYPE_CHECKING, Any

from tfmemlint.estimate.facts import shaped
from tfmemlint.estimate.facts.asked import Asked
from tfmemlint.estimate.facts.recorded import Node
from tfmemlint.estimate.facts.values import Closure, Held, Object, Origin, Traced, plain
from tfmemlint.estimate.step import Applied, Graph, Missing, Tensor
from tfmemlint.model.values import Api, Array, Const, Length, Sequence, Value, constant

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine

LEFT_OUT = re.compile(
    r"name|.*(initializer|constraint)|(bias|activity|gamma|beta)_regularizer|(batch_)?input_(shape|dim|length)|weights|dtype|trainable|layer|"
    r"autocast|seed|function|mask|arguments|output_shape|cells?"
)
"""Arguments that decide nothing of a step's bytes, or that are said elsewhere."""

LAYERS = "the layers of the model"
"""What is missing where a model is loaded, or made in a way that is not followed."""

SET = "--set"
"""The option that gives an expression its value."""

KEPT = {"Embedding": ("input_dim",), "MultiHeadAttention": ("output_shape",)}


def graph(
    machine: Machine, nodes: Iterable[Node], inputs: SequenceOf[int], outputs: SequenceOf[int], batch: int | None
) -> tuple[Graph, list[Missing]]:
    """The graph of what was applied, and what is not known of it."""
    applied: list[Applied] = []
    missing: list[Missing] = []
    used = dict.fromkeys([*inputs, *outputs])
    for node in nodes:
        applied.append(_applied(node))
        used.update(dict.fromkeys((*node.inputs, *node.outputs)))
        if _begins(machine, node):
            option = "--model" if node.why == LAYERS else None
            unnamed = Missing(node.why or f"what `{node.kind}` gives", node.line, option)
            missing += asked_for(node.lacks) or [unnamed]
    tensors = {number: tensor(machine.record.tensors[number], batch) for number in used}
    return Graph(tensors, tuple(applied), tuple(inputs), tuple(outputs)), missing


def asked_for(lacks: Iterable[Origin]) -> list[Missing]:
    """What a user is asked for, where these expressions are not known."""
    return [Missing(f"`{each.text}`", each.line, SET, name=each.text) for each in dict.fromkeys(lacks)]


def _begins(machine: Machine, node: Node) -> bool:
    """Whether what is not known begins here, and not in what the node is given."""
    tensors = machine.record.tensors
    taken, given = (any(not _is_known(tensors[n]) for n in several) for several in (node.inputs, node.outputs))
    return (given or bool(node.why)) and not taken


def _is_known(tensor: Traced) -> bool:
    """Whether all sizes of a tensor but the number of examples are known."""
    return tensor.shape is not None and None not in tensor.shape[1:]


def tensor(of: Array, batch: int | None) -> Tensor:
    """A tensor with the number of examples left open. Of a shape that is not known only that there is one."""
    dtype = of.dtype or "float32"
    if of.shape is None:
        return Tensor((None, None), dtype)
    first = of.shape[0] if of.shape else 0
    if not of.shape or first is None:
        return Tensor(of.shape, dtype)
    if batch and first and first % batch == 0 and first >= batch:
        return Tensor((None, *of.shape[1:]), dtype, first // batch)
    return Tensor(of.shape, dtype)


def _applied(node: Node) -> Applied:
    op = node.op
    if op is None:
        said = {name: found for name, value in node.arguments.items() if (found := plainly(value)) is not None}
        return Applied(node.kind, node.kind, node.line, -id(node), node.inputs, node.outputs, said,
                       training=node.training)  # fmt: skip
    remat = constant(op.fields["#remat"]) if "#remat" in op.fields else node.remat
    return Applied(
        node.kind, str(constant(op.fields.get("name", Const(node.kind)))), node.line, op.serial, node.inputs,
        node.outputs, arguments(op), _inner(op), _trainable(op), node.training, shaped.dtype_of_layer(op),
        remat if isinstance(remat, int) else None, tuple(asked_for(node.lacks)),
    )  # fmt: skip


def _trainable(op: Object) -> bool:
    return constant(op.fields.get("trainable", Const(True))) is not False


def _inner(op: Object) -> Applied | None:
    """The layer that another one holds."""
    held = op.call.given_values.get(0, "layer") if isinstance(op.call, Asked) and op.of is None else None
    kind = (op.type_name or "").rpartition(".")[2]
    if not isinstance(held, Object) or kind not in ("Bidirectional", "TimeDistributed", "RNN", "Wrapper"):
        return None
    name = str(constant(held.fields.get("name", Const("layer"))))
    inner = (held.type_name or "").rpartition(".")[2]
    return Applied(inner, name, 0, held.serial, (), (), arguments(held), _inner(held), _trainable(held))


def arguments(op: Object) -> dict[str, Any]:
    """What a layer was made with, as plain values by Keras' names."""
    call = op.call
    if not isinstance(call, Asked) or op.of is not None:
        return {}
    kind = (op.type_name or "").rpartition(".")[2]
    given = dict(zip(call.parameter_names, call.given_values.positions, strict=False)) | dict(call.given_values.names)
    found: dict[str, Any] = {}
    for name, value in given.items():
        if LEFT_OUT.fullmatch(name) and name not in KEPT.get(kind, ()):
            continue
        said = plainly(value)
        if said is not None:
            found[name] = said
    return found


def plainly(value: Value) -> Any:
    """A number, word or tuple of such; of a function or object its name; None for what is not known."""
    value = value if isinstance(value, (Object, Closure, Held)) else plain(value)
    if isinstance(value, (Const, Length)):
        return constant(value)
    if isinstance(value, Sequence):
        found = tuple(map(plainly, value.items))
        return None if value.open else found
    if isinstance(value, Api):
        return value.name.rpartition(".")[2]
    if isinstance(value, Object) and value.type_name is not None:
        return _snake(value.type_name.rpartition(".")[2])
    if isinstance(value, Closure):
        return getattr(getattr(value.node, "name", None), "value", "lambda")
    return None


def _snake(word: str) -> str:
    """The name of a function that does what a layer of this class does: `LeakyReLU` is `leaky_relu`."""
    if word in ("ReLU", "ELU", "PReLU"):
        return word.lower()
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).lower()


def reaching(machine: Machine, nodes: Iterable[Node], outputs: Iterable[int]) -> list[Node]:
    """Those of some nodes, in their order, on which tensors rest."""
    wanted = set(outputs)
    found: list[Node] = []
    for node in reversed(list(nodes)):
        if wanted.intersection(node.outputs):
            found.append(node)
            wanted.update(node.inputs)
    return found[::-1]
