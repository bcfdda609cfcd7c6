"""Calls of libraries: what makes layers, models, optimizers and losses, and what is done with them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.estimate.facts import (
    applications,
    applying,
    cloning,
    hub,
    machines,
    methods,
    networks,
    objects,
    operations,
    pipelines,
    stepping,
    tapes,
    training,
)  # fmt: skip
from tfmemlint.estimate.facts.asked import Arguments, Asked
from tfmemlint.estimate.facts.values import NONE, Closure, Object, traced
from tfmemlint.model.layers.effects import MERGES
from tfmemlint.model.values import Api, Const, Method, Unknown, Value, constant

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine

L = "tf.keras.layers."
CUDNN = L + "CuDNN"
"""Recurrent layers of Keras 2 for GPUs alone, which compute what those without the word in their names do."""

ACTIVATIONS = "tf.keras.activations."
APPLICATIONS = "tf.keras.applications."
LAYER, MODEL, LOSS, OPTIMIZER = "tf.keras.layers.Layer", "tf.keras.Model", "tf.keras.losses.Loss", "Optimizer"
INPUTS = ("tf.keras.Input", "tf.keras.layers.Input", "tf.keras.layers.InputLayer")
POLICIES = (
    "tf.keras.mixed_precision.set_global_policy", "tf.keras.mixed_precision.experimental.set_policy",
    "tf.keras.config.set_dtype_policy", "tf.keras.mixed_precision.set_dtype_policy",
)  # fmt: skip
EAGER = ("tf.config.run_functions_eagerly", "tf.config.experimental_run_functions_eagerly")
TRACES = "tf.function"
REMAT = ("tf.keras.remat", "tf.recompute_grad", "tf.keras.RematScope")


SAME_SHAPE = frozenset({"InstanceNormalization", "GroupNormalization", "FilterResponseNormalization", "Mish"})
"""Layers of other libraries that give what has the shape of what they get, as these document."""


def api(machine: Machine, target: Api, given: Arguments, node: cst.Call) -> Value:
    """What a call of a function or class of a library gives."""
    name = target.name
    handler = machines.lookup(name)
    found = handler(machine, given, node) if handler is not None else None
    if found is not None:
        return found
    if name in POLICIES:
        machine.put(machine.settings, "policy", given.get(0) or Unknown("a policy"))
        return NONE
    if name in EAGER:
        machine.put(machine.settings, "eager", given.get(0) or Const(True))
        return NONE
    if name == TRACES:
        return _traced(machine, given, node, target)
    if name in REMAT and given.positions and isinstance(given.positions[0], (Object, Closure)):
        return applying.rematerialised(machine, given.positions[0])
    if name.startswith(L) and name.removeprefix(L) in MERGES:
        layer = made(machine, L + MERGES[name.removeprefix(L)], Arguments((), given.names), node)
        return applying.apply(machine, layer, Arguments(given.positions[:1], {}), node)
    if name in INPUTS:
        return networks.input_tensor(machine, Asked(node, machine.evaluator, target, given), name, node)
    if name.endswith("hub.KerasLayer"):
        return hub.made(machine, given, node)
    if name.startswith(APPLICATIONS) and (knowledge.network(name) or knowledge.returns_class(name) == MODEL):
        return applications.pretrained(machine, Asked(node, machine.evaluator, target, given), node)
    if name.startswith(CUDNN):
        return made(machine, L + name.removeprefix(CUDNN), given, node)
    if knowledge.is_class(name) and _is_kept(name):
        return made(machine, name, given, node)
    return _function(machine, target, given, node)


def _is_kept(name: str) -> bool:
    """Whether objects of a class are followed here."""
    return name.startswith(("tf.keras.", "tf.compat.v1.train.", "tf.train.")) or name in (
        "tf.GradientTape", "tf.Module", "argparse.ArgumentParser",
    )  # fmt: skip


def _function(machine: Machine, target: Api, given: Arguments, node: cst.Call) -> Value:
    name = target.name
    special = pipelines.made(machine, target, given, node)
    if special is not None:
        return special
    word = name.rpartition(".")[2]
    tensors = [t for value in (*given.positions, *given.names.values()) for t in traced(value)]
    if name in cloning.MAKERS:
        return cloning.MAKERS[name](machine, given, node)
    if tensors and name.startswith(("tf.keras.losses.", "tf.keras.metrics.")) and len(given.positions) >= 2:
        return training.loss_of(machine, word, given, node, constant(given.names.get("from_logits", NONE)) is True)
    if tensors and word in training.TF_LOSSES:
        return training.loss_of(machine, training.TF_LOSSES[word], given, node, logits=True)
    if tensors and name == ACTIVATIONS + "linear":
        return tensors[0]
    if tensors:
        return operations.function(machine, name, target, given, node)
    if word[:1].isupper() and not knowledge.exists(name):
        return objects.new(machine, name, Asked(node, machine.evaluator, target, given))
    if name == ACTIVATIONS + "get":
        return _activation(given.get(0, "identifier"))
    if name in ("tf.keras.optimizers.get", "tf.keras.losses.get"):
        return given.get(0) or Unknown(word)
    found = machine.asked(target, given, node)
    return found if found.known else operations.of_arrays(machine, name, target, given, node) or found


def _activation(said: Value | None) -> Value:
    """The activation function of a word; what is none, as a function or a layer, is itself."""
    word = "linear" if said == NONE else constant(said) if said is not None else None
    if not isinstance(word, str):
        return said or Unknown("an activation")
    name = ACTIVATIONS + word
    return Api(name) if knowledge.exists(name) else Unknown("an activation")


def _traced(machine: Machine, given: Arguments, node: cst.Call, target: Api) -> Value:
    """`tf.function(f)`, or `tf.function(...)` that decorates."""
    function = given.get(0, "func", "python_function")
    jit = constant(given.names.get("jit_compile", given.names.get("experimental_compile", NONE))) is True
    if isinstance(function, Closure):
        return Closure(
            function.node, function.receiver, True, "jit" if jit else function.frame, env=function.env,
            owner=function.owner,
        )  # fmt: skip
    if function is not None and function != NONE:
        return function
    return objects.new(machine, TRACES, Asked(node, machine.evaluator, target, given))


def made(machine: Machine, name: str, given: Arguments, node: cst.Call) -> Object:
    """An object of a class of a library."""
    done = objects.new(machine, name, Asked(node, machine.evaluator, Api(name), given))
    if LAYER in (name, *knowledge.bases(name)):
        networks.named(machine, done, name.rpartition(".")[2])
        networks.initialised(machine, done, given)
    return done


def called(machine: Machine, target: Object, given: Arguments, node: cst.Call) -> Value:
    """What calling an object gives."""
    name = target.type_name or ""
    if target.of is not None:
        own = machine.method(target.of, "__call__")
        if own is not None:
            return machine.run(
                objects.with_receiver(own[0], target), given.positions, given.names, node, given.open
            )
        if not networks.is_layer(target) and LOSS not in (name, *knowledge.bases(name)):
            return machine.unknown(target, given, node)
    if networks.is_layer(target):
        return applying.apply(machine, target, given, node)
    own = machine.method(target.of, "call") if target.of is not None else None
    if own is not None:
        return machine.run(objects.with_receiver(own[0], target), given.positions, given.names, node, given.open)
    if LOSS in (name, *knowledge.bases(name)):
        logits = target.call is not None and constant(target.call.given("from_logits")) is True
        return training.loss_of(machine, _snake(name.rpartition(".")[2]), given, node, logits)
    if name.startswith("tf.keras.metrics."):
        return NONE
    if hub.is_unknown(target):
        return hub.applied(machine, target, given, node)
    if not networks.is_layer(target) and target.of is None and name.rpartition(".")[2] in SAME_SHAPE:
        return applying.foreign(machine, target, given)
    if name == TRACES and given.positions and isinstance(given.positions[0], Closure):
        return _traced(machine, given, node, Api(TRACES))
    return machine.unknown(target, given, node)


def _snake(word: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", word).lower()


def method(machine: Machine, receiver: Object, name: str, given: Arguments, node: cst.Call) -> Value:
    """What a method of an object of Keras gives."""
    kind = receiver.type_name or ""
    if kind == "tf.GradientTape":
        return tapes.of_tape(machine, receiver, name, given, node)
    if OPTIMIZER in kind or any(OPTIMIZER in base for base in knowledge.bases(kind)):
        return tapes.of_optimizer(machine, receiver, name, given, node)
    if name == "__init__":
        networks.initialised(machine, receiver, given)
        return NONE
    if networks.is_layer(receiver):
        found = methods.method(machine, receiver, name, given, node) or stepping.method(
            machine, receiver, name, given, node
        )
        if found is not None:
            return found
    if name in ("call", "__call__"):
        if receiver.of is None:
            return called(machine, receiver, given, node)
        base = receiver.fields.get("#base")
        if name == "call" and not isinstance(base, Object):  # that of `Layer` itself, which gives nothing
            return machine.unknown(receiver, given, node)
        return applying.apply(machine, base if isinstance(base, Object) and name == "call" else receiver, given, node)
    if kind.startswith("tf.keras.metrics.") or name in ("add_metric", "add_loss", "summary"):
        return NONE
    special = pipelines.of_object(machine, receiver, name, given, node)
    if special is not None:
        return special
    owner = knowledge.method_owner(kind, name) or f"{kind}.{name}"
    return machine.asked(Method(receiver, owner), given, node)


