"""Environments: which definitions each name of one scope has at one place, shared between places.

An environment never changes. Binding a name gives another one that shares all but a path of sixteen-way nodes with
the old, and a join goes only into the nodes that differ, so that what a scope costs grows with its statements and not
with its statements times its names. What lies below a name (`self.x` below `self`) is kept in the name's own slot:
binding `self` anew forgets all of it at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tfmemlint.syntax.scopes import OUTER, Binds, Definition, Definitions, Further, Reaching

BITS = 4
WIDTH = 1 << BITS
MASK = WIDTH - 1

MOST_DEFINITIONS = 100
"""Definitions of a name that are told apart at one place."""

_Node = list[Any]
"""A leaf holds slots, any other node holds nodes; None stands for nothing bound there."""


class Name:
    """A name or dotted path of one scope, with its place among the names that have the same one before it."""

    __slots__ = ("below", "index", "parent", "text")

    def __init__(self, text: str, index: int, parent: Name | None) -> None:
        self.text = text
        self.index = index
        self.parent = parent
        self.below: list[Name] = []


class Names:
    """All names that one scope binds, by their text; `top` are those without a dot or item."""

    __slots__ = ("_known", "get", "top")

    def __init__(self) -> None:
        self._known: dict[str, Name] = {}
        self.get = self._known.get
        self.top: list[Name] = []

    def named(self, text: str) -> Name:
        """The name of this text, made when it is new."""
        known = self._known.get(text)
        if known is None:
            cut = max(text.rfind("."), text.rfind("["))
            parent = self.named(text[:cut]) if cut > 0 else None
            siblings = self.top if parent is None else parent.below
            known = self._known[text] = Name(text, len(siblings), parent)
            siblings.append(known)
        return known


class _Trie:
    """A persistent array: slots by index, None where there is none."""

    __slots__ = ("root", "shift")

    def __init__(self, root: _Node, shift: int) -> None:
        self.root = root
        self.shift = shift

    def get(self, index: int) -> Any:
        shift, node = self.shift, self.root
        if index >> shift > MASK:
            return None
        while shift:
            step = index >> shift & MASK
            node = node[step] if step < len(node) else None  # type: ignore[assignment]
            if node is None:
                return None
            shift -= BITS
        index &= MASK
        return node[index] if index < len(node) else None

    def set(self, index: int, slot: Any) -> _Trie:
        root, shift = self.root, self.shift
        while index >> shift > MASK:
            root, shift = [root], shift + BITS
        return _Trie(_with(root, shift, index, slot), shift)

    def raised(self, shift: int) -> _Node:
        """The root as it is in a taller array."""
        root = self.root
        for _ in range(self.shift, shift, BITS):
            root = [root]
        return root


def _with(node: _Node | None, shift: int, index: int, slot: Any) -> _Node:
    """A node with one slot below it replaced."""
    step = index >> shift & MASK
    new = [] if node is None else node.copy()
    if step >= len(new):
        new += [None] * (step + 1 - len(new))
    new[step] = _with(new[step], shift - BITS, index, slot) if shift else slot
    return new


class _Slot:
    """What is known of a name that has names below it; those without have their definitions alone in their slot."""

    __slots__ = ("below", "own")

    def __init__(self, own: Definitions | None, below: _Trie) -> None:
        self.own = own
        self.below = below


class Env:
    """The definitions of each name at one place."""

    __slots__ = ("_names", "_trie")

    def __init__(self, names: Names, trie: _Trie) -> None:
        self._names = names
        self._trie = trie

    @classmethod
    def empty(cls, names: Names) -> Env:
        """Nothing is bound."""
        return cls(names, _Trie([], 0))

    def get(self, text: str, default: Definitions = ()) -> Definitions:
        """The definitions of a name or dotted path; `default` where the scope has not bound it."""
        name = self._names.get(text)
        found = self.at(name) if name is not None else None
        return default if found is None else found

    def at(self, name: Name) -> Definitions | None:
        """The definitions of a name, or None where it is not bound."""
        slot = self._slot(name)
        return slot.own if slot.__class__ is _Slot else slot

    def _slot(self, name: Name) -> Any:
        if name.parent is None:
            return self._trie.get(name.index)
        above = self._slot(name.parent)
        return above.below.get(name.index) if above.__class__ is _Slot else None

    def bind(self, name: Name, definitions: Definitions) -> Env:
        """The environment after a name has got a value; what was known of names below it is forgotten."""
        slot: Any = definitions
        while name.parent is not None:
            above = self._slot(name.parent)
            own, below = (above.own, above.below) if above.__class__ is _Slot else (above, _Trie([], 0))
            slot = _Slot(own, below.set(name.index, slot))
            name = name.parent
        return Env(self._names, self._trie.set(name.index, slot))

    def items(self) -> Iterator[tuple[str, Definitions]]:
        """All bound names and their definitions, in the order in which the scope first binds them."""
        yield from _items(self._trie, self._names.top)

    def values(self) -> Iterator[Definitions]:
        """The definitions of each bound name."""
        for _, definitions in self.items():
            yield definitions


def _items(trie: _Trie, names: Iterable[Name]) -> Iterator[tuple[str, Definitions]]:
    for name in names:
        slot = trie.get(name.index)
        own = slot.own if slot.__class__ is _Slot else slot
        if own is not None:
            yield name.text, own
        if slot.__class__ is _Slot:
            yield from _items(slot.below, name.below)


def join(*envs: Env | None) -> Env | None:
    """What holds where several paths meet; None stands for a path that never arrives."""
    alive = list({id(env): env for env in envs if env is not None}.values())
    if len(alive) < 2:
        return alive[0] if alive else None
    return Env(alive[0]._names, _joined([env._trie for env in alive]))


def _joined(tries: list[_Trie]) -> _Trie:
    shift = max(trie.shift for trie in tries)
    return _Trie(_meet([trie.raised(shift) for trie in tries], shift), shift)


def _meet(nodes: list[_Node | None], shift: int) -> _Node:
    """The join of nodes at one place of several arrays, which is the first of them where it changes nothing there."""
    nodes = list({id(node): node for node in nodes}.values())
    first = nodes[0]
    if len(nodes) == 1 and first is not None:
        return first
    met: _Node = []
    for step in range(max(len(node) for node in nodes if node is not None)):
        parts = [node[step] if node is not None and step < len(node) else None for node in nodes]
        part = parts[0]
        if any(other is not part for other in parts):
            part = _meet(parts, shift - BITS) if shift else _meeting(parts)
        met.append(part)
    same = first is not None and len(first) == len(met) and all(a is b for a, b in zip(first, met, strict=True))
    return first if same and first is not None else met


def _meeting(slots: list[Any]) -> Any:
    """The join of what several paths know of one name."""
    if any(slot.__class__ is _Slot for slot in slots):
        owns = [slot.own if slot.__class__ is _Slot else slot for slot in slots]
        below = [slot.below if slot.__class__ is _Slot else _Trie([], 0) for slot in slots]
        return _Slot(None if all(own is None for own in owns) else _union(owns), _joined(below))
    return _union(slots)


def _union(found: list[Definitions | None]) -> Definitions:
    """All definitions of a name, in order; a path that has none brings what is bound outside of the scope."""
    distinct: dict[int, Reaching] = {}
    for definitions in {id(each): each for each in found}.values():
        for definition in (OUTER,) if definitions is None else definitions:
            distinct[id(definition)] = definition
    union = tuple(distinct.values()) if len(distinct) <= MOST_DEFINITIONS else _limited([*distinct.values()])
    first = found[0]
    return first if first is not None and first == union else union


def _limited(found: list[Reaching]) -> Definitions:
    """As many definitions as are told apart, and one that stands for the rest."""
    told = [definition for definition in found if not isinstance(definition, Further)]
    if len(told) <= MOST_DEFINITIONS:
        return tuple(found)
    kept = told[:MOST_DEFINITIONS]
    outer = [OUTER] if OUTER in told and OUTER not in kept else []
    last = next(definition for definition in reversed(kept) if isinstance(definition, Definition))
    rest = next((definition for definition in found if isinstance(definition, Further)), None)
    return (*kept, *outer, rest or Further(last.name, Binds.UNKNOWN, last.node, last.scope))
