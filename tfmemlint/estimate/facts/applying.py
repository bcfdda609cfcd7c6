"""What a layer or model does to tensors, noted as nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts import graphs, lacking, networks, objects, operations, origins, replaying, shaped, stated
from tfmemlint.estimate.facts.asked import Arguments, Asked
from tfmemlint.estimate.facts.recorded import Node
from tfmemlint.estimate.facts.values import NONE, Closure, Held, Object, Traced, leaves, plain
from tfmemlint.model.values import Array, Const, Sequence, Shape, Unknown, Value, constant

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine

ATTENDED = ("query", "value", "key")


def apply(machine: Machine, layer: Object, given: Arguments, node: cst.CSTNode | None) -> Value:
    """What a layer or model gives when it is called."""
    training = constant(given.names["training"]) if "training" in given.names else None
    training = training if isinstance(training, bool) else None
    if machine.given.input_shape is not None and machine.batches:
        given = _said(machine, given)
    own = machine.method(layer.of, "call") if layer.of is not None else None
    base = layer.fields.get("#base")
    if own is None and isinstance(base, Object):
        return apply(machine, base, given, node)
    if own is not None:
        given = stated.arguments(machine, layer, given)
        return _own(machine, layer, own[0], given, node, training)
    tensors = stated.tensors(machine, layer, _tensors(machine, given))
    if tensors is None:
        return _not_known(machine, layer, given, node)
    if networks.is_sequential(layer) or networks.is_functional(layer):
        return _network(machine, layer, tensors, node, training)
    if layer.type_name == "tf.keras.layers.Lambda":
        return _lambda(machine, layer, given, node, training)
    if layer.of is not None or networks.is_model(layer):
        return _not_known(machine, layer, given, node)
    return _layer(machine, layer, tensors, node, training)


def _said(machine: Machine, given: Arguments) -> Arguments:
    """The data of a loop that are not known, as they are said to be."""
    shape, batch = machine.given.input_shape or (), machine.batches[-1]
    positions = list(given.positions)
    for place, value in enumerate(positions[:1]):
        made = isinstance(value, Traced) and value.number not in batch.numbers
        unknown = isinstance(value, Unknown) or (isinstance(value, Array) and not made)
        if unknown and (not isinstance(value, Array) or value.shape is None or None in value.shape[1:]):
            tensor = machine.record.tensor((batch.size, *shape), "float32", "tf")
            batch.numbers[tensor.number] = tensor
            positions[place] = tensor
    return Arguments(tuple(positions), given.names, given.open)


def _tensors(machine: Machine, given: Arguments) -> list[Traced] | None:
    """The tensors that a layer is called on; None where one is not known."""
    values = list(given.positions)
    values += [given.names[word] for word in ("inputs", "x", *ATTENDED, "initial_state") if word in given.names]
    flat = [leaf for value in values for leaf in leaves(value) if leaf != NONE and not _is_mark(leaf)]
    found = [machine.tensor_of(leaf) for leaf in flat]
    known = [each for each in found if each is not None]
    return known if known and len(known) == len(found) else None


def _is_mark(value: Value) -> bool:
    return isinstance(value, Const)


def _not_known(machine: Machine, layer: Object, given: Arguments, node: cst.CSTNode | None) -> Value:
    """A layer of which is not known what it gives, or of inputs that are not known."""
    tensors = [t for value in (*given.positions, *given.names.values()) for t in leaves(value)]
    known = [t for t in tensors if isinstance(t, Traced)]
    kind = layer.of.node.name.value if layer.of is not None else (layer.type_name or "").rpartition(".")[2]
    why = graphs.LAYERS if layer.of is None and networks.is_model(layer) else f"what `{kind}` gives"
    made = machine.record.tensor(None, None)
    line = operations.line_of(machine, node)
    lacks = lacking.of_arguments(given, tensors=True)
    inputs = tuple(t.number for t in known)
    machine.record.add(Node(kind, line, inputs, (made.number,), op=layer, why=why, lacks=lacks))
    return made


# -- layers ----------------------------------------------------------------------------------------------------------


def _layer(
    machine: Machine, layer: Object, tensors: list[Traced], node: cst.CSTNode | None, training: bool | None
) -> Value:
    """One layer of Keras."""
    shapes = shaped.of_layer(layer, [t.shape for t in tensors])
    outputs: list[Shape | None] = [None] if shapes is None else [*shapes]
    kind = (layer.type_name or "").rpartition(".")[2]
    dtype = shaped.dtype_of_layer(layer)
    library = "keras" if any(t.library == "keras" for t in tensors) else "tf"
    made = [machine.record.tensor(shape, dtype, library) for shape in outputs]
    for given, given_ in (("#in", tensors[0]), ("#out", made[0])):
        if given not in layer.fields:
            machine.put(layer.fields, given, given_)
    line = operations.line_of(machine, layer.call.node if layer.call is not None else node)
    why = "" if shapes else f"what `{kind}` gives" if all(t.shape is not None for t in tensors) else "its input"
    machine.record.add(
        Node(
            kind,
            line,
            tuple(t.number for t in tensors),
            tuple(t.number for t in made),
            layer,
            training,
            why=why,
            lacks=origins.as_written(machine, lacking.of_layer(layer)),
        )
    )
    return made[0] if len(made) == 1 else objects.new_list(Sequence(tuple(made), "list"))


def _lambda(
    machine: Machine, layer: Object, given: Arguments, node: cst.CSTNode | None, training: bool | None
) -> Value:
    """A `Lambda`: its function is followed."""
    function = layer.call.given_values.get(0, "function") if isinstance(layer.call, Asked) else None
    if not isinstance(node, cst.Call) or not isinstance(function, (Closure, Held)):
        function = None
    extra = layer.call.given_values.get(None, "arguments") if isinstance(layer.call, Asked) else None
    if function is None or extra is not None:
        return _not_known(machine, layer, given, node)
    assert isinstance(node, cst.Call)
    return _inside(machine, layer, "Lambda", given, node, training, lambda: machine.call(function, given, node))


def _own(
    machine: Machine, layer: Object, method: Closure, given: Arguments, node: cst.CSTNode | None, training: bool | None
) -> Value:
    """A layer or model of a class of the program: its `call` is followed."""
    assert layer.of is not None
    build = machine.method(layer.of, "build")
    if build is not None and "#built" not in layer.fields:
        machine.put(layer.fields, "#built", Const(True))
        first = given.positions[0] if given.positions else Unknown("inputs")
        machine.run(objects.with_receiver(build[0], layer), (_shapes(first),), {}, node)
    names = dict(given.names)
    accepted = {p.name.value for p in (*method.node.params.params, *method.node.params.kwonly_params)}
    for extra in ("training", "mask"):
        if extra in names and extra not in accepted and method.node.params.star_kwarg is None:
            del names[extra]
    if "training" in accepted and "training" not in names and len(given.positions) < 2:
        names["training"] = Const(training is not False)  # what is estimated is mostly a step of training
    positions = tuple(machine.tensor_of(each) or each for each in given.positions)
    run = objects.with_receiver(method, layer)
    kind = layer.of.node.name.value
    return _inside(
        machine, layer, kind, Arguments(positions, names), node, training,
        lambda: machine.run(run, positions, names, node),
    )  # fmt: skip


def _shapes(value: Value) -> Value:
    if isinstance(value, Array):
        shape = plain(value).attribute("shape")
        return Sequence(tuple(Const(n) for n in value.shape)) if value.shape is not None else shape
    inner = leaves(value)
    return Sequence(tuple(_shapes(each) for each in inner)) if len(inner) > 1 else Unknown("a shape")


def _inside(
    machine: Machine, layer: Object, kind: str, given: Arguments, node: cst.CSTNode | None, training: bool | None,
    run: Callable[[], Value],
) -> Value:  # fmt: skip
    """Follow what a layer does, as one node that holds the others."""
    outer, machine.record.now = machine.record.now, []
    try:
        made = run()
        inside = machine.record.now
    finally:
        machine.record.now = outer
    tensors = [t for value in (*given.positions, *given.names.values()) for t in leaves(value)]
    inputs = [t.number for t in tensors if isinstance(t, Traced)]
    outputs = [t for t in leaves(made) if isinstance(t, Traced)]
    line = operations.line_of(machine, layer.call.node if layer.call is not None else node)
    if not outputs:
        if not made.known:
            return _not_known(machine, layer, given, node)
        return made
    numbers = tuple(t.number for t in outputs if t.number not in inputs)
    group = constant(layer.fields.get("#remat", NONE))
    for part in (one for node_ in inside for one in node_.flat()):
        part.remat = group if isinstance(group, int) else part.remat
    if numbers:
        machine.record.add(Node(kind, line, tuple(inputs), numbers, layer, training, inside=inside))
    else:
        machine.record.now += inside
    for each in (("#in", next((t for t in tensors if isinstance(t, Traced)), None)), ("#out", outputs[0])):
        if each[0] not in layer.fields and each[1] is not None:
            machine.put(layer.fields, each[0], each[1])
    return made


def foreign(machine: Machine, layer: Object, given: Arguments) -> Value:
    """A layer of another library of which no more is known than that it keeps the shape."""
    tensors = _tensors(machine, given)
    node = layer.call.node if layer.call is not None else None
    if tensors is None:
        return _not_known(machine, layer, given, node)
    kind = (layer.type_name or "").rpartition(".")[2]
    made = machine.record.tensor(tensors[0].shape, tensors[0].dtype, tensors[0].library)
    line, inputs = operations.line_of(machine, node), (tensors[0].number,)
    machine.record.add(Node(kind, line, inputs, (made.number,), layer, why=f"what `{kind}` keeps"))
    return made


# -- models ----------------------------------------------------------------------------------------------------------


def _network(
    machine: Machine, model: Object, tensors: list[Traced], node: cst.CSTNode | None, training: bool | None
) -> Value:
    """A `Sequential` or functional model that is applied to tensors."""
    given = Arguments(tuple(tensors), {})
    name = model.fields.get("name", Const("model"))
    if networks.is_sequential(model):
        return _inside(
            machine, model, str(constant(name)), given, node, training,
            lambda: through(machine, model, tensors[0], training),
        )  # fmt: skip
    return _inside(
        machine, model, str(constant(name)), given, node, training, lambda: replayed(machine, model, tensors, training)
    )


def through(machine: Machine, model: Object, tensor: Traced, training: bool | None) -> Value:
    """A tensor through the layers of a `Sequential`."""
    listed = networks.layers_listed(model)
    if listed is None:
        return _not_known(machine, model, Arguments((tensor,)), None)
    found: Value = tensor
    names = {} if training is None else {"training": Const(training)}
    for layer in listed:
        if isinstance(layer, Object) and networks.is_layer(layer):
            found = apply(machine, layer, Arguments((found,), names), layer.call.node if layer.call else None)
        elif isinstance(layer, Object) and isinstance(layer.call, Asked):
            found = machine.call(layer, Arguments((found,)), layer.call.node)
        else:
            known = [found] if isinstance(found, Traced) else []
            made_at = model.call.node if model.call is not None else None
            found = operations.unknown(machine, "a layer that is not known", known, made_at)
    return found


def replayed(machine: Machine, model: Object, tensors: list[Traced], training: bool | None) -> Value:
    """Tensors through the graph of a functional model."""
    ends = networks.built(machine, model)
    nodes = _order(machine, ends)
    if ends is None or nodes is None or len(ends[0]) != len(tensors):
        return _not_known(machine, model, Arguments(tuple(tensors)), None)
    now = {old.number: new for old, new in zip(ends[0], tensors, strict=True)}
    for node in nodes:
        replaying.replay(machine, node, now, training)
    made = [now.get(t.number) for t in ends[1]]
    found = [each if each is not None else Unknown("an output") for each in made]
    return found[0] if len(found) == 1 else objects.new_list(Sequence(tuple(found), "list"))


def _order(machine: Machine, ends: tuple[list[Traced], list[Traced]] | None) -> list[Node] | None:
    return machine.record.order((t.number for t in ends[0]), (t.number for t in ends[1])) if ends else None


def rematerialised(machine: Machine, of: Object | Closure) -> Value:
    """`keras.remat(layer)`: what is computed again in the backward pass."""
    if isinstance(of, Closure):
        return replace(of, remat=True)
    if isinstance(of, Object):
        machine.serial += 1
        machine.put(of.fields, "#remat", Const(machine.serial))
    return of
