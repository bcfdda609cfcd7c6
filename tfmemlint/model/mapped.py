"""What the functions that a pipeline maps over its elements do: which APIs they call, whether they draw at random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model import decided
from tfmemlint.model.layers.stacked import steps
from tfmemlint.model.values import Api, Function, Instance, Method, Step, Value, one_of
from tfmemlint.syntax.scopes import own_nodes

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.evaluate import Evaluator
    from tfmemlint.model.functions import Frame

FOLLOWED = 2
"""Calls of module functions that are followed from a mapped function."""

FUNCTION_PARAMETERS = {"filter": "predicate", "take_while": "predicate", "scan": "scan_func", "reduce": "reduce_func"}

NOT_RANDOM = frozenset(
    {"set_seed", "seed", "Generator", "RandomState", "default_rng", "from_seed", "get_global_generator", "split"}
)


def draws(name: str) -> bool:
    """Whether an API gives other numbers each time it is called."""
    path, _, last = name.rpartition(".")
    if "stateless" in last or last in NOT_RANDOM:
        return False
    if path in ("tf.random", "tf.random.Generator", "tf.keras.random", "random", "np.random", "tf.random.experimental",
                "np.random.Generator", "np.random.RandomState", "tf.compat.v1.random"):  # fmt: skip
        return True
    if path == "tf.keras.layers.Layer" or last == "__call__":
        return path.startswith("tf.keras.layers.Random")
    return (path == "tf.image" and last.startswith("random_")) or name in (
        "tf.image.sample_distorted_bounding_box", "tf.nn.dropout", "tf.compat.v1.random_uniform", "tf.random_uniform",
    )  # fmt: skip


@dataclass(slots=True)
class Body:
    """What a mapped function calls: canonical API names, and whether anything in it could not be followed."""

    names: set[str] = field(default_factory=set)
    unseen: bool = False
    random: bool = False

    def does(self, *groups: str) -> bool:
        """Whether it certainly calls an API of one of these groups of `knowledge`."""
        return any(knowledge.in_group(name, group) for name in self.names for group in groups)

    def only(self, *groups: str) -> bool:
        """Whether it certainly calls nothing but APIs of these groups of `knowledge`."""
        return not self.unseen and all(any(knowledge.in_group(name, g) for g in groups) for name in self.names)

    @property
    def reads(self) -> bool:
        """Whether the function opens files."""
        return self.does("reads_file")

    @property
    def decodes(self) -> bool:
        """Whether the function turns names or encoded bytes into images or sound, or resizes images."""
        return self.does("decodes")


def function_of(step: Step) -> Value | None:
    """The function that a step was given, or None where it is not seen."""
    if step.call is None:
        return None
    argument = step.call.arg(FUNCTION_PARAMETERS.get(step.name, "map_func"))
    return one_of(whole(option) for option in argument.value.options) if argument is not None else None


def whole(value: Value) -> Value:
    """The function that `functools.partial` gives some of its arguments; any other value as it is."""
    if isinstance(value, Instance) and value.type_name == "functools.partial" and value.call is not None:
        return value.call.value_of(0)
    return value


def body(step: Step) -> Body:
    """What the function of a `map`, `filter`, `interleave` ... calls."""
    value = function_of(step)
    if value is None or step.call is None:
        return Body(unseen=True)
    return body_of(value, step.call.evaluator)


def body_of(value: Value, evaluator: Evaluator, depth: int = FOLLOWED, call: Call | None = None) -> Body:
    """What a function value calls, itself and through functions of the module; of a `call` of it, with what that
    passes."""
    key = (value, depth, id(call))
    known = evaluator.bodies.get(key)
    if known is not None:
        return known
    found, stands = evaluator.memo.settled(lambda: _body_of(value, evaluator, depth, call))
    if stands:
        evaluator.bodies[key] = found
    return found


def _body_of(value: Value, evaluator: Evaluator, depth: int, call: Call | None) -> Body:
    found = Body()
    for option in value.options:
        if isinstance(option, Function):
            _collect(option, evaluator, depth, found, evaluator.functions.frame(option, call) if call else None)
        elif isinstance(option, (Api, Method)):
            found.names.add(option.name)
            found.random = found.random or draws(option.name)
        elif isinstance(option, Instance):
            _object(option, evaluator, depth, found)
        else:
            found.unseen = True
    return found


def _collect(function: Function, evaluator: Evaluator, depth: int, found: Body, frame: Frame | None) -> None:
    """Add what a function calls: in one activation of it, or in all that close over the same names."""
    around = cast("Frame | None", function.frame) if frame is None else frame
    for node in own_nodes(function.node, cst.Call, cst.Lambda):
        if frame is not None and not decided.runs(evaluator, node, frame):
            continue
        if isinstance(node, cst.Lambda):
            _collect(Function(node, frame=around), evaluator, depth, found, None)
            continue
        assert isinstance(node, cst.Call)
        call = evaluator.call(node, around)
        for option in call.target.options:
            if isinstance(option, Function):
                if depth > 0:
                    _add(found, body_of(option, evaluator, depth - 1, call))
                else:
                    found.unseen = True
            elif isinstance(option, Instance):
                _object(option, evaluator, depth, found)
            elif isinstance(option, (Api, Method)):
                found.names.add(option.name)
                found.random = found.random or draws(option.name)
                if knowledge.in_group(option.name, "runs_python") and depth > 0:
                    _add(found, body_of(call.value_of("func"), evaluator, depth - 1))
            else:
                found.unseen = True


def _add(found: Body, inner: Body) -> None:
    found.names |= inner.names
    found.unseen = found.unseen or inner.unseen
    found.random = found.random or inner.random


def _object(value: Instance, evaluator: Evaluator, depth: int, found: Body) -> None:
    """A callable object: a Keras layer or model, one of a class of this module, a function with some arguments."""
    inner = whole(value)
    if inner is not value and value.call is not None:
        _add(found, body_of(inner, value.call.evaluator, FOLLOWED - 1))
        return
    if value.class_node is not None:
        made = [name for name in ("__call__", "call") if evaluator.classes.method(value.class_node, name) is not None]
        if made and depth > 0 and (made[0] == "__call__" or value.type_name is not None):
            _add(found, body_of(evaluator.classes.attribute(value, made[0], bound=True), evaluator, depth - 1))
        else:
            found.unseen = True
        return
    if value.type_name is None:
        found.unseen = True
        return
    found.names.add(f"{value.type_name}.__call__")
    if value.type_name.startswith("tf.keras.layers.Random"):
        found.random = True
    elif value.type_name == "tf.keras.Sequential":
        layers = list(layer_types(value.call)) if value.call is not None else []
        found.random = found.random or any(name.startswith("tf.keras.layers.Random") for name in layers)
        found.unseen = found.unseen or not layers
    elif value.type_name == "tf.keras.Model":
        found.unseen = True


def layer_types(call: Call) -> Iterator[str]:
    """The classes of the layers that a `Sequential` was made of, in its list and by `add`."""
    for layer, _ in steps(call):
        for option in layer.options if layer is not None else ():
            if isinstance(option, Instance) and option.type_name is not None:
                yield option.type_name
