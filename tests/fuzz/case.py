"""What is fuzzed: inputs, the kinds that make and check them, and how a kind says that something does not hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random


class Broken(AssertionError):
    """Something that must hold does not; the first line says what, without what differs between inputs alike."""


@dataclass(frozen=True)
class Case:
    """One input: the name of a file, which says how it is read, and its bytes."""

    name: str
    data: bytes

    @property
    def path(self) -> str:
        """Where it is linted: in no project, for in one that one's files would be read for each input."""
        return f"nowhere/{self.name}"


@dataclass(frozen=True)
class Kind:
    """A family of inputs.

    `make` gives the input of a number, the same for each seed and number, or None where there is none. `check` raises
    anything where the tool does not hold for it; it runs in a process of its own, which it may leave in any state.
    """

    name: str
    make: Callable[[Random, int], Case | None]
    check: Callable[[Case], None]
    cpu_seconds: int = 60
    """What a check may take of a processor; many times what the slowest takes that holds."""
    memory_bytes: int = 4 << 30
    """What it may take beside what the process has when it begins."""


def chance_of(seed: int, kind: str, number: int) -> Random:
    """The random numbers of one input."""
    return Random(f"{seed} {kind} {number}")
