"""What a run tells of the flagged place, each figure with its range."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

Text = Annotated[str, Meta(max_length=5000)]
Count = Annotated[int, Meta(ge=0, lt=1 << 62)]
Seconds = Annotated[float, Meta(ge=0)]


class AtFlagged(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes, seconds and counts, None or 0 where the program says nothing of them."""

    reached: Count = 0
    """How often it came to the flagged place, where it says so; after `made` of these times variables were made."""
    made: Count = 0
    symbolic: bool = False
    """Whether a tensor of a graph was stored at the flagged place, and in `held` words on one that is there still."""
    held: Text = ""
    taken: Count | None = None
    """Bytes that making what is flagged took, where the program says so."""
    left: Count | None = None
    """Bytes of tensors that the flagged statement leaves when it has run, where the program says so."""
    nodes: Count | None = None
    """Operations that the flagged statement adds to the graph of the function that is traced."""
    makings: Count = 0
    """How often what is flagged was made, where the program says so. `made_anew` of these times it took memory, at
    least `anew_bytes`, and TensorFlow has kept `functions` Python functions of it. It takes `making_seconds`."""
    made_anew: Count = 0
    anew_bytes: Count = 0
    making_seconds: Seconds = 0.0
    functions: Count = 0
    parameters: Count | None = None
    """Of the largest of the flagged layers that were built."""
    element: Count | None = None
    """Bytes of the largest element of the data sets that were looked at, and in `repeating` how many of these give the
    same elements in the same order in two epochs."""
    repeating: Count | None = None
    wide: Count | None = None
    """Bytes of the float64 arrays that the flagged call was given."""
    unmixed: Count | None = None
    """Batches of a data set of which each has the same rows in two epochs, all being so; 0 where they are not."""
    joins: Count = 0
    """How often parts were joined where it is flagged: `copied` bytes in all, of which the largest join `comes_to`."""
    copied: Count = 0
    comes_to: Count = 0
    clocked: Seconds | None = None
    """Of the flagged statement each time, where the program clocks it often enough; the first time does not count."""
