"""The `include` and `exclude` patterns of a configuration, asked about paths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tfmemlint.config.settings import MARKDOWN_INCLUDE, Config

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_NAME = re.compile(r"[^*?\[\]!/\\#]+")
_SUFFIX = re.compile(r"\*(\.\w+)")


class Patterns:
    """The `include` and `exclude` patterns of one configuration, those that are mere names or endings kept apart."""

    def __init__(self, config: Config) -> None:
        self.root = config.root or os.getcwd()
        top = self.root.replace(os.sep, "/").rstrip("/")
        # A pattern may be an absolute path; what is matched is relative to the root.
        exclude = [
            pattern.removeprefix(top) if pattern.startswith(f"{top}/") else pattern
            for pattern in (*config.exclude, *config.extend_exclude)
        ]
        self.names = {pattern for pattern in exclude if _NAME.fullmatch(pattern)}
        self._exclude = spec_of([pattern for pattern in exclude if pattern not in self.names])
        include = [*config.include, *config.extend_include]
        if config.include_markdown:
            include += MARKDOWN_INCLUDE
        self._suffixes = tuple(found[1] for pattern in include if (found := _SUFFIX.fullmatch(pattern)))
        self._include = spec_of([pattern for pattern in include if not _SUFFIX.fullmatch(pattern)])

    def included(self, path: str, name: str) -> bool:
        return name.endswith(self._suffixes) or (
            self._include is not None and self._include.match_file(self._relative(path))
        )

    def excluded_by_pattern(self, path: str, is_directory: bool = True) -> bool:
        if self._exclude is None:
            return False
        return self._exclude.match_file(self._relative(path) + ("/" if is_directory else ""))

    def excluded_anywhere(self, path: str) -> bool:
        """Whether a path or a directory above it, up to the configuration's, is excluded."""
        relative = self._relative(path)
        parts = relative.split("/")
        return not self.names.isdisjoint(parts) or self.excluded_by_pattern(path, os.path.isdir(path))

    def _relative(self, path: str) -> str:
        return os.path.relpath(os.path.abspath(path), self.root).replace(os.sep, "/")


def spec_of(lines: Iterable[str]) -> GitIgnoreSpec | None:
    """The patterns compiled; lines that are no patterns are left out, as git does."""
    wanted = [line for line in lines if line.strip() and not line.startswith("#")]
    if not wanted:
        return None
    from tfmemlint.config.patterns import compiled

    return compiled(wanted)
