"""The ways in which one machine may differ from the next one, and a program must cost the same all the same.

When Python's collector runs depends on how many objects exist, so on versions and on what was imported; the order of a
set depends on the seed of its hashes. What is measured in one of these ways alone is no evidence for another machine.
"""

from __future__ import annotations

from dataclasses import dataclass

OFF, EACH_MARK = "off", "each mark"


@dataclass(frozen=True)
class Variant:
    """One way of running a program. `words` tell it to a reader, `collector` is what `main.py` knows by that name."""

    words: str = ""
    collector: str = ""
    hash_seed: int = 0


USUAL = Variant()
OTHERS = (
    Variant("with Python's collector off", collector=OFF),
    Variant("with a collection before each mark", collector=EACH_MARK),
    Variant("with hash seed 1", hash_seed=1),
    Variant("with hash seed 2", hash_seed=2),
)
"""Those that must agree with the usual one."""
