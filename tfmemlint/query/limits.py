"""The numbers that questions and rules share, each with its reason: how far code is followed, how few is few.

A rule with a number of its own explains it on its page.
"""

from tfmemlint.model.contexts import RUN_THROUGH

__all__ = [
    "FEW_BATCHES", "FEW_COLUMNS", "FEW_ELEMENTS", "FEW_ROWS", "FEW_RUNS", "FEW_STEPS", "FITS_IN_CACHE",
    "FOLLOWED_CALLS", "FOLLOWED_USES", "LATENT_NUMBERS", "LEAST_SHARE", "ONE_BATCH", "PEEKED", "RUN_THROUGH",
    "SHORT_RUN", "SMALL_DATA", "SMALL_SAMPLE", "SMALL_TARGETS",
]  # fmt: skip

# -- how far code is followed ----------------------------------------------------------------------------------------

FOLLOWED_CALLS = 3
"""Calls of the module's own functions that a question goes through, one behind the other.

As many as the model enters to find what a function returns, so that a question never sees less of the code than the
values that it speaks about. `main` calling `train` calling `step` is what programs have; behind a fourth call a reader
of the finding would not see what it has to do with the place.
"""

FOLLOWED_USES = 400
"""Places at which one value is looked at before `uses` gives up and says so.

The names of a long script's model are read some forty times; ten times that keeps generated code from taking seconds.
"""

# -- how few is few --------------------------------------------------------------------------------------------------

FEW_RUNS = 3
"""Iterations that are whole runs: models of an ensemble, phases, folds tried by hand.

What each of them makes (a model, a pipeline, a session, a trace) is meant to be made anew, and three of them fit.
"""

FEW_STEPS = 10
"""Iterations that are parts of one computation rather than its steps: heads, stages, scales, splits.

Loops over batches or examples have tens at the least; what ten iterations add up is no larger than a batch or two.
"""

SHORT_RUN = 48
"""Iterations that the whole program makes of a loop: a forecast of 46 weeks, 20 examples that are tried out twice. What
each spends in setting something up, some 50 ms and a few KiB, is over before anybody has noticed it."""

FEW_ELEMENTS = 100
"""Elements of a pipeline that are gone through one by one in no time, and held in no memory worth a word."""

FEW_BATCHES = 9
"""Batches that a buffer may hold: people who measured pin numbers up to here, and nobody measures more."""

PEEKED = 8
"""Elements that somebody takes to look at them, however large they are."""

ONE_BATCH = 32
"""Rows that are one batch, not a data set: Keras' own default."""

FEW_ROWS = 1000
"""Rows of an array up to which a constant slice is a sample of it, not the data set."""

FEW_COLUMNS = 100
"""Numbers in a row of a table, or in a window of a series, of which nobody knows how many there are: mostly a few
thousand, and 10 000 rows of 100 numbers are 8 MB as float64."""

LATENT_NUMBERS = 512
"""Random numbers of which a generator makes one example: 64 to 512 of them, a picture has thousands."""

LEAST_SHARE = 0.1
"""The least constant part of a length that counts as all of the data where memory grows with it: less is a sample, or
the number of batches."""

# -- sizes in bytes --------------------------------------------------------------------------------------------------

SMALL_DATA = 1 << 16
"""64 KiB: data of which any number of copies is lost among what importing TensorFlow takes (some 300 MiB)."""

SMALL_SAMPLE = 1 << 20
"""1 MiB: the few elements that `take` leaves are no burden up to here."""

SMALL_TARGETS = 8 << 20
"""8 MiB: targets of a few numbers for each example, as the ten of 100 000 pictures, which take hundreds of MiB."""

FITS_IN_CACHE = 256 << 20
"""256 MiB: pictures up to the size of MNIST at 32 x 32, which are cached in memory on purpose; `tensorflow_datasets`
does so by itself for up to 250 MiB of files."""
