"""Whether the body of a loop may change what a name or a dotted path stands for."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Array, Call, Class, File, Function, Instance, Node, dotted, own_nodes, walk

FILLS = frozenset({
    "random.shuffle", "np.random.shuffle", "np.random.Generator.shuffle", "np.random.RandomState.shuffle", "np.copyto",
    "np.put", "np.place", "np.fill_diagonal", "np.putmask",
})  # fmt: skip
"""Functions that change the array or list that they are given."""

IN_PLACE = frozenset({
    "sort", "fill", "resize", "partition", "put", "itemset", "append", "extend", "insert", "pop", "remove", "clear",
    "update", "reverse", "setdefault", "popitem", "appendleft", "popleft", "add", "discard", "assign", "assign_add",
    "assign_sub", "setflags", "shuffle",
})  # fmt: skip
"""Methods that change the object before the dot."""

PURE_METHODS = frozenset({
    "astype", "reshape", "to_numpy", "tolist", "copy", "drop", "items", "keys", "values", "format", "join", "strip",
    "lower", "upper", "replace", "glob", "transpose", "squeeze", "flatten", "ravel", "numpy", "to_dict", "split", "get",
    "toarray", "todense", "union", "mean", "std", "sum", "min", "max", "round", "clip", "head", "exists", "resolve",
})  # fmt: skip
"""Methods that give the same for the same object, of whichever library it is."""

HARMLESS = frozenset({
    "tf", "np", "builtins", "tensorflow_datasets", "pandas", "matplotlib", "os", "sys", "time", "math", "json",
    "logging", "tqdm", "sklearn", "scipy", "PIL", "cv2", "pathlib", "glob", "re", "copy", "functools", "itertools",
    "collections", "wandb", "mlflow", "absl", "pprint", "random", "datetime", "pickle", "joblib", "seaborn", "gc",
    "shutil", "csv",
})  # fmt: skip
"""Libraries whose functions leave what they are given as it is; those of others may not."""

DEEP = 2
"""Calls of methods that are followed into each other."""


def path_of(name: cst.Name, file: File) -> str:
    """The longest dotted path that is read at a name: `self.data.x`."""
    node: Node = name
    while isinstance(above := file.tree.parent(node), cst.Attribute) and above.value is node:
        called = file.tree.parent(above)
        if isinstance(called, cst.Call) and called.func is above:
            break
        node = above
    return dotted(node) or name.value


def touched(
    name: cst.Name, parts: list[Node], loop: cst.For | cst.While | cst.FunctionDef, file: File, path: str = ""
) -> bool:
    """Whether anything in the loop, these expressions left out, may change what is read at a name.

    `path` is the dotted path that starts with the name, where it is not the one written there.
    """
    path = path or path_of(name, file)
    array = path == name.value and isinstance(file.value(name), Array)
    for node in walk(loop.body):
        if any(file.tree.contains(part, node) for part in parts):
            continue
        if isinstance(node, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Del)):
            if _assigns(node.target, path):
                return True
        elif isinstance(node, cst.Call) and _call_changes(file.call(node), path, array, file):
            return True
    return False


def _assigns(target: Node, path: str) -> bool:
    for each in _targets(target):
        written = dotted(each) or dotted(getattr(each, "value", each)) or ""
        if (
            written == path
            or written.startswith((path + ".", path + "["))
            or path.startswith((written + ".", written + "["))
        ):
            return bool(written)
    return False


def _targets(target: Node) -> Iterator[Node]:
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _targets(element.value)
    else:
        yield target


def _call_changes(call: Call, path: str, array: bool, file: File) -> bool:
    given = {dotted(arg.value) for arg in call.node.args}
    receiver = call.receiver_node
    owner = dotted(receiver) if receiver is not None else None
    functions = [t for t in call.target.options if isinstance(t, Function)]
    if any(_changes_outer(t, path, file) for t in functions):
        return True
    if any(each is not None and path.startswith(f"{each}.") for each in given) and owner != path:
        rest = path.partition(".")[2]
        if _unknown_function(call) or any(_writes(t, rest, file) for t in functions):
            return True
    if call.names and path in given and FILLS.issuperset(call.names):
        return True
    if owner == path:
        if call.method in IN_PLACE:
            return True
        if array or call.method in PURE_METHODS:
            return False
        return not call.names or not all(known.startswith(("tf.", "np.")) for known in call.names)
    if array:
        return path in given and _function_changes(call, path, file)
    if owner is not None and path.startswith(f"{owner}."):
        return not call.names and any(
            not isinstance(t, Function) or _writes(t, path[len(owner) + 1 :], file) for t in call.target.options
        )
    if "." in path or path not in given:
        return False
    return _unknown_function(call) or _function_changes(call, path, file)


def _unknown_function(call: Call) -> bool:
    """Whether what is called may be code of another module that is not known to leave its arguments alone."""
    if call.names:
        return not all(name.partition(".")[0] in HARMLESS for name in call.names)
    return not all(isinstance(t, (Function, Class, Instance)) for t in call.target.options)


def _changes_outer(function: Function, path: str, file: File, depth: int = DEEP) -> bool:
    """Whether a function of the module changes what a name outside of it stands for, or calls another that does."""
    root = path.partition(".")[0].partition("[")[0]
    if depth <= 0 or not isinstance(function.node, cst.FunctionDef):
        return False
    declared = any(own_nodes(function.node, (cst.Global, cst.Nonlocal)))
    if root in file.flow(function.node).bindings and not declared:
        return False
    for node in own_nodes(function.node, (cst.AssignTarget, cst.AugAssign, cst.Call)):
        if isinstance(node, cst.Call):
            inner = [t for t in file.call(node).target.options if isinstance(t, Function)]
            if _changes_local(node, path, file) or any(_changes_outer(t, path, file, depth - 1) for t in inner):
                return True
        elif _assigns(getattr(node, "target", node), path):
            return True
    return False


def _function_changes(call: Call, path: str, file: File) -> bool:
    """Whether a function of the module changes the object that it is given, as far as its own body shows."""
    for target in call.target.options:
        if not isinstance(target, Function):
            continue
        names = [
            name for name in call.parameter_names
            if (argument := call.arg(name)) is not None and dotted(argument.expression) == path
        ]  # fmt: skip
        for node in own_nodes(target.node, (cst.AssignTarget, cst.AugAssign, cst.Call)):
            if any(_changes_local(node, name, file) for name in names):
                return True
    return False


def _changes_local(node: Node, name: str, file: File) -> bool:
    if isinstance(node, cst.Call):
        call = file.call(node)
        receiver = dotted(call.receiver_node) if call.receiver_node is not None else None
        given = name in {dotted(arg.value) for arg in node.args}
        return (receiver == name and call.method in IN_PLACE) or (
            given and bool(call.names) and FILLS.issuperset(call.names)
        )
    target = getattr(node, "target", None)
    return isinstance(target, (cst.Subscript, cst.Attribute)) and (dotted(target.value) or "") == name


def _writes(function: Function, rest: str, file: File, depth: int = DEEP) -> bool:
    """Whether a method assigns the attribute, calls a method of it, or calls another one that does."""
    attribute = rest.split(".")[0].split("[")[0]
    for node in own_nodes(function.node, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Call)):
        if attribute in _attributes(node) and not (isinstance(node, cst.Call) and file.call(node).names):
            return True
        if isinstance(node, cst.Call) and depth > 0 and node.func.__class__ is cst.Attribute:
            inner = [t for t in file.call(node).target.options if isinstance(t, Function) and t.receiver is not None]
            if any(_writes(t, rest, file, depth - 1) for t in inner if t.node is not function.node):
                return True
    return False


def _attributes(node: Node) -> Iterator[str]:
    """The attributes that a statement assigns, or whose method a call calls."""
    if isinstance(node, cst.Call):
        targets: list[Node] = [node.func.value] if isinstance(node.func, cst.Attribute) else []
    else:
        targets = list(_targets(getattr(node, "target", node)))
    for target in targets:
        while isinstance(target, cst.Subscript):
            target = target.value
        if isinstance(target, cst.Attribute):
            yield target.attr.value
