"""Methods of texts that are known, as names of layers, files and models are made of them."""

from __future__ import annotations

from dataclasses import dataclass

from tfmemlint.estimate.facts.asked import Arguments
from tfmemlint.estimate.facts.known import items
from tfmemlint.model.values import Const, Sequence, Unknown, Value, constant

METHODS = frozenset({"format", "lower", "upper", "replace", "strip", "lstrip", "rstrip", "startswith", "endswith",
                     "title", "capitalize", "join", "split", "zfill"})  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class TextMethod(Value):
    """A method of a known text."""

    text: str
    name: str


def called(method: TextMethod, given: Arguments) -> Value:
    """What a method of a text gives, where all that is passed is known."""
    values = [*given.positions, *given.names.values()]
    if method.name == "join" and len(given.positions) == 1:
        parts = items(given.positions[0])
        texts = [constant(each) for each in parts or ()]
        known = parts is not None and all(isinstance(each, str) for each in texts)
        return Const(method.text.join(map(str, texts))) if known else Unknown("a text")
    if given.open or not all(isinstance(each, Const) for each in values):
        return Unknown("a text")
    positions = [constant(each) for each in given.positions]
    names = {name: constant(value) for name, value in given.names.items()}
    try:
        found = getattr(method.text, method.name)(*positions, **names)
    except (TypeError, ValueError, LookupError, AttributeError):
        return Unknown("a text")
    return Sequence(tuple(map(Const, found)), "list") if isinstance(found, list) else Const(found)
