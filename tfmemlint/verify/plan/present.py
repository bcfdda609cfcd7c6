"""Programs that look whether a file is there, and end or give None where it is not; and those for which more files are
to be there than a few."""

from __future__ import annotations

import re
from dataclasses import replace

from tfmemlint.verify.result import Pair
from tfmemlint.verify.run.runs import Run

LOOKS = re.compile(r"\bpath\.(?:exists|isfile|isdir)\(|\bgfile\.exists\(")
ENDS = ("AssertionError", "FileNotFoundError", "SystemExit")
NOTHING = "'NoneType' object"
OF_MANY = re.compile(
    r": a folder with .* was made up|: a table of \d+ rows was made up|^tfds\.load\(.* gave \d+ made-up elements"
)
"""What a program notes of files, rows and elements of which there may be more."""


def with_files(pair: Pair, run: Run) -> Pair | None:
    """The programs with the files there that they look for; None where the run did not fail for want of them."""
    program = pair.before
    if program.present or run.error is None:
        return None
    if LOOKS.search(program.listing) is None and LOOKS.search(run.error.traceback) is None:  # of a module as it is
        return None
    return present(pair) if run.error.type in ENDS or NOTHING in run.error.message else None


def with_many(pair: Pair, run: Run) -> Pair | None:
    """The programs with many files in made-up folders, rows of tables and elements of data sets; None where they have
    none of these, or have them already."""
    return many(pair) if not pair.before.many and any(OF_MANY.search(note) for note in run.notes) else None


def many(pair: Pair) -> Pair:
    """The programs with many files in folders that are made up, rows of tables and elements of data sets."""
    after = None if pair.after is None else replace(pair.after, many=True)
    return replace(pair, before=replace(pair.before, many=True), after=after)


def present(pair: Pair) -> Pair:
    """The programs with the files there that they look for."""
    after = None if pair.after is None else replace(pair.after, present=True)
    return replace(pair, before=replace(pair.before, present=True), after=after)
