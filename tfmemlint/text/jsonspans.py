"""Reads the code of a notebook's JSON together with the places where each string stands.

Only the way to the cells' sources is walked here; everything else, such as outputs of many megabytes, is skipped by
the JSON decoder of the standard library. All functions here take text that this decoder has accepted.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property

_DECODER = json.JSONDecoder()
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)


@dataclass(frozen=True)
class JsonString:
    """A string of the JSON text: its value, and the offsets of its opening quote and behind its closing one."""

    value: str
    start: int
    end: int
    written: str
    """The characters between the quotes."""

    @cached_property
    def _starts(self) -> list[int]:
        starts, place = [], self.start + 1
        for match in _CHARACTER.finditer(self.written):
            starts.append(place)
            place += len(match.group())
        return [*starts, place]

    def place(self, index: int) -> int:
        """The offset in the JSON text of the character `index` of the value; its length gives the closing quote."""
        if len(self.written) == len(self.value):
            return self.start + 1 + index
        return self._starts[index]


@dataclass(frozen=True, slots=True)
class JsonSource:
    """A cell's source: the strings that make it, in a list (then with the list's span) or alone."""

    strings: tuple[JsonString, ...]
    start: int
    end: int
    is_list: bool

    @property
    def value(self) -> str:
        """The whole source."""
        return "".join(string.value for string in self.strings)


def read_string(text: str, place: int) -> JsonString:
    """The string whose opening quote stands at `place`."""
    value, end = _DECODER.raw_decode(text, place)
    return JsonString(value, place, end, text[place + 1 : end - 1])


def read_source_strings(text: str, place: int) -> JsonSource:
    """The string, or list of strings, at `place`."""
    if text[place] == '"':
        string = read_string(text, place)
        return JsonSource((string,), string.start, string.end, is_list=False)
    strings = tuple(read_string(text, start) for start in items(text, place))
    return JsonSource(strings, place, _DECODER.raw_decode(text, place)[1], is_list=True)


def members(text: str, place: int) -> dict[str, int]:
    """The offset of each value of the object at `place`, by key; of a key that occurs twice, the last counts."""
    found = {}
    place = _skip_space(text, place + 1)
    while text[place] != "}":
        key, place = _DECODER.raw_decode(text, place)
        place = _skip_space(text, _skip_space(text, place) + 1)
        found[key] = place
        place = _behind_value(text, place)
    return found


def items(text: str, place: int) -> list[int]:
    """The offset of each item of the list at `place`."""
    found = []
    place = _skip_space(text, place + 1)
    while text[place] != "]":
        found.append(place)
        place = _behind_value(text, place)
    return found


def _behind_value(text: str, place: int) -> int:
    """The offset of what follows the value at `place` and its comma."""
    place = _skip_space(text, _DECODER.raw_decode(text, place)[1])
    return _skip_space(text, place + 1) if text[place] == "," else place


def _skip_space(text: str, place: int) -> int:
    while text[place] in " \t\r\n":
        place += 1
    return place
