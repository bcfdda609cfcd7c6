"""Whether the body of a loop may change what a name or a dotted path stands for."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst
from tfmemlint_rules._pure import pure_method
from tfmemlint_rules._writes import FILLS, IN_PLACE, assigns, changes_argument, changes_outer, writes_attribute

from tfmemlint.api import Array, Call, Class, File, Function, Instance, Node, dotted, walk

HARMLESS = frozenset({
    "tf", "np", "builtins", "tensorflow_datasets", "pandas", "matplotlib", "os", "sys", "time", "math", "json",
    "logging", "tqdm", "sklearn", "scipy", "PIL", "cv2", "pathlib", "glob", "re", "copy", "functools", "itertools",
    "collections", "wandb", "mlflow", "absl", "pprint", "random", "datetime", "pickle", "joblib", "seaborn", "gc",
    "shutil", "csv",
})  # fmt: skip
"""Libraries whose functions leave what they are given as it is; those of others may not."""


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
    name: cst.Name, parts: Sequence[Node], loop: cst.For | cst.While | cst.FunctionDef, file: File, path: str = ""
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
            if assigns(node.target, path):
                return True
        elif isinstance(node, cst.Call) and _call_changes(file.call(node), path, array, file):
            return True
    return False


def _call_changes(call: Call, path: str, array: bool, file: File) -> bool:
    given = {dotted(arg.value) for arg in call.node.args}
    receiver = call.receiver_node
    owner = dotted(receiver) if receiver is not None else None
    functions = [t for t in call.target.options if isinstance(t, Function)]
    if any(changes_outer(t, path, file) for t in functions):
        return True
    if any(each is not None and path.startswith(f"{each}.") for each in given) and owner != path:
        rest = path.partition(".")[2]
        if _unknown_function(call) or any(writes_attribute(t, rest, file) for t in functions):
            return True
    if call.names and path in given and FILLS.issuperset(call.names):
        return True
    if owner == path:
        if call.method in IN_PLACE:
            return True
        if array or pure_method(call):
            return False
        return not call.names or not all(known.startswith(("tf.", "np.")) for known in call.names)
    if array:
        return path in given and changes_argument(call, path, file)
    if owner is not None and path.startswith(f"{owner}."):
        if _held(call, file) and not path.startswith(f"{owner}.{call.method}."):
            return False
        return not call.names and any(
            not isinstance(t, Function) or writes_attribute(t, path[len(owner) + 1 :], file)
            for t in call.target.options
        )
    if "." in path or path not in given:
        return False
    return _unknown_function(call) or changes_argument(call, path, file)


def _unknown_function(call: Call) -> bool:
    """Whether what is called may be code of another module that is not known to leave its arguments alone."""
    if call.names:
        return not all(name.partition(".")[0] in HARMLESS for name in call.names)
    return not all(isinstance(t, (Function, Class, Instance)) for t in call.target.options)


def _held(call: Call, file: File) -> bool:
    """Whether what is called is an object that an attribute holds, `self.model(x)`: it does not know its holder."""
    owner = call.receiver
    node = owner.class_node if isinstance(owner, Instance) else None
    if node is None or call.method is None or file.values.classes.method(node, call.method) is not None:
        return False
    return bool(file.values.classes.definitions(node, call.method))
