"""New Keras models: which calls give one, whether it is trained, and who keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Array, Class, Function, Instance, Sequence, Value
from tfmemlint.query.calls import calls
from tfmemlint.query.flow.uses import Does, Use, uses
from tfmemlint.query.keras.models import MODEL, PRETRAINED, applies_network, is_model
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.repetition.repeats import Repetition, repetitions
from tfmemlint.syntax.scopes import dotted

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

BUILDERS = frozenset({"tf.keras.Sequential", MODEL, "tf.keras.models.clone_model"})
"""What builds a model of layers, besides `tf.keras.applications` and the file's own functions and classes."""

ADDS_PART = "tf.keras.Sequential.add"

FITS = frozenset({"fit", "fit_generator", "train_on_batch"})
"""Methods that certainly train a model, and with that make the slots of its optimizer."""

WORKS = FITS | {"compile", "evaluate", "predict", "trainable_variables", "trainable_weights"}
"""Attributes of a model by which it is trained or asked, or shown to be there for it."""

ASKS = frozenset({
    "compile", "evaluate", "evaluate_generator", "predict", "predict_generator", "predict_on_batch", "test_on_batch",
    "build", "add", "summary", "count_params", "get_config", "to_json", "save", "save_weights", "load_weights",
    "get_weights", "set_weights", "input", "inputs", "input_shape", "output", "outputs", "output_shape", "name",
    "metrics_names",
})  # fmt: skip
"""Attributes of a model by which no weight is trained."""


def fits(file: File, code: Node) -> bool:
    """Whether some code trains a model by a method of such a name, itself or by functions of the module."""
    return next(calls(file, code, *sorted(FITS), through=FOLLOWED_CALLS), None) is not None


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a model.

    `used`: it is certainly trained or asked for results. `trained`: True where it is certainly trained, False where it
    certainly is not, None where that is not known. `kept`: others than the code that made it may get to keep it.
    `only_read`: all that is done with it is reading attributes, calling methods and giving it data.
    """

    used: bool
    trained: bool | None
    kept: bool
    only_read: bool


def model_at(file: File, call: Call) -> tuple[int, ...] | None:
    """Where a call gives a new model: () for the result itself, an index for a model in a tuple.

    Constructors, `clone_model`, `tf.keras.applications` and the file's own functions and classes make models; a
    function that gives back the model which it is given makes none. None for what certainly makes none, and where it is
    not known.
    """
    if call.names:
        if not all(name in BUILDERS or name.startswith(PRETRAINED) for name in call.names):
            return None
    elif not all(isinstance(target, (Function, Class)) for target in call.target.options):
        return None
    found = {_model_path(file, value) for value in call.value.options}
    path = found.pop() if len(found) == 1 else None
    return path if path is not None and (call.names or _makes(file, call, path)) else None


def _model_path(file: File, value: Value) -> tuple[int, ...] | None:
    if isinstance(value, Sequence) and value.kind == "tuple" and not value.open:
        return next(((i,) for i, item in enumerate(value.items) if is_model(file, item)), None)
    return () if is_model(file, value) else None


def _makes(file: File, call: Call, path: tuple[int, ...]) -> bool:
    """Whether a call of the module's own code makes the model that it gives, `FOLLOWED_CALLS` deep: it is no argument.
    Of a model that is made nobody sees where, whether anything in there makes one."""
    values = [value.items[path[0]] if path and isinstance(value, Sequence) else value for value in call.value.options]
    made = [option.call for value in values for option in value.options if isinstance(option, Instance)]
    run = (target.node for target in call.target.options if isinstance(target, Function))
    inside = [call, *(each for function in run for each in calls(file, function, through=FOLLOWED_CALLS - 1))]
    nodes = {id(each.node) for each in inside}
    return any(id(each.node) in nodes if each is not None else any(map(_builds, inside)) for each in made)


def _builds(call: Call) -> bool:
    """Whether a call makes a model by Keras' own constructors."""
    return any(name in BUILDERS or name.startswith(PRETRAINED) for name in call.names)


def fate(file: File, made: Node, within: Node, path: tuple[int, ...] = ()) -> Fate:
    """What becomes of the model that an expression gives (at `path` of a tuple) in code that runs again, `within`.

    `used` and `only_read` are certain, `kept` holds where it cannot be excluded that more than the last one stays:
    it is returned, applied as a block of a network that is built, or put into a container or into an object that is
    another each time. An attribute of one object
    keeps one model, and what stands behind the code that runs again keeps the last. What unknown functions do with it
    is no keeping.
    """
    found = list(uses(file, made, attributes=True, containers=True, through=FOLLOWED_CALLS, path=path))
    kept = any(_keeps(file, use, made, within) for use in found)
    reads = (Does.READ, Does.METHOD, Does.DELETE)
    return Fate(
        used=any((use.does in reads and use.word in WORKS) or asks(file, use) for use in found),
        trained=_trained(file, found),
        kept=kept,
        only_read=not kept and all(use.does in (*reads, Does.STORE) or asks(file, use) for use in found),
    )


def _trained(file: File, found: list[Use]) -> bool | None:
    if any(use.does is Does.METHOD and use.word in FITS for use in found):
        return True
    quiet = (use.does in (Does.DELETE, Does.STORE) or _only_asks(file, use) for use in found)
    return False if all(quiet) else None


def _only_asks(file: File, use: Use) -> bool:
    if use.does in (Does.READ, Does.METHOD):
        return use.word in ASKS
    if use.does is Does.PASS and use.call is not None:
        return (use.call.name or "").startswith("builtins.")
    return asks(file, use)


def asks(file: File, use: Use) -> bool:
    """Whether a use gives data to the model, outside of a trace: `model(x)` of an array or tensor with numbers. What
    a layer or another model gave out is no data: then the model is a block of the network that is being built."""
    if use.does is not Does.CALL or use.call is None or file.contexts.traced(use.node):
        return False
    given = use.call.value_of(0)
    if not isinstance(given, Array) or given.library not in ("np", "tf"):
        return False
    made = given.origin
    return made is None or not (applies_network(file, made) or (made.name or "").startswith("tf.keras.layers."))


def _is_symbolic(given: Value) -> bool:
    """Whether a value certainly is, or is a list or tuple with, what stands for the input or an output of layers."""
    parts = given.items if isinstance(given, Sequence) else (given,)
    return any(isinstance(part, Array) and part.library == "keras" for part in parts)


def is_used_up(file: File, made: Call, again: Repetition) -> bool:
    """Whether each iteration certainly makes the model of this call, itself or by a function that it calls, and nothing
    that outlives the iteration is seen to keep it."""
    building = next((each for each in repetitions(file, made.node) if each.place is again.place), None)
    if building is None:
        return False
    given = building.inside  # the call that gives the model to the loop, or one that uses it up
    return not is_model(file, file.value(given)) or not fate(file, given, again.place).kept


def _adds_part(file: File, use: Use) -> bool:
    """Whether a model is added to a `Sequential`, or what a method of it gives back is."""
    if use.does is Does.METHOD and use.call is not None:
        return any(_is_part(other) for other in uses(file, use.call.node))
    return _is_part(use)


def _is_part(use: Use) -> bool:
    return use.does is Does.PASS and use.call is not None and use.call.name == ADDS_PART


def _gives_part_away(file: File, model: Node) -> bool:
    """Whether a layer that the model's own class gives it becomes a part of something else: `node.part = small.split`,
    `Node(small.layers_out[0])`."""
    part = file.tree.parent(model)
    if not isinstance(part, cst.Attribute):
        return False
    owners = [each.class_node for each in file.value(model).options if isinstance(each, Instance)]
    if not any(owner and file.values.classes.definitions(owner, part.attr.value) for owner in owners):
        return False  # what every model has
    return any(_takes_part(file, use) for use in uses(file, part, parts=True, attributes=True))


def _takes_part(file: File, use: Use) -> bool:
    if use.does is Does.STORE:
        return isinstance(use.place, (cst.Attribute, cst.Subscript))
    return use.does is Does.PASS and use.call is not None and isinstance(use.call.target, Class)


def _keeps(file: File, use: Use, made: Node, within: Node) -> bool:
    if use.held and use.does in (Does.COMPUTE, Does.OTHER, Does.PASS):
        return True  # a container with the model in it, which is not followed further
    if _adds_part(file, use) or (use.does is Does.READ and _gives_part_away(file, use.node)):
        return True
    if use.does is Does.ITEM:
        return True  # a model has no items: this is a tuple of some, of which each goes its own way
    if use.does is Does.CALL and use.call is not None and _is_symbolic(use.call.value_of(0)):
        # a block of the network that is being built: what it gives keeps it
        return not isinstance(file.tree.parent(use.call.node), cst.Expr)
    if use.does not in (Does.STORE, Does.RETURN) or use.place is None:
        return False
    if file.scope_of(use.place) is not file.scope_of(made):
        return True
    if not file.tree.contains(within, use.place):
        return False
    if not isinstance(file.tree.parent(use.place), cst.AssignTarget):
        return True  # a container
    if isinstance(use.place, cst.Attribute):
        owner = (dotted(use.place) or "").partition(".")[0]
        return owner != "self" and any(d.name == owner for d in file.bound_within(within))
    return not isinstance(use.place, cst.Name)
