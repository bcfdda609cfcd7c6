"""Processes that a program starts beside its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.model.values import Const
from tfmemlint.query.facts import Fact

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File


def _forks(file: File) -> Iterator[Call]:
    starts = file.calls(*knowledge.group("forks"))
    for start in sorted(starts, key=lambda call: file.tree.order(call.node)):
        if start.arg("mp_context") is None and not _spawns(file):
            yield start


forks = Fact(_forks, *knowledge.group("forks"))
"""Each call that starts processes by fork where that is the system's default, as on Linux: no other start method is
chosen for the call or anywhere for the program. A context that the call is a method of may choose another."""


def _spawns(file: File) -> bool:
    """Whether another start method than fork may be chosen for the whole program."""
    return any(call.value_of(0) != Const("fork") for call in file.calls("multiprocessing.set_start_method"))
