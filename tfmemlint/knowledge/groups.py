"""Groups of calls that have something in common which no probe finds out: `tiles`, `shows`, `takes_arrays`.

The names and what they have in common stand in `documented_calls.json`. A rule pack adds calls of other libraries when
it is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from tfmemlint.knowledge.tables import table

_added: dict[str, dict[str, tuple[str, ...]]] = {}


@cache
def group(name: str) -> frozenset[str]:
    """The canonical names of a group of calls; one that ends in a dot stands for all names that begin so.

    Raises KeyError for a name that is none of a group.
    """
    return frozenset(group_parameters(name))


def in_group(call: str | None, name: str) -> bool:
    """Whether an API belongs to a group; not where its name is None. Raises KeyError as `group` does.

    What a beginning takes in too many stands under `except`, by names or beginnings, too. Groups of methods, of
    whichever library, hold their words (`append`).
    """
    members = group(name)
    if call is None or call in members:
        return call is not None
    return call.startswith(_beginnings(members)) and not _excepted(call, name)


def group_parameters(name: str) -> Mapping[str, tuple[str, ...]]:
    """Each name of a group with the parameters that the group is about; none where it is about the whole call.

    Raises KeyError as `group` does.
    """
    known = _documented(name)
    added = _added.get(name)
    return MappingProxyType({**known, **added}) if added else known


def add_to_group(name: str, call: str, *parameters: str) -> None:
    """Add an API to a group, for rule packs: called when the pack is imported, so that all files are read alike.

    Raises KeyError as `group` does.
    """
    _documented(name)
    _added.setdefault(name, {})[call] = parameters
    group.cache_clear()


@cache
def _documented(name: str) -> Mapping[str, tuple[str, ...]]:
    calls: dict[str, list[str]] | list[str] = table("documented_calls")[name]["calls"]
    pairs = calls.items() if isinstance(calls, dict) else ((call, ()) for call in calls)
    return MappingProxyType({call: tuple(parameters) for call, parameters in pairs})


def _excepted(call: str, name: str) -> bool:
    members = frozenset(table("documented_calls")[name].get("except", ()))
    return call in members or call.startswith(_beginnings(members))


@cache
def _beginnings(members: frozenset[str]) -> tuple[str, ...]:
    return tuple(member for member in members if member.endswith("."))
