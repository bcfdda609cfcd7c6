"""The step of a `fit`, `train_on_batch` or `predict`: the model's graph for one batch of what it is given."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts import applying, feeding, graphs, lacking, losing, networks, operations, training
from tfmemlint.estimate.facts.asked import Arguments
from tfmemlint.estimate.facts.feeding import Feed
from tfmemlint.estimate.facts.recorded import Node
from tfmemlint.estimate.facts.values import NONE, Listed, Object, Origin, Traced, leaves
from tfmemlint.estimate.step import Graph, Loss, Missing, Optimizer, Pass, Tensor, TrainingStep
from tfmemlint.model.values import Array, Const, Shape, constant

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine

Ends = tuple[list[Node], list[int], list[int]]
"""What is applied, the numbers of the inputs and of the outputs."""


def step(machine: Machine, model: Object, name: str, given: Arguments, node: cst.Call) -> None:
    """Note the step of a call."""
    line = operations.step_line(machine, node)
    train = name in training.FITS
    feed = feeding.of_call(machine, name, given, node)
    missing: list[Missing] = []
    batch = _batch(machine, feed, line, missing)
    ends = forward(machine, model, feed.inputs, node, train)
    if ends is None:
        missing += graphs.asked_for(_lacks(machine, model)) or [_what_is_missing(machine, model, feed, line)]
        passes: tuple[Pass, ...] = ()
    else:
        nodes, inputs, outputs = ends
        losses: list[Loss] = []
        optimizer = _optimizer(machine, model, line, missing) if train else None
        if train:
            found, unknown = losing.compiled(machine, model, outputs, feed.labels, node, line)
            missing += unknown
            nodes, losses, outputs = [*nodes, *found.nodes], found.losses, [*found.outputs, *found.rest]
        graph, unknown = graphs.graph(machine, nodes, inputs, outputs, batch)
        missing += unknown
        missing += inputs_missing(machine, graph, line)
        passes = (Pass(graph, tuple(losses), optimizer, backward=train),)
    taken = [passes[0].graph.tensors[number] for number in passes[0].graph.inputs] if passes else []
    shown = _data(feed, taken, train)
    machine.events.append(
        TrainingStep(
            line, f"{words(machine, node)}(...)", describe(machine, model, passes), passes, tuple(shown), batch,
            precision(machine), _mode(machine, model), tuple(missing),
        )
    )  # fmt: skip


def _data(feed: Feed, taken: list[Tensor], train: bool) -> list[Tensor]:
    """The tensors of one batch: what is given, with the lengths of what the model takes where those are not known."""
    if feed.inputs is None and taken:
        return taken
    found = [graphs.tensor(a, None) for a in feed.inputs or []]
    if len(found) == len(taken):
        found = [replace(one, shape=other.shape) if None in one.shape[1:] else one
                 for one, other in zip(found, taken, strict=True)]  # fmt: skip
    return [*found, *(graphs.tensor(a, None) for a in (feed.labels if train else []))]


def _batch(machine: Machine, feed: Feed, line: int, missing: list[Missing]) -> int | None:
    batch = feed.batch if feed.batch is not None else machine.given.batch
    if batch is None:
        missing.append(Missing("the batch size", line, "--batch", bounds=False))
    return batch


def _optimizer(machine: Machine, model: Object, line: int, missing: list[Missing]) -> Optimizer | None:
    given = training.compiled(model)
    optimizer = training.optimizer_of(given.get(0, "optimizer")) if given is not None else None
    if optimizer is None and given is not None and given.get(0, "optimizer") is None and not given.open:
        optimizer = Optimizer("RMSprop")
    optimizer = optimizer or machine.given.optimizer
    if optimizer is None:
        missing.append(Missing("the optimizer", line, "--optimizer"))
    return optimizer


def _what_is_missing(machine: Machine, model: Object, feed: Feed, line: int) -> Missing:
    if networks.is_sequential(model) and networks.layers_listed(model) is None:
        return Missing(graphs.LAYERS, line, "--model")
    own = model.of is not None and machine.method(model.of, "call") is not None
    known = feed.inputs is not None and all(a.shape is not None for a in feed.inputs)
    if not known and (networks.is_sequential(model) or own):
        return Missing("the shape of the input", line, "--input")
    return Missing(graphs.LAYERS, line, "--model")


def _lacks(machine: Machine, model: Object) -> tuple[Origin, ...]:
    """What of the program is not known, for want of which nothing is known of what a model applies."""
    if networks.is_sequential(model):
        listed = model.fields["#layers"]
        if networks.layers_listed(model) is None:
            return machine.causes.get((id(listed.fields), "items"), ()) if isinstance(listed, Listed) else ()
        return networks.input_lacks(machine, model)
    if networks.is_functional(model):
        ends = (model.fields["#inputs"], model.fields["#outputs"])
        return tuple(dict.fromkeys(origin for end in ends for origin in lacking.of_tensors(end)))
    return ()


def inputs_missing(machine: Machine, graph: Graph, line: int) -> list[Missing]:
    """Sizes of the inputs that are not known."""
    gaps = [number for number in graph.inputs if None in graph.tensors[number].shape[1:]]
    named = graphs.asked_for(origin for number in gaps for origin in machine.record.lacks.get(number, ()))
    return named or ([Missing("the shape of the input", line, "--input")] if gaps else [])


# -- the way through a model ------------------------------------------------------------------------------------------


def forward(machine: Machine, model: Object, inputs: list[Array] | None, node: cst.CSTNode, train: bool) -> Ends | None:
    """What a model applies to one batch; None where that is not known."""
    ends = networks.built(machine, model)
    own = model.of is not None and machine.method(model.of, "call") is not None
    shape = machine.given.input_shape
    if networks.is_sequential(model) and networks.layers_listed(model) is None and not own:
        return None
    if ends is not None and not own:
        if not _has_gaps(ends[0]):
            return _symbolic(machine, ends)
        inputs = inputs if _fits(inputs, ends[0]) else _said(ends[0], shape)
        return _applied(machine, model, inputs, node, train) if inputs is not None else _symbolic(machine, ends)
    stated = model.fields.get("#shape")
    if isinstance(stated, Traced) and (inputs is None or any(a.shape is None for a in inputs)):
        inputs = [Array("tf", "float32", (None, *(stated.shape or ())[1:]))]
    if inputs is None or any(a.shape is None or None in a.shape[1:] for a in inputs):
        inputs = [Array("tf", "float32", (None, *shape))] if shape is not None else inputs
    known = own or networks.is_sequential(model) or ends is not None
    if inputs is None or any(a.shape is None for a in inputs) or not known:
        return None
    return _applied(machine, model, inputs, node, train)


def _said(wanted: list[Traced], shape: tuple[int, ...] | None) -> list[Array] | None:
    """The inputs that a model states, where those with gaps have the shape that is said if it fits them: labels that
    are an input, too, have another one. None where it fits none."""
    if shape is None:
        return None
    filled = [(None, *shape) if _has_gaps([each]) and _may_be(each.shape, shape) else each.shape for each in wanted]
    if filled == [each.shape for each in wanted]:
        return None
    return [Array("tf", each.dtype, sizes) for each, sizes in zip(wanted, filled, strict=True)]


def _may_be(stated: Shape | None, shape: tuple[int, ...]) -> bool:
    """Whether an input of a stated shape, with the number of examples first, takes examples of this one."""
    if stated is None:
        return True
    return len(stated) == len(shape) + 1 and all(n in (None, m) for n, m in zip(stated[1:], shape, strict=True))


def _has_gaps(inputs: list[Traced]) -> bool:
    return any(t.shape is None or None in t.shape[1:] for t in inputs)


def _fits(given: list[Array] | None, wanted: list[Traced]) -> bool:
    """Whether arrays say more than the inputs that a model states."""
    if given is None or len(given) != len(wanted):
        return False
    return all(a.shape is not None and len(a.shape) == len(t.shape or a.shape) and None not in a.shape[1:]
               for a, t in zip(given, wanted, strict=True))  # fmt: skip


def _symbolic(machine: Machine, ends: tuple[list[Traced], list[Traced]]) -> Ends | None:
    inputs, outputs = [t.number for t in ends[0]], [t.number for t in ends[1]]
    order = machine.record.order(inputs, outputs)
    return None if order is None else ([each for node in order for each in node.flat()], inputs, outputs)


def _applied(machine: Machine, model: Object, inputs: list[Array], node: cst.CSTNode, train: bool) -> Ends | None:
    kept, machine.record.now = machine.record.now, []
    try:
        tensors = tuple(machine.record.tensor(a.shape, as_fed(a.dtype), "tf") for a in inputs)
        names = {"training": Const(train)}
        own = model.of is not None and machine.method(model.of, "call") is not None
        structure = tensors if len(tensors) == 1 or not own else (_together(tensors),)
        made = applying.apply(machine, model, Arguments(structure, names), _as_call(node))
        nodes = machine.record.now
    finally:
        machine.record.now = kept
    outputs = [leaf.number for leaf in leaves(made) if isinstance(leaf, Traced)]
    if not outputs:
        return None
    flat = [each for one in nodes for each in one.flat()]
    return graphs.reaching(machine, flat, outputs), [t.number for t in tensors], outputs


def _together(tensors: tuple[Traced, ...]):  # type: ignore[no-untyped-def]
    from tfmemlint.model.values import Sequence

    return Sequence(tensors)


def _as_call(node: cst.CSTNode) -> cst.CSTNode:
    return node


def as_fed(dtype: str | None) -> str | None:
    """The dtype in which a layer takes data: floats as float32."""
    return "float32" if dtype == "float64" else dtype


# -- words -----------------------------------------------------------------------------------------------------------


def words(machine: Machine, node: cst.Call) -> str:
    """What a call is written like, without its arguments."""
    text = " ".join(machine.file.text(node.func).split())
    return text if len(text) <= 60 else f"...{text[-56:]}"


def describe(machine: Machine, model: Object, passes: tuple[Pass, ...]) -> str:
    """What is trained: the kind of model and how many layers it has."""
    kind = model.of.node.name.value if model.of is not None else "functional"
    if model.of is None and networks.is_sequential(model):
        kind = "Sequential"
    known = {applied.layer for each in passes for applied in each.graph.applied if applied.layer > 0}
    return f"{kind}, {len(known)} layers" if known else kind


def precision(machine: Machine) -> str:
    """The policy that the program sets for all layers."""
    policy = machine.settings.get("policy", NONE)
    if isinstance(policy, Object) and policy.call is not None:
        policy = policy.call.given(0, "name")
    said = constant(policy)
    return said if isinstance(said, str) else machine.given.precision or "float32"


def _mode(machine: Machine, model: Object) -> str:
    given = training.compiled(model)
    eager = constant(machine.settings.get("eager", NONE))
    said = given.get(None, "run_eagerly") if given is not None else None
    if eager is True or constant(model.fields.get("run_eagerly", said or NONE)) is True:
        return "eager"
    jit = given.get(None, "jit_compile") if given is not None else None
    return "jit" if jit is not None and constant(jit) is True else "graph"
