"""What is read of something unknown - `args.batch_size`, `len(x)`, `table["a"].shape[0]` - and objects that have it.

Each read is a path from a name: attributes, keys, indices, a length. The object that is made up has all the paths that
are read of it and nothing else, so that code which asks for more fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import libcst as cst

from tfmemlint.model.file import File
from tfmemlint.model.values import constant
from tfmemlint.syntax.scopes import dotted
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.plan.roles import OF_ARRAYS

Path = tuple[tuple[str, object], ...]
"""Steps from a name to a part of it: ("attr", "shape"), ("key", "image"), ("index", 0), ("len", None)."""

MOST_INDEX = 8


def paths(file: File, name: Node) -> Iterator[tuple[Node, Path]]:
    """The expressions that lead away from a name by attributes, keys, indices and `len`, each with its path; first the
    name itself."""
    path: Path = ()
    yield name, path
    node: Node = name
    for above in file.tree.ancestors(name):
        step = _step(file, node, above)
        if step is None:
            if isinstance(above, (cst.Arg, cst.Index, cst.SubscriptElement)):
                continue
            return
        path = (*path, step)
        node = above
        yield node, path


def operand_path(file: File, name: Node) -> Path:
    """The attributes and keys that lead from a name to an array, as far as its use can tell: `centers` of
    `self.centers.shape[0]`. Empty where it is the name itself, or where what is read of it is called."""
    path: Path = ()
    for node, steps in paths(file, name):
        step = steps[-1] if steps else ("attr", "")
        parent = file.tree.parent(node)
        called = isinstance(parent, cst.Call) and parent.func is node
        if step[0] not in ("attr", "key") or step[1] in OF_ARRAYS or called:
            return path
        path = steps
    return path


def dotted_path(name: Node, path: Path) -> str:
    """Attributes and keys of a name as `written` has them."""
    steps = (f".{word}" if kind == "attr" else f"[{word!r}]" for kind, word in path)
    return f"{dotted(name) or ''}{''.join(steps)}"


def written(node: Node) -> str | None:
    """A name with its attributes and keys, the same for all ways to write it; None for what is anything else."""
    if isinstance(node, cst.Subscript):
        index = node.slice[0].slice if len(node.slice) == 1 else None
        key = index.value if isinstance(index, cst.Index) else None
        if not isinstance(key, cst.SimpleString) or (head := written(node.value)) is None:
            return None
        return f"{head}[{key.evaluated_value!r}]"
    if isinstance(node, cst.Attribute):
        head = written(node.value)
        return None if head is None else f"{head}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else None


def holding(name: str, parts: Mapping[Path, str]) -> str:
    """Code for an object that is made up, with code for parts of it."""
    if {path[0][0] for path in parts} == {"key"} and all(len(path) == 1 for path in parts):
        return "{" + ", ".join(f"{path[0][1]!r}: {code}" for path, code in parts.items()) + "}"
    fields: dict[str, dict[Path, str]] = {}
    for path, code in parts.items():
        fields.setdefault(str(path[0][1]), {})[path[1:]] = code
    made = {word: part[()] if () in part else holding(f"{name}.{word}", part) for word, part in fields.items()}
    given = "".join(f", {word}={code}" for word, code in made.items() if word.isidentifier())
    return f'tfmemlint_thing("{name}"{given})'


def _step(file: File, node: Node, above: Node) -> tuple[str, object] | None:
    if isinstance(above, cst.Attribute) and above.value is node:
        return "attr", above.attr.value
    if isinstance(above, cst.Subscript) and above.value is node and len(above.slice) == 1:
        index = above.slice[0].slice
        key = constant(file.value(index.value)) if isinstance(index, cst.Index) else None
        if isinstance(key, str):
            return "key", key
        return ("index", key) if isinstance(key, int) and 0 <= key < MOST_INDEX else None
    if isinstance(above, cst.Call) and len(above.args) == 1 and above.args[0].value is node:
        return ("len", None) if file.call(above).name == "builtins.len" else None
    return None


class Parts:
    """The parts that are read of one thing."""

    def __init__(self) -> None:
        self._known: dict[Path, str] = {}

    def __bool__(self) -> bool:
        return bool(self._known)

    def add(self, path: Path, code: str) -> None:
        """Have `code` at the end of a path."""
        self._known.setdefault(path, code)

    def code(self) -> str | None:
        """Code for something that has these parts; None where nothing can have all of them."""
        return _made(self._known)


def _made(parts: dict[Path, str]) -> str | None:
    if not parts:
        return "tfmemlint_object()"
    if () in parts:
        rest = [path for path in parts if path and path[0][0] != "len"]
        return None if rest else parts[()]
    by_step: dict[tuple[str, object], dict[Path, str]] = {}
    for path, code in parts.items():
        by_step.setdefault(path[0], {})[path[1:]] = code
    made = {step: _made(below) for step, below in by_step.items()}
    kinds = {kind for kind, _ in made}
    if len(kinds) != 1 or None in made.values():
        return None
    kind = kinds.pop()
    if kind == "attr":
        return f"tfmemlint_object({', '.join(f'{name}={code}' for (_, name), code in made.items())})"
    if kind == "key":
        return "{" + ", ".join(f"{key!r}: {code}" for (_, key), code in made.items()) + "}"
    if kind == "len":
        return f"range({made['len', None]})"
    last = max(int(str(index)) for _, index in made)
    return "(" + ", ".join(str(made.get(("index", number), "1")) for number in range(last + 1)) + ",)"
