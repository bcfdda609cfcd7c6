"""Calls that carry one pipeline on: which hand it to the next alone, so that links may trade places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

from tfmemlint.api import Binds, Call, File, Node, dotted, once_per_file, written
from tfmemlint.model.inferred_by_use import chain

ENDS = frozenset({
    "as_numpy_iterator", "reduce", "cardinality", "save", "get_single_element", "make_one_shot_iterator",
    "make_initializable_iterator", "__iter__", "__len__", "options",
})  # fmt: skip
"""Methods of a pipeline that give something else than a pipeline."""


def hands_on(file: File, first: Call, second: Call) -> bool:
    """Whether `second` is the only thing that takes what `first` gives, in the same chain or the next statement."""
    receiver = second.receiver_node
    if receiver is first.node:
        return True
    if not isinstance(receiver, cst.Name):
        return False
    made = file.only_definition(receiver)
    if made is None or made.value is not first.node or made.path:
        return False
    if made.binds is not Binds.VALUE or len(file.readers(made)) != 1:
        return False
    return _adjacent(file, file.tree.statement(first.node), file.tree.statement(second.node))


def _adjacent(file: File, first: Node, second: Node) -> bool:
    block = file.tree.parent(first)
    if block is None or block is not file.tree.parent(second) or isinstance(second, (cst.FunctionDef, cst.While)):
        return False
    body = list(getattr(block, "body", ()))
    places = [i for i, statement in enumerate(body) if statement is first or statement is second]
    return len(places) == 2 and places[1] - places[0] == 1


def links(file: File, calls: Iterable[Call | None]) -> list[Call] | None:
    """The calls, if each hands its pipeline on to the next alone, so that links may trade places; else None."""
    found: list[Call] = []
    for call in calls:
        if call is None or (found and not hands_on(file, found[-1], call)):
            return None
        found.append(call)
    return found


def following(file: File, call: Call) -> list[Call]:
    """The steps that the pipeline takes after this call, as far as each is handed to the next alone."""
    found: list[Call] = []
    while True:
        after = _next(file, found[-1] if found else call)
        if after is None or len(found) > 30:
            return found
        found.append(after)


def _next(file: File, call: Call) -> Call | None:
    attribute = file.tree.parent(call.node)
    if isinstance(attribute, cst.Assign):
        targets = [target.target for target in attribute.targets]
        if len(targets) != 1 or not isinstance(targets[0], cst.Name):
            return None
        made = file.definition(targets[0])
        uses = file.uses_of(made) if made is not None else []
        attribute = file.tree.parent(uses[0]) if len(uses) == 1 else None
    node = file.tree.parent(attribute) if isinstance(attribute, cst.Attribute) else None
    if not isinstance(node, cst.Call) or node.func is not attribute:
        return None
    after = file.call(node)
    return after if is_step(after) and hands_on(file, call, after) else None


def is_step(call: Call) -> bool:
    """Whether a call makes a pipeline of the pipeline before the dot."""
    name = call.name or ""
    return (
        name.startswith("tf.data.Dataset.")
        and name.rpartition(".")[2] not in ENDS
        and isinstance(call.node.func, cst.Attribute)
    )


@once_per_file
def same_pipeline(file: File, call: Call) -> bool:
    """Whether a step carries on with the pipeline before it and does not derive another beside it.

    It stands in the chain, takes what a function gives, rebinds the name, or everything else that is made of the name
    is a pipeline that goes on from there too, as the parts of a split are.
    """
    chain: Node = call.node
    receiver = call.receiver_node
    while isinstance(receiver, cst.Call) and isinstance(receiver.func, cst.Attribute) and is_step(file.call(receiver)):
        if not file.call(receiver).datasets():
            return True
        receiver = receiver.func.value
    if receiver is None or isinstance(receiver, cst.Call):
        return receiver is not None
    for above in file.tree.ancestors(chain):
        if isinstance(above, cst.Assign):
            if any(file.text(target.target) == file.text(receiver) for target in above.targets):
                return True
            break
        if (
            not isinstance(above, (cst.Attribute, cst.Call))
            or getattr(above, "value", getattr(above, "func", None)) is not chain
        ):
            break
        chain = above
    if not isinstance(receiver, cst.Name):
        return False
    found = file.definitions(receiver)
    definitions = written(found)
    loop = file.contexts.loop(call.node)
    if loop is not None and any(d.binds is Binds.VALUE and not file.tree.contains(loop, d.node) for d in definitions):
        return False  # several are derived from one
    return 0 < len(definitions) == len(found) and all(
        d.binds is Binds.VALUE and (len(file.readers(d)) == 1 or all(_goes_on(file, u) for u in file.readers(d)))
        for d in definitions
    )


GOES_ON = frozenset({"batch", "padded_batch", "shuffle", "repeat", "cache"})


def _goes_on(file: File, use: cst.Name) -> bool:
    """Whether a use starts a chain that makes a pipeline of its own for a model."""
    words = {call.func.attr.value for call in chain(file.values, use) if isinstance(call.func, cst.Attribute)}
    return bool(words & GOES_ON) and "unbatch" not in words


def keeps_names(chain: Sequence[Call], file: File) -> bool:
    """Whether links of a chain can change places and each name that the module keeps is the same pipeline afterwards:
    they stand in one statement, in statements that rebind one name, or in a function."""
    statements = {id(line): line for line in (file.tree.statement(call.node) for call in chain)}
    if len(statements) == 1 or isinstance(file.scope_of(chain[0].node), (cst.FunctionDef, cst.Lambda)):
        return True
    names: set[str | None] = set()
    for line in statements.values():
        small = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
        targets = small.targets if isinstance(small, cst.Assign) else ()
        names.add(dotted(targets[0].target) if len(targets) == 1 else None)
    return len(names) == 1 and None not in names
