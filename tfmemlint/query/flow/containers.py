"""What code puts into lists and dictionaries, and whether it stays there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.contexts import MAPS
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Sequence
from tfmemlint.query.facts import Fact
from tfmemlint.query.repetition.repeats import Repetition, repeats
from tfmemlint.syntax.scopes import dotted, written
from tfmemlint.syntax.tree import Node, called_word

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

PUTS = ("append", "extend", "appendleft", "insert", "update")
TAKES_OUT = ("clear", "pop", "popleft", "popitem")


@dataclass(frozen=True, slots=True)
class Put:
    """A value that is put into a container, beside what is there: `where` is the call or statement that does it."""

    where: Call | Node
    node: Node
    container: cst.BaseExpression
    item: cst.BaseExpression

    @property
    def parts(self) -> list[cst.BaseExpression]:
        """The value, or those in the tuple, list or dictionary that it is."""
        if isinstance(self.item, (cst.Tuple, cst.List, cst.Dict)):
            return [element.value for element in self.item.elements]
        return [self.item]


def puts(file: File) -> Iterator[Put]:
    """All of `list.append(x)`, `list.extend([x])`, `list += [x]`, `dict.update({key: x})` and `container[key] = x`.

    What replaces the same item each time (`d["last"] = x`) is left out, and so is what adds several values at once. Of
    `d.setdefault(key, []).append(x)` the container is `d`. That an object is no container of Python's is not asked.
    """
    for word in PUTS:
        for node in file.calls_by_word.get(word, ()):
            item, called = _given(node, word), file.called(node)
            if isinstance(called, cst.Attribute) and item is not None:
                yield Put(file.call(node), node, _asked_for(file, called.value), item)
    for aug in file.tree.of(cst.AugAssign):
        item = _only(aug.value) if isinstance(aug.operator, cst.AddAssign) else None
        if item is not None:
            yield Put(aug, aug, aug.target, item)
    for assign in file.tree.of(cst.Assign):
        target = assign.targets[0].target
        if isinstance(target, cst.Subscript) and dotted(target) is None:
            yield Put(assign, assign, target.value, assign.value)


def _repeated_puts(file: File) -> Iterator[tuple[Put, Repetition]]:
    for put in puts(file):
        found = repeats(file, put.node)
        if found is not None and not found.handler:
            yield put, found


repeated_puts = Fact(_repeated_puts, "for", "while", *sorted(MAPS))
"""Each put that a loop, comprehension or `map` runs again, with what it is; requests to a server do not count."""


def collects(file: File, container: cst.BaseExpression, found: Repetition) -> bool:
    """Whether what is put into a container stays there from one iteration to the next.

    The container, or what it is a part of, is there before the loop (before the function, where that is called again),
    and nothing empties it or makes it anew. True for an attribute of which nothing else is seen.
    """
    while isinstance(container, cst.Subscript):
        container = container.value
    path = dotted(container)
    if path is None or is_emptied(file, path, found.place) or is_bounded(file, container):
        return False
    if isinstance(container, cst.Attribute):
        return not found.calls or (path.startswith("self.") and not _begun_anew(file, path))
    definitions = file.definitions(container)
    if not definitions:  # of the module, or of a function around
        return file.written(container) is not container and not is_emptied(file, path, file.module)
    made = (d for d in written(definitions) if not isinstance(d.value, cst.AugAssign))
    return not found.calls and not any(file.tree.contains(found.place, d.node) for d in made)


@once_per_file
def _begun_anew(file: File, path: str) -> bool:
    """Whether any method empties the list of an object, or begins a new one."""
    homes = (file.contexts.function(assign) for assign in file.assigned_paths.get(path, ()))
    again = any(isinstance(home, cst.FunctionDef) and home.name.value != "__init__" for home in homes)
    return again or is_emptied(file, path, file.module)


def is_bounded(file: File, container: cst.BaseExpression) -> bool:
    """Whether a container is seen to be made as `deque(maxlen=...)`: what is put in pushes something out."""
    path = dotted(container)
    return path is not None and _made_bounded(file, path)


@once_per_file
def _made_bounded(file: File, path: str) -> bool:
    makings = (assign.value for assign in file.assigned_paths.get(path, ()))
    calls = (file.call(made) for made in makings if isinstance(made, cst.Call))
    return any(c.name == "collections.deque" and (c.arg("maxlen") or c.arg(1)) is not None for c in calls)


def is_emptied(file: File, path: str | None, within: Node) -> bool:
    """Whether some code takes out what the container of this dotted path holds: `kept.clear()`, `kept.pop()`,
    `del kept[0]`."""
    calls = (call for word in TAKES_OUT for call in file.method_calls.get((word, path), ()))
    if any(file.tree.contains(within, call) for call in calls):
        return True
    return path is not None and any(file.tree.contains(within, each) for each in _deleted(file).get(path, ()))


@once_per_file
def _deleted(file: File) -> dict[str, list[cst.Del]]:
    """The statements that delete what a dotted path stands for, or a part of it, by the path."""
    found: dict[str, list[cst.Del]] = {}
    for node in file.tree.of(cst.Del):
        target = node.target.value if isinstance(node.target, cst.Subscript) else node.target
        if (path := dotted(target)) is not None:
            found.setdefault(path, []).append(node)
    return found


def is_filled(file: File, container: cst.BaseExpression) -> bool:
    """Whether a name or dotted path stands for a list or tuple that is known, and some code calls a method of it that
    changes it (`kept.append(x)`), so that what it was made with need not be all that is in it."""
    path = dotted(container)
    changed = (file.method_calls.get((word, path)) for word in knowledge.group("changes_object"))
    return path is not None and any(changed) and isinstance(file.value(container), Sequence)


def is_made_anew(file: File, path: str, within: Node) -> bool:
    """Whether some code gives the name of a container something else to stand for: `kept = []`."""
    return any(file.tree.contains(within, assign) for assign in file.assigned_paths.get(path, ()))


def _given(node: cst.Call, word: str) -> cst.BaseExpression | None:
    """What a call puts into its container; None for several values, and for none that changes."""
    if len(node.args) != (2 if word == "insert" else 1):
        return None
    item = node.args[-1].value
    if word == "extend" and isinstance(item, (cst.List, cst.Tuple)):
        return _only(item)
    if word != "update":
        return item
    single = item.elements[0] if isinstance(item, cst.Dict) and len(item.elements) == 1 else None
    changes = isinstance(single, cst.DictElement) and not isinstance(single.key, cst.BaseString)
    return single.value if single is not None and changes else None


def _asked_for(file: File, container: cst.BaseExpression) -> cst.BaseExpression:
    made = file.written(container)
    if isinstance(made, cst.Call) and isinstance(made.func, cst.Attribute) and called_word(made) == "setdefault":
        return made.func.value
    return container


def _only(items: cst.BaseExpression) -> cst.BaseExpression | None:
    """The item of a display that has one."""
    single = isinstance(items, (cst.List, cst.Tuple)) and len(items.elements) == 1
    return items.elements[0].value if single and isinstance(items, (cst.List, cst.Tuple)) else None
