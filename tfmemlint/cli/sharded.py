"""`check --shard I/N`: which files are this machine's, and what it hands on."""

from __future__ import annotations

import time
from collections.abc import Sequence

from tfmemlint.cli.parts import part, write_part
from tfmemlint.cli.session import Session
from tfmemlint.config.discover import Target
from tfmemlint.run.shards import digest_of_names, names


def of_shard(session: Session, targets: Sequence[Target], folder: str) -> list[Target]:
    """Those of the files that are this machine's; `folder` is that of the paths that were named."""
    found = names(targets, folder)
    session.places = {target.path: place for place, target in enumerate(targets)}
    session.names = digest_of_names(found)
    return [target for target, name in zip(targets, found, strict=True) if session.arguments.shard.holds(name)]


def save_part(session: Session) -> None:
    """Write what `merge` takes. Raises UsageError where that cannot be done."""
    arguments, elapsed = session.arguments, time.perf_counter() - session.started
    made = part(
        session.outcomes, session.problems, places=session.places, names=session.names,
        shard=(arguments.shard.number, arguments.shard.count), elapsed=elapsed, config=session.config,
        shows_suppressed=arguments.show_suppressed,
    )  # fmt: skip
    write_part(arguments.part, made)
