"""Whether a call makes the same thing in every iteration of a loop, and moving its statement out of the loop."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Api, Array, Binds, Call, File, Fix, Function, Node, Safety, dotted, own_nodes, walk
from tfmemlint.fix.edits import insert_before, statement_lines

PURE = ("tf.constant", "tf.cast", "tf.convert_to_tensor", "tf.expand_dims", "tf.reshape", "tf.TensorSpec",
        "tf.TensorShape",
        "tf.one_hot", "tf.zeros", "tf.ones", "tf.range", "tf.keras.utils.to_categorical", "os.path.", "np.array",
        "np.asarray", "np.expand_dims", "np.arange", "np.zeros", "np.ones", "np.stack", "np.float32", "builtins.",
        "tf.io.gfile.glob",
        "glob.glob", "os.listdir", "np.ndarray.", "np.concatenate", "tf.stack", "tf.concat", "tf.data.",
        "pathlib.")  # fmt: skip
"""Beginnings of names of calls that give the same for the same arguments."""

IMPURE = frozenset({"builtins.input", "builtins.next", "builtins.iter", "builtins.open"})


def unchanging(
    call: Call, within: cst.For | cst.While | cst.FunctionDef, file: File, known: Node | None = None
) -> bool:
    """Whether nothing that a call's arguments, and the chain that goes on from it, are made of changes in a loop.

    For a function: whether they are made of its parameters, of what stands outside and of pure calls only. `known` is
    a name of which this is known already.
    """
    whole = _chain_end(call, file)
    for node in walk(whole):
        if isinstance(node, cst.Call) and node is not call.node and not _pure(node, file):
            return False
        if isinstance(node, cst.Await | cst.Yield | cst.NamedExpr):
            return False
        if node is known:
            continue
        if isinstance(node, cst.Name) and _is_read(node, file) and _changes(node, whole, within, file):
            return False
    further = _carried_on(whole, within, file)
    return further is None or unchanging(further, within, file, further.receiver_node)


def _carried_on(whole: Node, within: Node, file: File) -> Call | None:
    """The step that a later statement of a loop applies to a chain that nothing else reads."""
    assign = file.tree.parent(whole)
    target = assign.targets[0].target if isinstance(assign, cst.Assign) and len(assign.targets) == 1 else None
    if not isinstance(target, cst.Name) or isinstance(within, cst.FunctionDef):
        return None
    made = [d for d in file.flow(file.scope_of(target)).bindings.get(target.value, ()) if d.node is target]
    reads = [use for d in made for use in file.readers(d)]
    attribute = file.tree.parent(reads[0]) if len(reads) == 1 else None
    step = file.tree.parent(attribute) if isinstance(attribute, cst.Attribute) else None
    if not isinstance(step, cst.Call) or step.func is not attribute or not file.tree.contains(within, step):
        return None
    return file.call(step)


def _chain_end(call: Call, file: File) -> Node:
    """The whole chain of methods that starts with this call, or the call alone."""
    node: Node = call.node
    while True:
        attribute = file.tree.parent(node)
        above = file.tree.parent(attribute) if isinstance(attribute, cst.Attribute) else None
        if not isinstance(above, cst.Call) or above.func is not attribute:
            return node
        node = above


def _pure(node: cst.Call, file: File) -> bool:
    call = file.call(node)
    if not call.names:
        return False
    return all(name.startswith(PURE) and name not in IMPURE for name in call.names)


def _is_read(node: cst.Name, file: File) -> bool:
    parent = file.tree.parent(node)
    if isinstance(parent, cst.Attribute) and parent.attr is node:
        return False
    return not (isinstance(parent, cst.Arg) and parent.keyword is node) and not isinstance(parent, cst.Param)


def _changes(name: cst.Name, whole: Node, within: cst.For | cst.While | cst.FunctionDef, file: File) -> bool:
    definitions = file.flow(file.scope_of(name)).uses.get(id(name), ())
    inside = [d for d in definitions if file.tree.contains(within, d.node) and not file.tree.contains(whole, d.node)]
    if isinstance(within, cst.FunctionDef):
        inside = [d for d in inside if d.binds is not Binds.PARAMETER]
        return any(d.value is None or not _simple(d.value, file) for d in inside)
    if inside:
        return True
    if isinstance(file.value(name), Api):
        return False
    path = _path(name, file)
    return any(_touches(node, path, name, file) for node in walk(within.body) if not file.tree.contains(whole, node))


def _simple(value: Node, file: File) -> bool:
    """Whether a local value of a function is computed from what is outside of it by pure calls."""
    return all(_pure(node, file) for node in walk(value) if isinstance(node, cst.Call))


def _path(name: cst.Name, file: File) -> str:
    """The longest dotted path that is read at a name: `self.data.x`."""
    node: Node = name
    while isinstance(above := file.tree.parent(node), cst.Attribute) and above.value is node:
        called = file.tree.parent(above)
        if isinstance(called, cst.Call) and called.func is above:
            break
        node = above
    return dotted(node) or name.value


def _touches(node: Node, path: str, name: cst.Name, file: File) -> bool:
    """Whether a node in the loop may change what `path` stands for: assigns it, or calls something that may."""
    if isinstance(node, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Del)):
        target = node.target
        written = dotted(target) or dotted(getattr(target, "value", target)) or ""
        return written == path or written.startswith((path + ".", path + "[")) or path.startswith(written + ".")
    if not isinstance(node, cst.Call):
        return False
    call = file.call(node)
    if isinstance(file.value(name), Array):
        return False
    receiver = call.receiver_node
    if receiver is not None and (dotted(receiver) or "") == path:
        return not call.names or not all(known.startswith(("tf.", "np.")) for known in call.names)
    if receiver is not None and path.startswith(f"{dotted(receiver)}."):
        return any(not isinstance(t, Function) or _writes(t, path, file) for t in call.target.options)
    if call.names or "." in path:
        return False
    given = {arg.value.value for arg in node.args if isinstance(arg.value, cst.Name)}
    return path in given and not all(isinstance(t, Function) for t in call.target.options)


def _writes(function: Function, path: str, file: File) -> bool:
    """Whether a method assigns the attribute, or calls a method of it."""
    last = path.split(".")[1]
    for node in own_nodes(function.node, (cst.AssignTarget, cst.AugAssign, cst.Call)):
        for found in _attributes(node):
            if found == last:
                return True
    return False


def _attributes(node: Node) -> Iterator[str]:
    target = (
        node.func.value
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute)
        else getattr(node, "target", None)
    )
    while isinstance(target, cst.Subscript):
        target = target.value
    if isinstance(target, cst.Attribute):
        yield target.attr.value


def hoist(file: File, call: Call, loop: cst.For | cst.While) -> Fix | None:
    """Move the assignment of a pipeline in front of the loop; None where it is not one plain statement of its body."""
    line = file.tree.statement(call.node)
    body = loop.body.body if isinstance(loop.body, cst.IndentedBlock) else ()
    if (
        not any(statement is line for statement in body)
        or len(body) < 2
        or not isinstance(line, cst.SimpleStatementLine)
    ):
        return None
    assign = line.body[0]
    if len(line.body) != 1 or not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return None
    name, lines = assign.targets[0].target, statement_lines(file, line)
    if not isinstance(name, cst.Name) or lines is None:
        return None
    bindings = [
        d for d in file.flow(file.scope_of(line)).bindings.get(name.value, ()) if file.tree.contains(loop, d.node)
    ]
    if len(bindings) != 1 or not all(
        _pure_chain(node, file) for node in walk(assign.value) if isinstance(node, cst.Call)
    ):
        return None
    span = file.span(line)
    indent = span.start - file.source.line_span(span.start).start
    outer = file.span(loop).start - file.source.line_span(file.span(loop).start).start
    cut = " " * (indent - outer)
    text = "\n".join(part.removeprefix(cut) for part in file.source.text[span.start : span.end].split("\n"))
    lead = " " * outer
    text = "\n".join(part.removeprefix(lead) for part in text.split("\n"))
    from tfmemlint.api import Edit

    return Fix("build it once", (insert_before(file, loop, text), Edit(lines.start, lines.end, "")), Safety.UNSAFE)


def _pure_chain(node: cst.Call, file: File) -> bool:
    return _pure(node, file) or bool(file.call(node).names)
