"""Physical devices: how a program configures their memory, and where it has one GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import Devices, Instance, Length, Sequence, Value, constant, integer
from tfmemlint.query.ordering.branches import leaves
from tfmemlint.query.runtime.environment import mentions_variable, settings
from tfmemlint.query.runtime.runtime import initialised_by
from tfmemlint.syntax.scopes import own_nodes

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

GROWTH = "tf.config.experimental.set_memory_growth"
LOGICAL_DEVICES = "tf.config.set_logical_device_configuration"
VISIBLE_DEVICES = "tf.config.set_visible_devices"
VISIBLE_VARIABLE = "CUDA_VISIBLE_DEVICES"
NO_CARDS = ("-1", "")

COMPARISONS: dict[tuple[type, int | None], bool] = {
    (cst.Equal, 1): True, (cst.LessThanEqual, 1): True, (cst.LessThan, 2): True,
    (cst.NotEqual, 1): False, (cst.GreaterThan, 1): False, (cst.GreaterThanEqual, 2): False,
}  # fmt: skip
"""Comparisons with the number of GPUs that are true where there is one at most, or never then."""


def sets_growth(file: File, call: Call) -> bool:
    """Whether a call certainly turns memory growth on; what is computed may be False where it matters."""
    return call.name == GROWTH and constant(call.value_of("enable")) is True


def stops_growth(file: File, call: Call) -> bool:
    """Whether a call certainly turns memory growth off."""
    return call.name == GROWTH and constant(call.value_of("enable")) is False


def others_grow_too(file: File, growth: Call) -> bool:
    """Whether other calls of the same function may set memory growth for other devices than this call does: what they
    name the device by, of `gpus[0]` the index, differs."""
    function = file.contexts.function(growth.node)
    beside = [call for call in file.calls(GROWTH) if file.contexts.function(call.node) is function]
    return any(_device(file, call) != _device(file, growth) for call in beside)


def _device(file: File, growth: Call) -> str | None:
    """The device of a call as it is written, of `gpus[0]` the index."""
    device = growth.arg("device")
    code = device.expression if device is not None else None
    return file.text(code.slice[0] if isinstance(code, cst.Subscript) else code) if code is not None else None


def chooses_devices(file: File) -> bool:
    """Whether the program chooses the devices that TensorFlow sees, or makes logical ones of them, so that what it says
    of some physical devices may be all that counts. A module that imports this one may do so, too."""
    if any(file.calls(VISIBLE_DEVICES, LOGICAL_DEVICES)) or mentions_variable(file, VISIBLE_VARIABLE):
        return True
    return file.siblings is not None and bool(file.siblings.importers((VISIBLE_VARIABLE,)))


def only_gpus(value: Value) -> bool:
    """Whether a device or list of devices certainly holds GPUs alone, if any."""
    if isinstance(value, Sequence):
        return not value.open and all(map(only_gpus, value.items))
    return isinstance(value, Devices) and value.kind == "GPU"


def sets_limit(file: File, call: Call) -> bool:
    """Whether a call certainly makes logical devices of which one has a `memory_limit`, whatever its value."""
    made = call.value_of("logical_devices") if call.name == LOGICAL_DEVICES else None
    calls = [leaf.call for leaf in elements(made) if isinstance(leaf, Instance)] if isinstance(made, Sequence) else []
    return any(of is not None and of.arg("memory_limit") is not None for of in calls)


def for_one_gpu(file: File, node: Node) -> bool:
    """Whether a place is certainly reached only where there is at most one GPU: in a branch of `len(gpus) == 1`,
    behind `assert len(gpus) == 1`, behind an `if` that leaves where there are more, or behind `(gpu,) = gpus`.

    Conditions around the calls of its function are not looked at.
    """
    return _in_branch(file, node) or any(
        _leaves_one(file, before)
        for before in own_nodes(file.contexts.function(node) or file.module, cst.Assert, cst.If, cst.Assign)
        if file.tree.order(before) < file.tree.order(node)
    )


def _in_branch(file: File, node: Node) -> bool:
    inside: Node = node
    for above in file.tree.ancestors(node):
        if isinstance(above, (cst.If, cst.IfExp)):
            one = _says_one(file, above.test)
            if one is not None and inside is (above.body if one else above.orelse):
                return True
        inside = above
    return False


def _leaves_one(file: File, statement: Node) -> bool:
    """Whether there is one GPU at most wherever a statement has been passed."""
    if isinstance(statement, cst.Assert):
        return _says_one(file, statement.test) is True
    if isinstance(statement, cst.If):
        return _says_one(file, statement.test) is False and leaves(file, statement.body)
    devices = file.value(statement.value) if isinstance(statement, cst.Assign) else None
    targets = [t.target for t in statement.targets] if isinstance(statement, cst.Assign) else []
    alone = any(isinstance(target, (cst.Tuple, cst.List)) and len(target.elements) == 1 for target in targets)
    return alone and isinstance(devices, Devices) and devices.selection == "all"


def _says_one(file: File, test: cst.BaseExpression) -> bool | None:
    """True for `len(gpus) == 1`, False for its contrary, None for other conditions."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    counted = file.value(test.left)
    if not isinstance(counted, Length) or not isinstance(counted.of, Devices):
        return None
    number = integer(file.value(test.comparisons[0].comparator))
    return COMPARISONS.get((type(test.comparisons[0].operator), number))


def hides_cards(file: File, node: Node) -> bool:
    """Whether the environment that a program sets hides all cards from TensorFlow wherever it comes to some code: the
    module or the same function says so before it, and before TensorFlow has looked for cards, and nothing in the file
    says otherwise."""
    found = [each for each in settings.of(file) if each.variable == VISIBLE_VARIABLE]
    if not found or any(constant(each.value) not in NO_CARDS for each in found):
        return False
    at = file.tree.order(node)
    before = [each.node for each in found if file.tree.order(each.node) < at and not initialised_by(file, each.node)]
    homes = (file.module, file.contexts.function(node))
    return any(home and not file.contexts.conditional(each, home) for each in before for home in homes)


def changes_nothing(file: File, config: Call) -> bool:
    """Whether a call certainly makes those devices visible that are: it names all CPUs, or no card of a program that
    hides them all in its environment. TensorFlow compares before it looks whether the runtime has started."""
    if config.name != VISIBLE_DEVICES:
        return False
    before = (each for each in settings.of(file) if file.tree.order(each.node) < file.tree.order(config.node))
    if not any(each.variable == VISIBLE_VARIABLE and constant(each.value) in NO_CARDS for each in before):
        return False
    devices, kind = config.value_of("devices"), constant(config.value_of("device_type"))
    if isinstance(devices, Sequence):
        return kind == "GPU" and not devices.items and not devices.open
    return isinstance(devices, Devices) and devices.selection == "all" and devices.kind == kind
