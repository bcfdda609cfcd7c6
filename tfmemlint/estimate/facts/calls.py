"""Calls: of the program's functions and classes, which are followed, and of libraries."""

from __future__ import annotations

from collections.abc import Mapping as MappingOf
from collections.abc import Sequence as SequenceOf
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts import (
    lacking,
    libraries,
    listing,
    networks,
    objects,
    operations,
    origins,
    pipelines,
    tapes,
    texts,
)
from tfmemlint.estimate.facts.asked import Arguments, Asked
from tfmemlint.estimate.facts.known import items
from tfmemlint.estimate.facts.values import (
    NONE,
    Bound,
    Closure,
    Env,
    Held,
    Kind,
    Listed,
    Object,
    Super,
    api_above,
    join,
    plain,
    traced,
)  # fmt: skip
from tfmemlint.model.transfer import transfer
from tfmemlint.model.values import (
    Api,
    Dataset,
    Instance,
    Iterator,
    Mapping,
    Method,
    OneOf,
    Sequence,
    Unknown,
    Value,
    one_of,
)  # fmt: skip
from tfmemlint.syntax.scopes import positional

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine

MOST_AGAIN = 12
"""Calls of one function inside of itself."""


def follow(machine: Machine, node: cst.Call, env: Env) -> Value:
    """What a call gives; what it does is done."""
    func = node.func
    machine.reached.add(id(node))
    if isinstance(func, cst.Name) and func.value == "super" and env.home("super") is None:
        return _super(env)
    target = machine.value(func, env)
    if isinstance(func, cst.Attribute) and func.attr.value in pipelines.BATCHES and not target.known:
        return pipelines.batched(machine, arguments(machine, node, env), func.attr.value, node)
    return call(machine, target, arguments(machine, node, env), node)


def _super(env: Env) -> Value:
    home = env.home("__class__")
    owner = home.names["__class__"] if home is not None else None
    receiver = home.names.get("__self__") if home is not None else None
    return Super(receiver, owner) if isinstance(owner, Kind) and receiver is not None else Unknown("super()")


def arguments(machine: Machine, node: cst.Call, env: Env) -> Arguments:
    """What a call passes."""
    positions: list[Value] = []
    names: dict[str, Value] = {}
    open_ = False
    for arg in node.args:
        value = machine.value(arg.value, env)
        if arg.star == "*":
            several = items(value)
            positions += several or ()
            open_ = open_ or several is None
        elif arg.star:
            inside = value.items if isinstance(value, Listed) else value
            if isinstance(inside, Mapping):
                names.update((str(key), item) for key, item in inside.items)
            open_ = open_ or not isinstance(inside, Mapping) or inside.open
        elif arg.keyword is not None:
            names[arg.keyword.value] = value
        else:
            positions.append(value)
    return Arguments(tuple(positions), names, open_)


def call(machine: Machine, target: Value, given: Arguments, node: cst.Call) -> Value:
    """What calling a value gives."""
    if isinstance(target, Closure) and target.remat:
        return _again(machine, target, given, node)
    if isinstance(target, Closure):
        return run(machine, target, given.positions, given.names, node, given.open)
    if isinstance(target, Kind):
        return _made(machine, target, given, node)
    if isinstance(target, Held):
        positions = (*target.positions, *given.positions)
        return call(machine, target.of, Arguments(positions, {**target.names, **given.names}, given.open), node)
    if isinstance(target, Object):
        return libraries.called(machine, target, given, node)
    if isinstance(target, Bound):
        return libraries.method(machine, target.receiver, target.name, given, node)
    if isinstance(target, listing.ListMethod):
        return listing.called(machine, target, given)
    if isinstance(target, operations.TensorMethod):
        return operations.tensor_method(machine, target, given, node)
    if isinstance(target, texts.TextMethod):
        return texts.called(target, given)
    if isinstance(target, Api):
        return libraries.api(machine, target, given, node)
    if isinstance(target, Method):
        return _method(machine, target, given, node)
    if isinstance(target, OneOf):
        return one_of(call(machine, each, given, node) for each in target.options)
    return unknown(machine, target, given, node)


def _again(machine: Machine, target: Closure, given: Arguments, node: cst.Call) -> Value:
    """A call whose layers are computed again in the backward pass, as one block."""
    machine.serial += 1
    block, start = machine.serial, len(machine.record.now)
    made = run(machine, target, given.positions, given.names, node, given.open)
    for part in (one for each in machine.record.now[start:] for one in each.flat()):
        part.remat = block
    return made


def unknown(machine: Machine, target: Value, given: Arguments, node: cst.Call) -> Value:
    """What a call gives of which is not known what it calls: of tensors a tensor of unknown shape. An optimizer applies
    gradients also where nothing is known of it."""
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "apply_gradients":
        tapes.apply(machine, target, given)
        return NONE
    tensors = [t for value in (*given.positions, *given.names.values()) for t in traced(value)]
    if not tensors:
        return Unknown("a call of what is not known")
    word = node.func.attr.value if isinstance(node.func, cst.Attribute) else getattr(node.func, "value", "a call")
    lacks = (*lacking.of_tensors(target), *lacking.of_arguments(given, tensors=True))
    return operations.unknown(machine, str(word), tensors, node, lacks)


def _method(machine: Machine, target: Method, given: Arguments, node: cst.Call) -> Value:
    """A method of an array, a dataset or another value of the model."""
    receiver = target.receiver
    if isinstance(receiver, Dataset):
        return pipelines.method(machine, target, given, node)
    return asked(machine, target, given, node)


def asked(machine: Machine, target: Value, given: Arguments, node: cst.Call) -> Value:
    """What the model says that a call of a library gives."""
    done = Asked(node, machine.evaluator, target, given)
    found = transfer(done, target)
    if isinstance(found, Instance) and not isinstance(found, Object):
        return objects.new(machine, found.type_name, done)
    return found


# -- functions of the program ----------------------------------------------------------------------------------------


def run(
    machine: Machine, function: Closure, positions: SequenceOf[Value], names: MappingOf[str, Value],
    node: cst.CSTNode | None, open_: bool = False,
) -> Value:  # fmt: skip
    """What a function of the program returns; what it does is done."""
    again = sum(1 for each in machine.running if each.node is function.node)
    if len(machine.running) >= machine.deepest or again > MOST_AGAIN:
        return Unknown("calls nested too deeply")
    if isinstance(function.node, cst.FunctionDef) and machine.file.yields(function.node):
        return _generated(machine, function, positions, names)
    env = machine.within[id(function.node)] = Env(function.env)
    if function.receiver is not None:
        positions = (function.receiver, *positions)
    _bind(machine, function, env, positions, dict(names), open_)
    machine.running.append(function)
    machine.calling.append(node)
    try:
        if isinstance(function.node, cst.Lambda):
            return machine.value(function.node.body, env)
        outcome = machine.suite(function.node.body, env)
    finally:
        machine.running.pop()
        machine.calling.pop()
    returned = outcome[1] if outcome is not None and outcome[0] == "return" else NONE
    for each in env.returns:
        returned = join(returned, each)
    return returned


def _generated(
    machine: Machine, function: Closure, positions: SequenceOf[Value], names: MappingOf[str, Value]
) -> Value:
    """What a generator of the program gives: its first item stands for all."""
    found: list[Value] = []
    env = Env(function.env)
    if function.receiver is not None:
        positions = (function.receiver, *positions)
    _bind(machine, function, env, positions, dict(names), False)
    machine.running.append(function)
    machine.yields.append(found)
    try:
        if not isinstance(function.node, cst.Lambda):
            machine.suite(function.node.body, env)
    finally:
        machine.running.pop()
        machine.yields.pop()
    item = found[-1] if found else Unknown("an item of a generator")
    return Iterator(Unknown("a generator"), plain(item), "iter")


def _bind(
    machine: Machine, function: Closure, env: Env, positions: SequenceOf[Value], names: dict[str, Value], open_: bool
) -> None:
    """Give the parameters of a function what is passed."""
    params, own = function.node.params, positional(function.node)
    if function.owner is not None:
        env.names["__class__"] = function.owner
        env.names["__self__"] = positions[0] if positions else NONE
    for place, param in enumerate(own):
        name = param.name.value
        if place < len(positions):
            env.names[name] = positions[place]
        else:
            env.names[name] = _passed(machine, function, param, names, open_)
    for param in params.kwonly_params:
        env.names[param.name.value] = _passed(machine, function, param, names, open_)
    if isinstance(params.star_arg, cst.Param):
        rest = Sequence(tuple(positions[len(own) :]), "tuple", open_)
        env.names[params.star_arg.name.value] = rest
    if params.star_kwarg is not None:
        env.names[params.star_kwarg.name.value] = Listed({"items": Mapping(tuple(names.items()), open_)})


def _passed(machine: Machine, function: Closure, param: cst.Param, names: dict[str, Value], open_: bool) -> Value:
    name = param.name.value
    if name in names:
        return names.pop(name)
    if param.default is not None and not open_:
        if name in machine.given.facts:  # a default holds as long as nobody says otherwise
            return origins.stated(machine, name)
        return machine.value(param.default, function.env)
    return Unknown(f"parameter {name}")


# -- objects ---------------------------------------------------------------------------------------------------------


def _made(machine: Machine, kind: Kind, given: Arguments, node: cst.Call) -> Value:
    """An object of a class of the program, after its `__init__` was followed."""
    api = api_above(kind)
    done = Asked(node, machine.evaluator, Api(api or "builtins.object"), given)
    made = objects.new(machine, api, done, kind)
    networks.named(machine, made, kind.node.name.value)
    init = machine.method(kind, "__init__")
    if init is not None:
        run(machine, objects.with_receiver(init[0], made), given.positions, given.names, node, given.open)
    elif api is not None:
        networks.initialised(machine, made, given)
    else:
        _fields(machine, kind, made, given)
    return made


def _fields(machine: Machine, kind: Kind, made: Object, given: Arguments) -> None:
    """The fields of a class that states them alone, as a data class does."""
    names = [
        line.target.value for statement in kind.node.body.body if isinstance(statement, cst.SimpleStatementLine)
        for line in statement.body if isinstance(line, cst.AnnAssign) and isinstance(line.target, cst.Name)
    ]  # fmt: skip
    for name, value in [*zip(names, given.positions, strict=False), *given.names.items()]:
        machine.put(made.fields, name, value)


def item_of(machine: Machine, base: Object, at: Value, node: cst.CSTNode) -> Value:
    """`base[at]` of an object."""
    method = machine.method(base.of, "__getitem__") if base.of is not None else None
    if method is not None:
        return run(machine, objects.with_receiver(method[0], base), (at,), {}, node)
    return Instance(base.type_name, base.call).item_at(plain(at))
