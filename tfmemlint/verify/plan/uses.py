"""What becomes of the values that kept statements make: a cost often shows only there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.finding import Finding
from tfmemlint.model.file import File
from tfmemlint.model.values import Dataset, Instance
from tfmemlint.query.keras.models import derives, is_model
from tfmemlint.syntax.scopes import Binds, Definition, dotted
from tfmemlint.syntax.tree import Node, walk
from tfmemlint.verify.plan.runnable import LIBRARIES, OF_DATA, Runnable
from tfmemlint.verify.plan.statements import changed_name, flagged_call

if TYPE_CHECKING:
    from tfmemlint.verify.plan.across import Slices
    from tfmemlint.verify.plan.slicing import Slice

CONSUMERS = ("fit", "evaluate", "predict")
ROUNDS = 8
TRAINS = ("fit", "fit_generator", "train_on_batch")
LAYERS, CALLBACK = "tf.keras.layers.", "tf.keras.callbacks.Callback"
OPTIMIZER = "tf.keras.optimizers.Optimizer"
SIMPLE = {"range", "len", "enumerate", "zip", "list", "sorted", "reversed"}
"""What a loop goes through that needs no data."""


def keep_uses(part: Slice) -> None:
    """Keep the statements that use what a flagged statement makes, and what those make in turn."""
    done: set[int] = set()
    pending = list(part.targets.values())
    with_data = Runnable(part, LIBRARIES | OF_DATA)
    while pending:
        unit = pending.pop()
        if id(unit) in done:
            continue
        done.add(id(unit))
        for definition in made_by(part, unit):
            runnable = with_data if _is(part.file, definition, CALLBACK) else part.runnable
            for use in part.file.uses_of(definition):
                user = part.unit(use)
                if user is None or id(user) in part.targets or not runnable.runs(user):
                    continue
                if part.slices.data_only and is_data(part.file, definition) and not _hands_on(part, user):
                    continue
                trainings = _trainings(part, user) if _is(part.file, definition, OPTIMIZER) else ()
                for each in (user, *trainings):
                    part.targets[id(each)] = each
                    part.keep(each)
                    pending.append(each)


def shows_in_training(finding: Finding, file: File, growth: bool) -> bool:
    """Whether what is flagged makes a layer of Keras, which costs nothing before its model is trained, or with `growth`
    a model, of which training leaves something behind."""
    call = flagged_call(finding, file)
    if call is None:
        return False
    return is_model(file, file.value(call)) if growth else (file.call(call).name or "").startswith(LAYERS)


def free_loops(parts: Slices, nodes: Iterable[Node]) -> Iterator[cst.For]:
    """The loops around these nodes that go through what a call gives, of whose items no kept statement reads any."""
    for node in nodes:
        part = parts.of(node)
        for loop in part.file.tree.ancestors(node):
            if not isinstance(loop, cst.For) or id(loop) not in part.kept:
                continue
            read = (part.unit(use) for made in made_by(part, loop) for use in part.file.uses_of(made))
            called = [dotted(call.func) for call in walk(loop.iter, cst.Call)]
            if set(called) - SIMPLE and not any(user is not None and id(user) in part.kept for user in read):
                yield loop


def rounds(loop: cst.For) -> str:
    """Code for what a loop goes through in place of data of which nothing is read. It has no length, as nobody knows
    how many rounds there are."""

    def item(target: Node) -> str:
        if isinstance(target, (cst.Tuple, cst.List)):
            return f"({', '.join(item(each.value) for each in target.elements)},)"
        return "None"

    return f"iter([{item(loop.target)}] * {ROUNDS})"


def timed(line: str) -> str:
    """The line that trains a model, for so many steps that one of them can be timed."""
    return f"{line.removesuffix(')')}, {ROUNDS})"


def trial(line: str) -> str:
    """The rounds of a search in place of the line that calls the function which makes its models."""
    made = line.replace("tfmemlint_consume(", "tfmemlint_train(", 1)
    return f"for _ in tfmemlint_some(iter(range({ROUNDS})), {ROUNDS}, 0, marked=True): {made}"


def trained(parts: Iterable[Slice], growth: bool) -> list[tuple[Node, str]]:
    """Lines that train the models which the flagged statements are a part of, each with the last statement that makes
    or changes the model. With `growth` those that the code trains: others would leave nothing behind."""
    lines: dict[str, Node] = {}
    for part in parts:
        for unit in list(part.targets.values()):
            changed = changed_name(unit) if isinstance(unit, cst.SimpleStatementLine) else None
            found = [*made_by(part, unit), *(part.definitions(changed) if changed is not None else ())]
            for made in found:
                if made.name.isidentifier() and is_model(part.file, part.file.values.definition(made, None)):
                    if not growth or any(_is_trained(part.file, use) for use in part.file.uses_of(made)):
                        lines[f"tfmemlint_train({made.name})"] = _last_change(part, unit, made)
    return [(unit, line) for line, unit in lines.items()]


def _is_trained(file: File, use: Node) -> bool:
    parent = file.tree.parent(use)
    return isinstance(parent, cst.Attribute) and parent.attr.value in TRAINS


def _last_change(part: Slice, unit: Node, made: Definition) -> Node:
    """The last statement beside this one that is kept and says the name of what it made, and returns nothing."""
    begun = part.unit(made.node) or unit
    suite = list(getattr(part.file.tree.parent(begun), "body", ()))
    users = [user for use in part.file.uses_of(made) if (user := part.unit(use)) is not None and id(user) in part.kept]
    beside = [each for each in suite if any(part.file.tree.contains(each, user) for user in users)]
    changes = [each for each in beside if not any(True for _ in walk(each, cst.Return))]
    return changes[-1] if changes else unit


def made_by(part: Slice, unit: Node) -> list[Definition]:
    """The definitions of a statement, functions, classes and imports left out."""
    scope = part.file.scope_of(unit)
    return [
        definition
        for bindings in part.file.flow(scope).bindings.values()
        for definition in bindings
        if definition.binds not in (Binds.IMPORT, Binds.FUNCTION, Binds.CLASS, Binds.PARAMETER)
        and part.unit(definition.node) is unit
    ]


def _is(file: File, definition: Definition, base: str) -> bool:
    """Whether a definition is an instance of a class: of a callback, which costs nothing before the `fit` that is given
    it, whatever its data, or of an optimizer, which shows nothing before the model is trained that it is compiled into.
    """
    value = file.values.definition(definition, None)
    return any(isinstance(each, Instance) and derives(file, each, base) for each in value.options)


def _trainings(part: Slice, user: Node) -> list[Node]:
    """The statements that train a model which a statement compiles, or changes in another way."""
    changed = changed_name(user) if isinstance(user, cst.SimpleStatementLine) else None
    made = [each for each in part.definitions(changed) if each.binds is not Binds.IMPORT] if changed is not None else []
    uses = (use for each in made for use in part.file.uses_of(each) if _is_trained(part.file, use))
    return [unit for use in uses if (unit := part.unit(use)) is not None and part.runnable.runs(unit)]


def is_data(file: File, definition: Definition) -> bool:
    """Whether a definition is a data set."""
    value = file.values.definition(definition, None)
    return any(isinstance(option, Dataset) for option in value.options)


def _hands_on(part: Slice, user: Node) -> bool:
    """Whether a statement returns the data set or makes another one of it."""
    if isinstance(user, cst.SimpleStatementLine) and isinstance(user.body[0], cst.Return):
        return True
    return any(is_data(part.file, made) for made in made_by(part, user))


def consumers(parts: Iterable[Slice]) -> list[tuple[Node, str]]:
    """Lines that iterate the data sets which the kept code builds and does not use, each with who builds it."""
    lines: dict[str, Node] = {}
    for part in parts:
        for unit in part.targets.values():
            for name in _left(part, unit):
                lines[f"tfmemlint_consume({name})"] = unit
    return [(unit, line) for line, unit in lines.items()]


def _left(part: Slice, unit: Node) -> Iterator[str]:
    """The names of the data sets that a statement makes and no kept code uses."""
    for definition in made_by(part, unit):
        if is_data(part.file, definition) and definition.name.isidentifier():
            if not any(_goes_on(part, use) for use in part.file.uses_of(definition)):
                yield definition.name


def _goes_on(part: Slice, use: Node) -> bool:
    """Whether kept code iterates a data set here, returns it or makes another one of it."""
    unit = part.unit(use)
    if unit is None or id(unit) not in part.kept:
        return False
    if any(is_data(part.file, definition) for definition in made_by(part, unit)):
        return True
    for above in part.file.tree.ancestors(use):
        if isinstance(above, (cst.For, cst.CompFor, cst.Return)):
            return True
        if isinstance(above, cst.Call) and isinstance(above.func, cst.Attribute) and above.func.attr.value in CONSUMERS:
            return True
        if isinstance(above, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            return False
    return False
