"""What becomes of a model that an expression makes: is it trained, is it kept, or is it forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tfmemlint.api import Class, File, Function, Node, own_nodes, parameters, walk

TRAINS = frozenset({
    "compile", "fit", "train_on_batch", "evaluate", "predict", "fit_generator", "trainable_variables",
    "trainable_weights",
})  # fmt: skip

KEEPS = frozenset({"append", "add", "extend", "insert", "setdefault", "update", "put", "appendleft"})


@dataclass(frozen=True)
class Fate:
    """What the code around an object does with it: `only_read` if all of its uses are attributes and methods."""

    trained: bool
    kept: bool
    only_read: bool


def fate(made: cst.BaseExpression, file: File, path: tuple[int, ...] = ()) -> Fate | None:
    """What becomes of the object that `made` gives (at `path` of a tuple); None where it is not followed."""
    parent = file.tree.parent(made)
    if isinstance(parent, cst.Attribute) and not path:
        return Fate(parent.attr.value in TRAINS, False, True)
    if isinstance(parent, cst.Arg) and isinstance(taker := file.tree.parent(parent), cst.Call) and not path:
        known = file.call(taker).target.options
        return _passed(parent, file) if all(isinstance(t, Function) for t in known) else None
    if not isinstance(parent, cst.Assign) or len(parent.targets) != 1:
        return None
    target: Node = parent.targets[0].target
    for index in path:
        if not isinstance(target, (cst.Tuple, cst.List)) or index >= len(target.elements):
            return None
        target = target.elements[index].value
    if isinstance(target, cst.Attribute) and isinstance(target.value, cst.Name):
        return _fate(_attribute_uses(target, file), file)
    if not isinstance(target, cst.Name):
        return None
    definition = file.definition(target)
    return None if definition is None else _fate(list(file.uses_of(definition)), file)


def _attribute_uses(target: cst.Attribute, file: File) -> list[Node]:
    """The other places of the same function that name the same attribute."""
    scope, text = file.scope_of(target), file.text(target)
    named = [n for n in file.tree.of(cst.Attribute) if n is not target and n.attr.value == target.attr.value]
    return [n for n in named if file.scope_of(n) is scope and file.text(n) == text]


def _fate(uses: list[Node], file: File) -> Fate:
    trained = kept = False
    only_read = True
    for use in uses:
        parent = file.tree.parent(use)
        if isinstance(parent, cst.Attribute) and parent.value is use:
            trained = trained or parent.attr.value in TRAINS
            continue
        if isinstance(parent, cst.Del):
            continue
        only_read = False
        if isinstance(parent, cst.Arg):
            passed = _passed(parent, file)
            trained, kept = trained or passed.trained, kept or passed.kept
        else:
            kept = kept or _stored(parent, use, file)
    return Fate(trained, kept, only_read)


def _passed(arg: cst.Arg, file: File, depth: int = 3) -> Fate:
    """What a function does that is given the object, and the functions that it gives it to."""
    node = file.tree.parent(arg)
    if not isinstance(node, cst.Call):
        return Fate(False, False, False)
    if isinstance(node.func, cst.Attribute) and node.func.attr.value in KEEPS:
        return Fate(False, True, False)
    call = file.call(node)
    trained = kept = False
    for target in call.target.options if depth else ():
        if not isinstance(target, Function) or not isinstance(target.node, cst.FunctionDef):
            continue
        names = {p.name.value for p in parameters(target.node) if call.receives(p.name.value, arg)}
        for use in own_nodes(target.node, cst.Name):
            if not isinstance(use, cst.Name) or use.value not in names:
                continue
            parent = file.tree.parent(use)
            trained = trained or (isinstance(parent, cst.Attribute) and parent.attr.value in TRAINS)
            if isinstance(parent, cst.Arg):
                inner = _passed(parent, file, depth - 1)
                trained, kept = trained or inner.trained, kept or inner.kept
            else:
                kept = kept or _stored(parent, use, file)
    return Fate(trained, kept, False)


def _stored(parent: Node | None, use: Node, file: File) -> bool:
    """Whether the object is put into a container or attribute, returned or yielded; not by a plain second name."""
    if isinstance(parent, (cst.Assign, cst.AnnAssign)):
        target = parent.target if isinstance(parent, cst.AnnAssign) else parent.targets[0].target
        return not isinstance(target, cst.Name) and not _best_so_far(parent, target, file)
    if isinstance(parent, cst.Element):
        display = file.tree.parent(parent)
        assign = file.tree.parent(display) if display is not None else None
        if isinstance(display, cst.Tuple) and isinstance(assign, cst.Assign):
            targets = assign.targets[0].target
            return not (isinstance(targets, cst.Tuple) and all(isinstance(e.value, cst.Name) for e in targets.elements))
        return True
    return isinstance(parent, (cst.DictElement, cst.Yield, cst.Return, cst.NamedExpr))


def _best_so_far(assign: Node, target: Node, file: File) -> bool:
    """`if loss < best: self.best_model = model` keeps one model, not all."""
    return isinstance(target, cst.Attribute) and any(isinstance(a, cst.If) for a in file.tree.ancestors(assign))


def calls_in(function: Function | Class, file: File) -> Iterator[cst.Call]:
    """The calls that run when a function is called, or an object of a class is made."""
    node: Node | None = function.node
    if isinstance(function, Class):
        node = file.values.classes.method(function.node, "__init__")
    if isinstance(node, cst.FunctionDef):
        yield from own_nodes(node, cst.Call)
    elif isinstance(node, cst.Lambda):
        yield from walk(node.body, cst.Call)
