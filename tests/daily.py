"""Which part of what takes long is tested today: each has its day, so that the tests of a few days are all of them.

    chosen = share(samples, 4)    # a quarter of them, another one tomorrow

The variable `TEST_DAY` is the number of another day, or "all" for everything.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date
from typing import TypeVar

ALL = "all"
DAY = os.environ.setdefault("TEST_DAY", str(date.today().toordinal()))
"""Set for all processes of a run, of which the last ones may start after midnight."""

Item = TypeVar("Item")


def share(items: Sequence[Item], days: int) -> Sequence[Item]:
    """The items whose turn it is: each of them on one of so many days."""
    return items if DAY == ALL else items[int(DAY) % days :: days]


def is_today(number: int, days: int) -> bool:
    """Whether it is the turn of the item of this number, from 0, as in `share`."""
    return DAY == ALL or number % days == int(DAY) % days
