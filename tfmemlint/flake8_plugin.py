"""The findings as a flake8 plugin: the same places as `tfmemlint check`, under the configuration of tfmemlint.

flake8 chooses files and codes; rules that are off by default run when our own configuration selects them. Our comments,
`noqa` included, are honoured before flake8 sees a finding, on all lines of the statement.
"""

from __future__ import annotations

import ast
import importlib
import io
import os
import tokenize
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from tfmemlint import __version__

if TYPE_CHECKING:
    import argparse

    from tfmemlint.config.settings import Config, Configs
    from tfmemlint.finding import Finding
    from tfmemlint.lint.baseline import Baseline
    from tfmemlint.lint.engine import FileResult
    from tfmemlint.lint.linter import Linter
    from tfmemlint.run.kept_at_exit import KeptAtExit

Report = tuple[int, int, str, type[Any]]


class Plugin:
    """What flake8 makes for each file: its tree (not used), its name and its decoded lines."""

    name = "tfmemlint"
    version = __version__

    _run: ClassVar[_Run | None] = None

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self.filename = filename
        self.lines = lines

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Called by flake8 once before its files: what was read for an earlier run may be out of date."""
        cls._run = None

    def run(self) -> Iterator[Report]:
        """The findings of the file: row from 1, column from 0, code and message.

        Raises flake8's ExecutionError, which it shows as one line, for a configuration, baseline or rule pack that
        cannot be used.
        """
        data = encode(self.lines)
        from tfmemlint.text.prefilter import mentions_tensorflow

        if not mentions_tensorflow(data):
            return
        if Plugin._run is None:
            Plugin._run = _Run()
        result = Plugin._run.lint(data, self.filename)
        for finding in result.findings if result else ():
            if result and result.source is not None:
                position = result.source.position(finding.span.start)
                row, column = position.row, position.column
            else:
                row, column = (result and result.place) or (1, 1)
            yield row, column - 1, f"{finding.code} {_words(finding)}", type(self)


def _words(finding: Finding) -> str:
    """What flake8 has no field for: how grave it is, and what it costs where the message does not say."""
    from tfmemlint.units import show_bytes

    cost = show_bytes(finding.bytes) if finding.bytes else ""
    price = f" ({'' if finding.bytes_exact else 'at least '}{cost})" if cost and cost not in finding.message else ""
    return f"[{finding.severity.value}] {finding.message}{price}"


class _Run:
    """What the files of one flake8 run share: configurations, rules and baselines."""

    def __init__(self) -> None:
        from tfmemlint.config.settings import Configs

        self.configs: Configs = Configs(overrides={"force_exclude": True})
        self.linters: dict[int, Linter] = {}
        self.caches: dict[int, KeptAtExit] = {}
        self.baselines: dict[str, Baseline] = {}

    def lint(self, data: bytes, path: str) -> FileResult | None:
        """The result for one file; None when our configuration excludes it."""
        from tfmemlint.config.settings import ConfigError
        from tfmemlint.lint.baseline import BaselineError
        from tfmemlint.lint.registry import RegistryError

        try:
            config = self._config(path)
            if config is None:
                return None
            return self._accepted(self._found(data, path, config), config)
        except (BaselineError, ConfigError, RegistryError) as error:
            _stop(str(error))

    def _config(self, path: str) -> Config | None:
        from tfmemlint.config.discover import discover

        config = self.configs.for_file(path)
        if os.path.isfile(path) and not discover([path], self.configs).targets:
            return None
        return config

    def _found(self, data: bytes, path: str, config: Config) -> FileResult:
        if not os.path.isfile(path):
            return self._linter(config).lint(data, path)
        from tfmemlint.run.kept_at_exit import KeptAtExit

        cache = self.caches.get(id(config))
        if cache is None:
            cache = self.caches[id(config)] = KeptAtExit(config)
        result = cache.get(path, data)
        if result is None:
            result = self._linter(config).lint(data, path)
            cache.put(path, data, result)
        return result

    def _linter(self, config: Config) -> Linter:
        from tfmemlint.lint.linter import Linter

        return self.linters.setdefault(id(config), Linter(config))

    def _accepted(self, result: FileResult, config: Config) -> FileResult:
        """The result without the findings that the configured baseline accepts."""
        if config.baseline is None or not result.findings:
            return result
        from tfmemlint.lint.baseline import Baseline

        path = config.resolve(config.baseline)
        if path not in self.baselines:
            self.baselines[path] = Baseline.load(path)
        return self.baselines[path].filter([result]).results[0]


def encode(lines: Sequence[str]) -> bytes:
    """The bytes of a file that flake8 has decoded, in the encoding that its first lines declare."""
    text = "".join(lines)
    start = io.BytesIO("".join(lines[:2]).encode("utf-8", "replace"))
    try:
        return text.encode(tokenize.detect_encoding(start.readline)[0])
    except (SyntaxError, UnicodeError):
        return text.encode("utf-8", "surrogateescape")


def _stop(message: str) -> NoReturn:
    error: type[Exception] = importlib.import_module("flake8.exceptions").ExecutionError
    raise error(f"tfmemlint: {message}")
