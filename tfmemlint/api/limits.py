"""The numbers that questions and rules share, each with its reason: how far code is followed, how few is few."""

from tfmemlint.query.limits import (
    FEW_BATCHES,
    FEW_COLUMNS,
    FEW_ELEMENTS,
    FEW_ROWS,
    FEW_RUNS,
    FEW_STEPS,
    FITS_IN_CACHE,
    FOLLOWED_CALLS,
    LEAST_SHARE,
    ONE_BATCH,
    PEEKED,
    RUN_THROUGH,
    SHORT_RUN,
    SMALL_DATA,
    SMALL_SAMPLE,
)

__all__ = [
    "FEW_BATCHES",
    "FEW_COLUMNS",
    "FEW_ELEMENTS",
    "FEW_ROWS",
    "FEW_RUNS",
    "FEW_STEPS",
    "FITS_IN_CACHE",
    "FOLLOWED_CALLS",
    "LEAST_SHARE",
    "ONE_BATCH",
    "PEEKED",
    "RUN_THROUGH",
    "SHORT_RUN",
    "SMALL_DATA",
    "SMALL_SAMPLE",
]
