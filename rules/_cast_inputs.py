"""Arrays that go nowhere but into Keras methods which cast them to float32 themselves."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import File, Node

CASTING = frozenset(f"tf.keras.Model.{name}" for name in ("fit", "evaluate", "predict"))
"""Their NumPy arrays become `floatx()`, which is float32 unless the program changes it."""

CASTS = ("x", "y", "validation_data")
SET_FLOATX = ("tf.keras.backend.set_floatx", "tf.keras.config.set_floatx")
RESHAPING = frozenset({"np.expand_dims", "np.reshape", "np.squeeze", "np.ndarray.reshape"})
DTYPE_BLIND = frozenset({"builtins.len", "np.shape", "np.ndim", "np.size"})
DEEPEST = 8


def only_cast(array: cst.BaseExpression, file: File) -> bool:
    """Whether the program does nothing with an array but give it to `fit`, `evaluate` and `predict`, under names of its
    own or as parts, and ask for its shape: whether it is float32 before cannot be seen then."""
    return not any(file.calls(*SET_FLOATX)) and _only_cast(array, file, DEEPEST)


def _only_cast(array: Node, file: File, depth: int) -> bool:
    above = file.tree.parent(array)
    if depth == 0:
        return False
    if isinstance(above, cst.Assign):
        return all(_target_only_cast(target.target, file, depth - 1) for target in above.targets)
    if isinstance(above, cst.Subscript) and above.value is array:
        return _only_cast(above, file, depth - 1)
    if isinstance(above, cst.Attribute):
        method = file.tree.parent(above)
        if isinstance(method, cst.Call) and method.func is above:
            return file.call(method).name in RESHAPING and _only_cast(method, file, depth - 1)
        return above.attr.value in ("shape", "ndim", "size")
    if isinstance(above, cst.Element):
        return _part_only_cast(above, file, depth - 1)
    return isinstance(above, (cst.Arg, cst.Del)) and _taken(array, file, depth - 1)


def _part_only_cast(element: cst.Element, file: File, depth: int) -> bool:
    """The same for an item of a tuple: of `validation_data`, or of `train, test = train / 255, test / 255`."""
    display = file.tree.parent(element)
    above = file.tree.parent(display) if isinstance(display, cst.Tuple) else None
    if isinstance(above, cst.Arg):
        return _taken(display, file, depth)
    if not isinstance(above, cst.Assign) or not isinstance(display, cst.Tuple):
        return False
    place = list(display.elements).index(element)
    targets = [t.target for t in above.targets]
    return all(
        isinstance(t, cst.Tuple)
        and len(t.elements) == len(display.elements)
        and all(isinstance(e, cst.Element) for e in t.elements)
        and _target_only_cast(t.elements[place].value, file, depth)
        for t in targets
    )


def _target_only_cast(target: Node, file: File, depth: int) -> bool:
    """Whether all that reads a name from here on only has it cast."""
    if not isinstance(target, cst.Name) or isinstance(file.scope_of(target), cst.ClassDef):
        return False
    made = file.definition(target)
    if made is None or any(made in found for found in file.global_writes.values()):
        return False
    readers = file.readers(made)
    return bool(readers) and all(_only_cast(name, file, depth) for name in readers)


def _taken(given: Node | None, file: File, depth: int) -> bool:
    """Whether an argument is one that the method casts, or one of a function that looks at nothing but its shape."""
    argument = file.tree.parent(given) if given is not None else None
    node = file.tree.parent(argument) if isinstance(argument, cst.Arg) else None
    if not isinstance(node, cst.Call):
        return isinstance(argument, cst.Del)
    call = file.call(node)
    if call.name in CASTING:
        arguments = [call.arg(name) for name in CASTS]
        return any(each is not None and each.expression is given for each in arguments)
    if call.name in RESHAPING:
        return node.args[0] is argument and _only_cast(node, file, depth)
    return call.name in DTYPE_BLIND
