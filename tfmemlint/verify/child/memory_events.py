"""What TensorFlow's profiler has seen of its allocator: which op took which bytes, and what lived together at the most;
loaded by `training_step.py`.

Bytes are those that ops ask for; the allocator hands out larger chunks.
"""

from __future__ import annotations

import glob
import importlib
import os
import shutil
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

TAKEN, FREED = "MemoryAllocation", "MemoryDeallocation"
PROTOBUFS = ("tensorflow.tsl.profiler.protobuf.xplane_pb2", "tensorflow.core.profiler.protobuf.xplane_pb2")
"""Where versions of TensorFlow have the format of what the profiler writes."""


class Held(NamedTuple):
    """Memory in use: its bytes, the op that asked for them, and the shape as the profiler writes it: `[32,10]`."""

    bytes: int
    op: str
    shape: str


class Most(NamedTuple):
    """The moment at which most is in use: bytes, and what they are."""

    bytes: int
    held: list[Held]


def start(folder: str) -> None:
    """Have the profiler watch the allocator; what it sees goes to the folder in the end."""
    profiler().start(folder)


def stop(folder: str) -> list[tuple[int, bool, int, Held]]:
    """What was taken (True) and freed since the start, in the order of time: the time, which of both, the address, and
    what it is. Raises RuntimeError where the profiler says nothing."""
    profiler().stop()
    found = sorted(glob.glob(os.path.join(folder, "plugins", "profile", "*", "*.xplane.pb")))
    if not found:
        raise RuntimeError("the profiler of this TensorFlow has written nothing")
    space = _format().XSpace()
    with open(found[-1], "rb") as file:
        space.ParseFromString(file.read())
    shutil.rmtree(folder, ignore_errors=True)
    return sorted(_events(space), key=lambda event: event[0])


def profiler() -> Any:
    """TensorFlow's own."""
    return importlib.import_module("tensorflow").profiler.experimental


def _format() -> Any:
    for name in PROTOBUFS:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise RuntimeError("what the profiler of this TensorFlow writes cannot be read")


def _events(space: Any) -> Iterator[tuple[int, bool, int, Held]]:
    for plane in space.planes:
        names = {number: each.name for number, each in plane.event_metadata.items()}
        words = {number: each.name for number, each in plane.stat_metadata.items()}
        kinds = {number: name == TAKEN for number, name in names.items() if name in (TAKEN, FREED)}
        for line in plane.lines if kinds else ():
            for event in line.events:
                if event.metadata_id in kinds:
                    said = {words[each.metadata_id]: _value(each, words) for each in event.stats}
                    held = Held(int(said.get("requested_bytes", 0)), _plain(said.get("tf_op")), str(said.get("shape")))
                    time = line.timestamp_ns * 1000 + event.offset_ps
                    yield time, kinds[event.metadata_id], int(said.get("addr", 0)), held


def _value(said: Any, words: dict[int, str]) -> Any:
    kind = said.WhichOneof("value")
    value = getattr(said, kind)
    return words[value] if kind == "ref_value" else value


def _plain(name: Any) -> str:
    """The op's name without the function that it was called through."""
    return str(name or "").removeprefix("StatefulPartitionedCall/").removeprefix("PartitionedCall/")


def left(events: list[tuple[int, bool, int, Held]], stay: Collection[int]) -> dict[int, Held]:
    """What was taken and not freed, by address, but for what lies at the addresses in `stay`."""
    found: dict[int, Held] = {}
    for _, taken, address, held in events:
        if taken:
            found[address] = held
        else:
            found.pop(address, None)
    return {address: held for address, held in found.items() if address not in stay}


def most(events: list[tuple[int, bool, int, Held]], before: dict[int, Held]) -> Most:
    """When most is in use, beside what was there before and is not in `before`; where that is freed, as the old value
    of a variable, there is less."""
    used = best = sum(held.bytes for held in before.values())
    known, until = {address: held.bytes for address, held in before.items()}, 0
    for number, (_, taken, address, held) in enumerate(events, 1):
        if taken:
            known[address] = held.bytes
            used += held.bytes
        else:
            used -= known.pop(address, held.bytes)
        if used > best:
            best, until = used, number
    live = dict(before)
    for _, taken, address, held in events[:until]:
        if taken:
            live[address] = held
        else:
            live.pop(address, None)
    return Most(best, sorted(live.values(), key=lambda held: -held.bytes))
