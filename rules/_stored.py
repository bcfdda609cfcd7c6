"""Places that put a value into a list or dictionary, and containers that keep only the last few."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tfmemlint.api import Call, File, Node, called_word, dotted, walk

PUTS = ("append", "extend", "appendleft", "insert", "update")
COPIES = frozenset({"identity", "convert_to_tensor", "stop_gradient"})


@dataclass(frozen=True, slots=True)
class Stored:
    """A value that is put into a container: what does it, as a call or a statement, and the two expressions."""

    where: Call | Node
    node: Node
    container: cst.BaseExpression
    item: cst.BaseExpression

    @property
    def parts(self) -> list[cst.BaseExpression]:
        """The value, or the parts of the tuple, list or dictionary that is stored; of a copy what is copied."""
        if isinstance(self.item, cst.ListComp) and isinstance(copied := self.item.for_in.target, cst.Name):
            made = self.item.elt
            while isinstance(made, cst.Call) and called_word(made) in COPIES and made.args:
                made = made.args[0].value
            return [self.item.for_in.iter] if isinstance(made, cst.Name) and made.value == copied.value else []
        if isinstance(self.item, (cst.Tuple, cst.List, cst.Dict)):
            return [element.value for element in self.item.elements]
        return [self.item]


def stored(file: File) -> Iterator[Stored]:
    """`list.append(x)`, `list.extend([x])`, `list += [x]`, `dict.update({key: x})` and `container[key] = x`."""
    for word in PUTS:
        for node in file.calls_by_word.get(word, ()):
            item = _given(node, word)
            if isinstance(node.func, cst.Attribute) and item is not None:
                yield Stored(file.call(node), node, _kept_in(node.func.value, file), item)
    for aug in file.tree.of(cst.AugAssign):
        item = _only(aug.value) if isinstance(aug.operator, cst.AddAssign) else None
        if item is not None:
            yield Stored(aug, aug, aug.target, item)
    for assign in file.tree.of(cst.Assign):
        target = assign.targets[0].target
        if isinstance(target, cst.Subscript) and dotted(target) is None:  # a constant key is written over
            yield Stored(assign, assign, target.value, assign.value)


def _given(node: cst.Call, word: str) -> cst.BaseExpression | None:
    """What a call puts into its container."""
    if len(node.args) != (2 if word == "insert" else 1):
        return None
    item = node.args[-1].value
    if word == "extend" and isinstance(item, (cst.List, cst.Tuple)):
        return _only(item)
    if word != "update":
        return item
    single = item.elements[0] if isinstance(item, cst.Dict) and len(item.elements) == 1 else None
    changes = isinstance(single, cst.DictElement) and not isinstance(single.key, cst.BaseString)
    return single.value if changes and isinstance(single, cst.DictElement) else None


def _kept_in(container: cst.BaseExpression, file: File) -> cst.BaseExpression:
    """The dictionary whose list is made where it is first asked for: `kept.setdefault(key, [])`."""
    made = file.written(container)
    if isinstance(made, cst.Call) and isinstance(made.func, cst.Attribute) and called_word(made) == "setdefault":
        return made.func.value
    return container


def _only(items: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """The item of a display that has one."""
    single = isinstance(items, (cst.List, cst.Tuple)) and len(items.elements) == 1
    return items.elements[0].value if single and isinstance(items, (cst.List, cst.Tuple)) else None


def bounded(container: cst.BaseExpression, file: File) -> bool:
    """Whether a container is made as `deque(maxlen=...)`: what is put in pushes something out."""
    path = dotted(container)
    for node in file.calls_by_word.get("deque", ()):
        made = file.call(node)
        above = file.tree.parent(node)
        length = made.arg("maxlen") or made.arg(1)
        if made.name == "collections.deque" and length is not None and isinstance(above, cst.Assign):
            if any(dotted(target.target) == path for target in above.targets):
                return True
    return False


def read_as_tensors(container: cst.BaseExpression, file: File) -> bool:
    """Whether the items of a container have `.numpy()` called on them later: `[x.numpy() for x in kept]`, `kept[0]`."""
    root = container
    while isinstance(root, cst.Subscript):
        root = root.value
    path = dotted(root)
    for node in file.calls_by_word.get("numpy", ()):
        item = node.func.value if isinstance(node.func, cst.Attribute) else node
        if isinstance(item, cst.Subscript) and dotted(item.value) == path:
            return True
        for above in file.tree.ancestors(node):
            loop = above if isinstance(above, cst.For) else getattr(above, "for_in", None)
            if (
                loop is not None
                and any(path in (dotted(n), _tail(n)) for n in walk(loop.iter))
                and not file.tree.contains(loop, container)
            ):
                return True
    return False


def _tail(node: Node) -> str | None:
    """The attribute's own name: `preds` is what `other.preds` is outside the class."""
    return f"self.{node.attr.value}" if isinstance(node, cst.Attribute) else None
