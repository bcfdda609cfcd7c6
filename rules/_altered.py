"""Whether what a call gives is changed afterwards: its weights, its layers, its attributes."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import File, Function, own_nodes, parameters

CHANGES = frozenset({
    "set_weights", "load_weights", "layers", "trainable", "trainable_variables", "trainable_weights", "variables",
    "weights", "fit", "compile", "train_on_batch", "add", "pop", "get_layer", "assign",
})  # fmt: skip


READ = frozenset({"output", "input", "output_shape", "input_shape", "name", "get_weights", "get_config"})


def changed(made: cst.BaseExpression, file: File) -> bool:
    """Whether what a call gives is changed afterwards, or goes to code that may change it."""
    assign = file.tree.parent(made)
    target = assign.targets[0].target if isinstance(assign, cst.Assign) else None
    if not isinstance(target, cst.Name):
        return False
    definition = file.definition(target)
    for use in file.uses_of(definition) if definition is not None else ():
        parent = file.tree.parent(use)
        if isinstance(parent, cst.Attribute) and parent.attr.value in CHANGES and not _shown(parent, file):
            return True
        if isinstance(parent, cst.Attribute) and isinstance(file.tree.parent(parent), cst.AssignTarget):
            return True
        call = file.tree.parent(parent) if isinstance(parent, cst.Arg) else None
        if isinstance(parent, cst.Arg) and isinstance(call, cst.Call) and _may_change(parent, call, file):
            return True
        if isinstance(parent, cst.Element):
            return True  # a part of another model
    return False


def _shown(part: cst.Attribute, file: File) -> bool:
    """Whether layers or weights are only counted or printed, or one of them is only asked for its output or name."""
    above = file.tree.parent(part)
    call = file.tree.parent(above) if isinstance(above, cst.Arg) else None
    if isinstance(call, cst.Call):
        return file.call(call).name in ("builtins.len", "builtins.print")
    one = isinstance(above, cst.Call) if part.attr.value == "get_layer" else isinstance(above, cst.Subscript)
    read = file.tree.parent(above) if one and above is not None else None
    return isinstance(read, cst.Attribute) and read.attr.value in READ


def _may_change(arg: cst.Arg, node: cst.Call, file: File) -> bool:
    call = file.call(node)
    if call.names:
        return any(name.startswith(("tensorflow_model_optimization.", "tf.keras.Sequential")) for name in call.names)
    for target in call.target.options:
        if not isinstance(target, Function) or not isinstance(target.node, cst.FunctionDef):
            return True
        names = {p.name.value for p in parameters(target.node) if call.receives(p.name.value, arg)}
        used = [n for n in own_nodes(target.node, cst.Name) if isinstance(n, cst.Name) and n.value in names]
        if any(isinstance(p := file.tree.parent(n), cst.Attribute) and p.attr.value in CHANGES for n in used):
            return True
    return not call.target.known
