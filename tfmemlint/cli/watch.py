"""`tfmemlint check --watch`: lints, and again whenever a file changes that may change what is found."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from typing import Any

from tfmemlint.cli.arguments import configs, parse
from tfmemlint.cli.extras import extra
from tfmemlint.cli.output import tell
from tfmemlint.cli.usage import UsageError
from tfmemlint.config.discover import is_excluded
from tfmemlint.config.settings import DEFAULT_INCLUDE, FILE_NAMES, MARKDOWN_INCLUDE, ConfigError

_EVERY = 200
"""Milliseconds until Python hears of a change, and of Ctrl-C."""
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"


def watch(words: Sequence[str], main: Callable[[Sequence[str]], int]) -> int:
    """Run `check` with these words but `--watch`, again after each change, until Ctrl-C; the last exit code. `main` is
    the command line, which tells what goes wrong: a configuration that is being written must not end the watch.

    Raises UsageError for a wrong command line and where watchfiles is not installed.
    """
    options = parse(words)
    watchfiles = extra("watchfiles", "watch", "--watch")
    once = ["check", *(word for word in words if word != "--watch")]
    code = 0
    try:
        for _ in _changes(watchfiles, _places(options), _Relevant(options)):
            if sys.stdout.isatty():
                print(end=_CLEAR, flush=True)
            code = main(once)
            if code == 130:
                break
            sys.stdout.flush()
            tell("watching for changes; Ctrl-C ends it")
    except KeyboardInterrupt:
        pass
    return code


def _changes(watchfiles: Any, places: Collection[str], relevant: _Relevant) -> Iterator[None]:
    """Once at the beginning, and after each change from then on: the watch begins before the first file is read."""
    started = False
    try:
        found: Iterable[Collection[object]] = watchfiles.watch(
            *places, watch_filter=relevant, rust_timeout=_EVERY, yield_on_timeout=True
        )
        for changed in found:
            if changed or not started:
                started = True
                yield
    except OSError as error:  # the system watches so many folders and no more
        raise UsageError(f"--watch: {error.strerror or error}; name fewer files or folders") from None


def _places(options: argparse.Namespace) -> list[str]:
    """The folders to watch: those that are named, those of files that are, and those of configurations. Raises
    UsageError for a path that is not there."""
    places, found = set(), configs(options)
    for path in options.paths:
        if not os.path.exists(path):
            raise UsageError(f"{path}: no such file or directory")
        folder = os.path.abspath(path if os.path.isdir(path) else os.path.dirname(path) or ".")
        places.add(folder)
        with contextlib.suppress(ConfigError):  # told by the run
            if config := found.for_directory(folder).path:
                places.add(os.path.dirname(config))
    return sorted(places)


class _Relevant:
    """Whether a file that changed may change what is found: programs, those that are imported and configurations."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._configs = configs(options)
        self._named = {os.path.abspath(path) for path in options.paths}

    def __call__(self, _: object, path: str) -> bool:
        name = os.path.basename(path)
        if name in (*FILE_NAMES, ".gitignore"):
            self._configs = configs(self._options)
            return True
        if path in self._named:
            return True
        try:
            config = self._configs.for_file(path)
        except ConfigError:
            return name.endswith((".py", ".ipynb"))
        include = (*DEFAULT_INCLUDE, *config.include, *config.extend_include)
        include += MARKDOWN_INCLUDE if config.include_markdown else ()
        return any(fnmatch(name, pattern) for pattern in include) and not is_excluded(path, config)
