"""The cache of a process that is given one file after another and does not know which is the last one, as flake8's."""

from __future__ import annotations

import contextlib
from multiprocessing.util import Finalize
from typing import TYPE_CHECKING

from tfmemlint.files.bounded_read import digest_of
from tfmemlint.lint.registry import fingerprint
from tfmemlint.run.cache import Cache

if TYPE_CHECKING:
    from tfmemlint.config.settings import Config
    from tfmemlint.lint.result import FileResult


class KeptAtExit:
    """The results of earlier runs under one configuration, `tfmemlint check` among them, and those of this process,
    which are written when it ends.

    Other processes may work on other files of the same run, and end at the same moment: they write one after another,
    and each reads before that what the others have left. Where a folder cannot be locked, what one of them found may be
    lost, which costs its time alone.
    """

    def __init__(self, config: Config) -> None:
        self._config, self._tool = config, fingerprint()
        self._cache = Cache(config, self._tool)
        self._found: dict[str, tuple[bytes, FileResult]] = {}

    def get(self, path: str, data: bytes) -> FileResult | None:
        """What these bytes of this file gave before, or None."""
        return self._cache.get(path, data)

    def put(self, path: str, data: bytes, result: FileResult) -> None:
        """Keep what these bytes gave."""
        if not self._found:
            # Also at the end of a worker, for which Python calls nothing that was registered with `atexit`.
            Finalize(None, self._save, exitpriority=1)
        self._found[path] = digest_of(data), result

    def _save(self) -> None:
        with contextlib.suppress(OSError), self._cache.locked():
            cache = Cache(self._config, self._tool)
            for path, (digest, result) in self._found.items():
                cache.put(path, digest, result)
            cache.save()
