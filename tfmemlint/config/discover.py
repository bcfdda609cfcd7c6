"""Which files a run reads: named files and what lies below named directories, without what is excluded."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfmemlint.config.included import Patterns, spec_of
from tfmemlint.config.paths import is_below
from tfmemlint.config.settings import FILE_NAMES, Config, ConfigError, Configs
from tfmemlint.files.bounded_read import PATTERNS, read_regular

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


@dataclass(frozen=True, slots=True)
class Target:
    """A file to read, its path as the user reaches it, and the configuration that governs it."""

    path: str
    config: Config


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that kept files from being read: one line, and whether it fails the run. A `detail` is for those who
    want to know more."""

    message: str
    fails: bool = True
    detail: bool = False


@dataclass(slots=True)
class Found:
    """What discovery gave: the files in a stable order, each once, and what went wrong on the way."""

    targets: list[Target] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def discover(paths: Iterable[str], configs: Configs) -> Found:
    """Find the files of these paths. A named file is always read, unless `force-exclude` is set and it is excluded;
    below a directory, `include`, `exclude` and `.gitignore` decide. Links to directories are not followed, nor links to
    files outside of the named directory: a repair would change what nobody named."""
    search = _Search(configs)
    for path in paths:
        search.add(path)
    return Found(search.unlinked(), [*dict.fromkeys(search.problems), *search.links_away()])


def is_excluded(path: str, config: Config) -> bool:
    """Whether a configuration excludes a file, itself or by a directory above it."""
    return Patterns(config).excluded_anywhere(path)


class _Search:
    def __init__(self, configs: Configs) -> None:
        self.configs = configs
        self.problems: list[Problem] = []
        self.targets: dict[str, Target] = {}
        self._patterns: dict[int, Patterns] = {}
        self._links: set[str] = set()
        """The keys of targets that are links."""
        self._folders: dict[str, tuple[str, str]] = {}
        self._above: dict[tuple[str, str], tuple[tuple[str, GitIgnoreSpec], ...]] = {}
        self._ignores: dict[str, GitIgnoreSpec | None] = {}
        self._limits: dict[str, str] = {}
        self._away: dict[str, list[str]] = {}

    def add(self, path: str) -> None:
        try:
            if os.path.isdir(path):
                self._walk(path)
            elif os.path.lexists(path):
                config = self.configs.for_file(path)
                if not (config.force_exclude and self._of(config).excluded_anywhere(path)):
                    self._take(path, config, os.path.islink(path))
            else:
                self._fail(f"{path}: no such file or directory")
        except ConfigError as error:
            self._fail(str(error))
        except (OSError, ValueError) as error:
            self._fail(f"{path!r}: {_reason(error)}")

    def unlinked(self) -> list[Target]:
        """The targets without the links to files that are read anyway."""
        if not self._links:
            return list(self.targets.values())
        real = self.targets.keys() - self._links
        return [
            target for key, target in self.targets.items() if key in real or os.path.realpath(target.path) not in real
        ]

    def links_away(self) -> Iterator[Problem]:
        """One remark for each named directory on the links in it that lead out of it."""
        for start, links in self._away.items():
            more = f" (and {len(links) - 1} more)" if len(links) > 1 else ""
            yield Problem(f"{links[0]}{more}: link to a file outside of {start}; left out, name it to read it", False)

    def _leads_away(self, entry: os.DirEntry[str], start: str) -> bool:
        if not entry.is_symlink() or is_below(os.path.realpath(entry.path), os.path.realpath(start)):
            return False
        self._away.setdefault(start, []).append(entry.path)
        return True

    def _fail(self, message: str) -> None:
        self.problems.append(Problem(message))

    def _of(self, config: Config) -> Patterns:
        found = self._patterns.get(id(config))
        if found is None:
            found = self._patterns[id(config)] = Patterns(config)
        return found

    def _take(self, path: str, config: Config, is_link: bool) -> None:
        folder, name = os.path.split(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder or "."), os.path.normpath(folder or ".")
        real, written = self._folders[folder]
        key = os.path.join(real, name)
        if key not in self.targets:
            self.targets[key] = Target(name if written == "." else os.path.join(written, name), config)
            if is_link:
                self._links.add(key)

    def _walk(self, start: str) -> None:
        config = self.configs.for_directory(start)
        patterns = self._of(config)
        if config.force_exclude and patterns.excluded_anywhere(start):
            return
        # Who names an excluded directory wants it read: its own patterns must not hide all that is in it.
        chosen = patterns.excluded_by_pattern(start)
        pending = [start]
        while pending:
            directory = pending.pop()
            try:
                with os.scandir(directory) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
                if directory != start and not any(entry.name in FILE_NAMES for entry in listed):
                    self.configs.has_none(directory)
                config = self.configs.for_directory(directory)
            except ConfigError as error:
                self._fail(str(error))
                continue
            except OSError as error:
                self._fail(f"{directory}: directory cannot be read: {_reason(error)}")
                continue
            below = [each for entry in listed if (each := self._visit(entry, config, start, chosen)) is not None]
            pending += reversed(below)

    def _visit(self, entry: os.DirEntry[str], config: Config, start: str, chosen: bool) -> str | None:
        """Takes a file, returns a directory to go into, and leaves anything else out."""
        patterns = self._of(config)
        try:
            is_directory = entry.is_dir(follow_symlinks=False)
            if not is_directory and not patterns.included(entry.path, entry.name):
                self._note_loop(entry)
                return None
            if entry.name in patterns.names or (not chosen and patterns.excluded_by_pattern(entry.path, is_directory)):
                return None
            if config.respect_gitignore and self._ignored(entry.path, start, is_directory):
                return None
            if is_directory:
                return entry.path
            if entry.is_file() and not self._leads_away(entry, start):
                self._take(entry.path, config, entry.is_symlink())
        except OSError as error:
            self._fail(f"{entry.path}: {_reason(error)}")
        return None

    def _note_loop(self, entry: os.DirEntry[str]) -> None:
        if not entry.is_symlink():
            return
        here, target = os.path.realpath(os.path.dirname(entry.path)), os.path.realpath(entry.path)
        if os.path.isdir(target) and os.path.commonpath((here, target)) == target:
            words = "link to a directory above it (a loop); not followed"
            self.problems.append(Problem(f"{entry.path}: {words}", fails=False))

    def _ignored(self, path: str, start: str, is_directory: bool) -> bool:
        """Whether the `.gitignore` files above a path leave it out; the nearest one that speaks of it decides."""
        folder = os.path.dirname(path if path != start else os.path.abspath(path))
        specs = self._above.get((folder, start))
        if specs is None:
            specs = self._above[folder, start] = tuple(self._specs(os.path.abspath(folder), self._limit(start)))
        if not specs:
            return False
        full = os.path.abspath(path)
        for above, spec in specs:
            relative = full[len(above) :].lstrip(os.sep).replace(os.sep, "/")
            verdict = spec.check_file(f"{relative}/" if is_directory else relative).include
            if verdict is not None:
                return verdict
        return False

    def _limit(self, start: str) -> str:
        """The topmost folder whose patterns count below a folder that was named."""
        if start not in self._limits:
            top = os.path.abspath(start)
            limit = self._limits[start] = _repository(top)
            # Who names an ignored directory wants it read: what ignores it must not hide all that is in it.
            if top != limit and self._ignored(start, start, True):
                self._limits[start] = top
                self._above.clear()
        return self._limits[start]

    def _specs(self, folder: str, limit: str) -> Iterator[tuple[str, GitIgnoreSpec]]:
        """The patterns of a folder and of those above it, up to a limit, the nearest first."""
        while True:
            spec = self._ignore_file(folder)
            if spec is not None:
                yield folder, spec
            if folder == limit or folder == os.path.dirname(folder):
                return
            folder = os.path.dirname(folder)

    def _ignore_file(self, folder: str) -> GitIgnoreSpec | None:
        if folder not in self._ignores:
            lines = []
            for name in (os.path.join(".git", "info", "exclude"), ".gitignore"):
                path = os.path.join(folder, name)
                try:
                    lines += read_regular(path, PATTERNS).decode("utf-8", "replace").splitlines()
                except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                    continue
                except OSError as error:
                    self._fail(f"{path}: cannot be read: {_reason(error)}")
            self._ignores[folder] = spec_of(lines)
        return self._ignores[folder]


def _repository(start: str) -> str:
    """The directory of the git repository that holds `start`, or `start` itself outside of one."""
    folder = start
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return start
        folder = parent
    return folder


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        if error.errno == errno.ELOOP:
            return "symbolic links lead in a circle"
        return (error.strerror or str(error)).lower()
    return str(error)
