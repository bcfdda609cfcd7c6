"""Which configuration governs a file, for a process that stays while configurations change."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from tfmemlint.config.discover import is_excluded
from tfmemlint.config.settings import FILE_NAMES, MARKDOWN_INCLUDE, Config, Configs, from_table
from tfmemlint.lint.baseline import Baseline
from tfmemlint.run.repair import Gate

_Stamp = tuple[int, int, int] | None
_DOCUMENTS = tuple(pattern.removeprefix("*") for pattern in MARKDOWN_INCLUDE)


class Governed:
    """Configurations and baselines as they are on disk now: each is read again when its file has changed."""

    def __init__(self) -> None:
        self._configs: dict[str, Configs] = {}
        self._stamps: dict[str, _Stamp] = {}
        self._baselines: dict[str, tuple[_Stamp, Baseline]] = {}

    def config(self, folder: str, settings: Mapping[str, Any]) -> Config:
        """The configuration of the files in a folder. Raises ConfigError."""
        stamps = {path: _stamp(path) for path in _candidates(folder)}
        if any(self._stamps.get(path, stamp) != stamp for path, stamp in stamps.items()):
            self._configs.clear()
            self._stamps.clear()
        self._stamps.update(stamps)
        key = repr(settings)
        if key not in self._configs:
            self._configs[key] = Configs(overrides=from_table(settings, "the editor's settings"))
        return self._configs[key].for_directory(folder)

    def gate(self, config: Config) -> Gate:
        """What the configured baseline lets through. Raises BaselineError."""
        if not config.baseline:
            return Gate()
        path = config.resolve(config.baseline)
        stamp = _stamp(path)
        known = self._baselines.get(path)
        if known is None or known[0] != stamp:
            known = self._baselines[path] = stamp, Baseline.load(path)
        return Gate(known[1])


def leaves_out(path: str, config: Config) -> bool:
    """Whether a configuration leaves a file out: by `exclude`, or as a document whose blocks nobody asked for."""
    is_document = path.lower().endswith(_DOCUMENTS)
    return is_excluded(path, config) or (is_document and not config.include_markdown)


def _candidates(folder: str) -> Iterator[str]:
    """The files that could govern a folder, the nearest first."""
    while True:
        yield from (os.path.join(folder, name) for name in FILE_NAMES)
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above


def _stamp(path: str) -> _Stamp:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
