"""Which call of a loop or search makes a model that is used and forgotten each time, and what that leaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from tfmemlint.api import (
    Call,
    Fact,
    File,
    Node,
    keras,
    limits,
    repetition,
    walk,
)

WORTH_NAMING = 1 << 20
"""Bytes of a model from which on the message names them: smaller ones are lost beside their graphs."""

FEW_FOLDS = 5
"""Folds of a cross validation that a loop counts: one evaluation, which five models of common sizes survive."""


class Built(NamedTuple):
    """What a loop builds and forgets each time, those that are certainly trained first: one repair is for all."""

    loop: Node
    models: list[tuple[Call, keras.UsedUp]]


def _built_in_loops(file: File) -> Iterator[Built]:
    found: dict[Node, list[tuple[Call, keras.UsedUp]]] = {}
    for call in repetition.repeated_calls.of(file):
        loop = repetition.repeats(file, call.node, calls=0, beyond=limits.FEW_RUNS)
        made = keras.used_up(file, call, loop.place) if loop is not None and not loop.handler else None
        if loop is None or made is None or _is_folds(file, call, loop, made):
            continue
        if is_handful(file, repetition.seen_runs(file, call.node), made):
            continue
        freed = made.trained is False or not keras.may_train(file, call, made) or keras.frees_trained(file)
        around = [each.place for each in repetition.repetitions(file, call.node, calls=0)]
        if not any(keras.clears(file, each) or (freed and keras.collects(file, each)) for each in around):
            found.setdefault(loop.place, []).append((call, made))
    for place, models in found.items():
        yield Built(place, sorted(models, key=lambda each: not each[1].trained))


def is_handful(file: File, times: int | None, made: keras.UsedUp) -> bool:
    """Whether a model is certainly made a few times, and little is left of all of them together: of five folds with
    8 MiB each."""
    if made.bytes is None or times is None or times > limits.FEW_STEPS:
        return False
    return made.bytes * times < file.config.min_bytes


def _is_folds(file: File, call: Call, loop: repetition.Repetition, made: keras.UsedUp) -> bool:
    """Whether models of unknown size are made for the folds of one cross validation: a loop takes the parts that
    scikit-learn splits data into, or counts to five at most. Lists of settings are no folds: they grow."""
    times = repetition.seen_runs(file, call.node)
    if made.bytes is not None or times is None or not isinstance(loop.place, cst.For):
        return False
    iterated = [file.call(each) for each in walk(loop.place.iter, cst.Call)]
    if any(each.method == "split" for each in iterated):
        return is_one_validation(times, made)
    return times <= FEW_FOLDS and any(each.name == "builtins.range" for each in iterated)


def is_one_validation(times: int | None, made: keras.UsedUp) -> bool:
    """Whether models of unknown size are made for the few folds of one cross validation, and for nothing else."""
    return made.bytes is None and times is not None and times <= limits.FEW_STEPS


built_in_loops = Fact(_built_in_loops, "for", "while")


def words_for(file: File, made: keras.UsedUp, run: str) -> str:
    """What happens to a model that each `run` makes, and what to do."""
    each = f" ({made.words} each)" if made.bytes is not None and made.bytes >= WORTH_NAMING else ""
    if made.trained and keras.frees_trained(file):
        return (
            f"a model trained in each {run} stays in memory until the garbage collector runs{each}, also after "
            f"clear_session(); call gc.collect() in each {run}"
        )
    if made.trained:
        return (
            f"a model trained in each {run} stays in memory until the process ends{each}, also after clear_session(); "
            "set one model's weights and optimizer variables back, or use a process for each trial"
        )
    if made.trained is False:
        return f"a model built in each {run} stays in memory until the garbage collector runs; clear the session first"
    return (
        f"a model built in each {run} leaves the earlier ones in memory; clear_session() frees those that were never "
        "trained, for others set one model's weights and optimizer variables back or use a process for each trial"
    )
