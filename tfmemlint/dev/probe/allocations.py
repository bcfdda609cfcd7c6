"""What one profiled step asks the allocator for: the events that TensorFlow's profiler writes, replayed.

Runs only inside a probe's child process.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

_EVENTS = {"MemoryAllocation": True, "MemoryDeallocation": False}


class Alive(NamedTuple):
    """A buffer that is alive: the bytes asked for, the op that asked, and its shape as the profiler writes it."""

    requested: int
    op: str
    shape: str


class Peak(NamedTuple):
    """The moment at which most bytes that the step asked for were alive, beside those alive when it began."""

    requested: int
    op: str
    alive: tuple[Alive, ...]


class _Event(NamedTuple):
    time: int
    allocates: bool
    facts: dict[str, Any]


def peak(folder: Path, allocator: str = "") -> Peak:
    """The peak of the one step whose profile lies in `folder`, of the allocators whose names begin so.

    What was alive before the step and is freed in it counts below zero from then on, so that what takes its place does
    not count as an addition.
    """
    alive: dict[int, Alive] = {}
    now = most = 0
    op, at_peak = "", dict(alive)
    for _, allocates, facts in sorted(_events(folder), key=lambda event: event.time):
        if not str(facts.get("allocator_name", "")).startswith(allocator):
            continue
        address, size = facts["addr"], facts.get("requested_bytes", 0)
        if allocates:
            alive[address] = Alive(size, str(facts.get("tf_op")), str(facts.get("shape")))
            now += size
        else:
            known = alive.pop(address, None)
            now -= size if known is None else known.requested
        if now > most:
            most, op, at_peak = now, str(facts.get("tf_op")), dict(alive)
    return Peak(most, op, tuple(sorted(at_peak.values(), key=lambda each: -each.requested)))


def _events(folder: Path) -> Iterator[_Event]:
    (written,) = folder.glob("plugins/profile/*/*.xplane.pb")
    space = import_module("tensorflow.tsl.profiler.protobuf.xplane_pb2").XSpace()
    space.ParseFromString(written.read_bytes())
    for plane in space.planes:
        names = {key: _EVENTS[each.name] for key, each in plane.event_metadata.items() if each.name in _EVENTS}
        facts = {key: each.name for key, each in plane.stat_metadata.items()}
        for line in plane.lines:
            for event in line.events:
                if event.metadata_id in names:
                    time = line.timestamp_ns * 1000 + event.offset_ps
                    yield _Event(time, names[event.metadata_id], _facts(event, facts))


def _facts(event: Any, names: dict[int, str]) -> dict[str, Any]:
    found = {}
    for stat in event.stats:
        kind = stat.WhichOneof("value")
        value = getattr(stat, kind)
        found[names[stat.metadata_id]] = names[value] if kind == "ref_value" else value
    return found
