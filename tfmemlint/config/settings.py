"""The configuration: `[tool.tfmemlint]` of the nearest `pyproject.toml`, or `tfmemlint.toml`, as a frozen Config.

Keys are kebab-case and, where ruff has the same one, mean the same. Each key is described in `config.schema.json`.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, get_args, get_origin

import msgspec

from tfmemlint.config.paths import wrong_path
from tfmemlint.config.selectors import Layer
from tfmemlint.config.toml import LARGEST, read_toml
from tfmemlint.files.bounded_read import read_regular
from tfmemlint.finding import Severity
from tfmemlint.shown import short
from tfmemlint.units import Size, parse_size, shortened

FILE_NAMES = ("tfmemlint.toml", "pyproject.toml")

DEFAULT_EXCLUDE = (
    ".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".hypothesis", ".ipynb_checkpoints", ".mypy_cache",
    ".nox", ".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tfmemlint_cache", ".tox",
    ".venv", ".vscode", "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules",
    "site-packages", "venv",
)  # fmt: skip
DEFAULT_INCLUDE = ("*.py", "*.pyi", "*.ipynb")
MARKDOWN_INCLUDE = ("*.md", "*.markdown", "*.qmd", "*.rmd", "*.rst")

OutputFormat = Literal[
    "text", "concise", "grouped", "json", "jsonl", "sarif", "github", "gitlab", "junit", "rdjson"
]

_WORDS = {"array": "a list", "object": "a table", "str": "a string", "int": "a whole number", "bool": "true or false",
          "float": "a number with a fraction", "null": "nothing", "date": "a date", "time": "a time of day",
          "datetime": "a date and time"}  # fmt: skip


class ConfigError(Exception):
    """A configuration that cannot be used: the file (or the command-line option), the key and the reason."""

    def __init__(self, path: str, key: str, message: str) -> None:
        super().__init__(path, key, message)
        self.path = path
        self.key = key
        self.message = message

    def __str__(self) -> str:
        return ": ".join(part for part in (short(self.path), self.key, self.message) if part)


class Config(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """All settings of a run for the files that one configuration governs. The defaults are those of `--isolated`."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    per_file_ignores: dict[str, tuple[str, ...]] = {}
    extend_per_file_ignores: dict[str, tuple[str, ...]] = {}
    preview: bool = False
    severity: dict[str, Severity] = {}
    fixable: tuple[str, ...] = ("ALL",)
    unfixable: tuple[str, ...] = ()
    extend_fixable: tuple[str, ...] = ()
    extend_safe_fixes: tuple[str, ...] = ()
    extend_unsafe_fixes: tuple[str, ...] = ()
    fix: bool = False
    unsafe_fixes: bool = False
    show_fixes: bool = False
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    include: tuple[str, ...] = DEFAULT_INCLUDE
    extend_include: tuple[str, ...] = ()
    include_markdown: bool = False
    respect_gitignore: bool = True
    least_cost: Size = Size(1 << 20)
    min_bytes: Size = Size(64 << 20)
    max_tensor: Size = Size(1 << 30)
    gpu_memory: Size | None = None
    fail_on: Severity = Severity.WARNING
    baseline: str | None = None
    output_format: OutputFormat = "text"
    cache_dir: str | None = None
    follow_imports: bool = True
    project_root: str | None = None

    path: str = ""
    """The file that it was read from, absolute; empty for the defaults. No key."""
    root: str = ""
    """The directory that its patterns are relative to, absolute. No key."""
    command_line: Layer = Layer()
    """The selection of the command line. No key."""
    from_command_line: frozenset[str] = frozenset()
    """The fields that the command line sets: paths among them may lead anywhere. No key."""

    @property
    def layers(self) -> tuple[Layer, Layer]:
        """The selection of the file and, after it, that of the command line."""
        ignore = (*self.ignore, *self.extend_ignore)
        return (Layer(select=self.select, extend_select=self.extend_select, ignore=ignore), self.command_line)

    def resolve(self, path: str) -> str:
        """A path of the configuration, taken from the directory of its file, or from here where it has none."""
        return os.path.normpath(os.path.join(self.root or os.getcwd(), os.path.expanduser(path)))


_NO_KEYS = ("path", "root", "command_line", "from_command_line")


@cache
def keys() -> Mapping[str, msgspec.structs.FieldInfo]:
    """The keys that a configuration file may have, with their types and defaults."""
    fields = msgspec.structs.fields(Config)
    return {field.encode_name: field for field in fields if field.name not in _NO_KEYS}


def from_table(table: Mapping[str, Any], path: str = "", prefix: str = "") -> dict[str, Any]:
    """The values of a configuration table, checked, by field name. Raises ConfigError for the first that is wrong.

    `path` and `prefix` (such as `[tool.tfmemlint]`) say in errors where the table stands.
    """
    values: dict[str, Any] = {}
    for key, value in table.items():
        field = keys().get(key)
        shown = f"{prefix} {_plain_key(key)}".strip()
        if field is None:
            inside = key == "tool" and not prefix and isinstance(value, dict) and "tfmemlint" in value
            hint = "keys stand at the top of this file, not below [tool.tfmemlint]" if inside else nearest_key(key)
            raise ConfigError(path, shown, f"unknown key; {hint}")
        if isinstance(value, dict) and get_origin(field.type) is dict:
            inner = get_args(field.type)[1]
            values[field.name] = {
                each: _convert(value[each], inner, path, f"{shown}.{_plain_key(each)}") for each in value
            }
        else:
            values[field.name] = _convert(value, field.type, path, shown)
    return values


def _convert(value: Any, kind: Any, path: str, shown: str) -> Any:
    try:
        return msgspec.convert(value, kind, dec_hook=_decode)
    except msgspec.ValidationError as error:
        raise ConfigError(path, shown, _plain(str(error), kind)) from None


def _decode(kind: type, value: Any) -> Any:
    if kind is Size:
        return parse_size(value)
    raise TypeError(f"no configuration value of type {kind}")


def nearest_key(key: str) -> str:
    """A hint at the key that was meant."""
    import difflib

    near = difflib.get_close_matches(key[:100].replace("_", "-").lower(), keys(), 1, 0.5)
    return f"did you mean '{near[0]}'?" if near else "`tfmemlint config` lists all keys"


def _plain(error: str, kind: Any) -> str:
    """msgspec's complaint about a value in the words of a TOML file."""
    message, _, place = error.partition(" - at `$")
    if message.startswith("Invalid enum value"):
        accepted = [each.value for each in kind] if kind is Severity else get_args(kind)
        return f"{shortened(message.removeprefix('Invalid enum value '))} is none of {', '.join(accepted)}"
    message = re.sub(r"`(\w+)(?: \| null)?`", lambda found: _WORDS.get(found[1], found[1]), message)
    number = re.search(r"\d+", place)
    if number:
        return f"entry {int(number[0]) + 1} of the list: {message[:1].lower()}{message[1:]}"
    return message[:1].lower() + message[1:]


def _plain_key(key: str) -> str:
    """A key as a line can hold it."""
    return shortened(key if key.strip() and key.isprintable() else ascii(key))


class Configs:
    """Finds the configuration of each file: that of the nearest directory above it which has one.

    `file` is used for all files instead, `isolated` ignores all files, `inline` are `key = value` lines of TOML and
    `overrides` are values by field name, both put over whatever was found.
    """

    def __init__(
        self,
        *,
        file: str | None = None,
        isolated: bool = False,
        inline: tuple[str, ...] = (),
        overrides: Mapping[str, Any] | None = None,
    ) -> None:
        self._overrides = dict(overrides or {})
        for line in reversed(inline):
            self._overrides = {**from_table(_toml(line.encode(), "--config"), "--config"), **self._overrides}
        self._found: dict[str, Config | ConfigError] = {}
        self._fixed: Config | None = None
        if file is not None:
            self._fixed = self._made(_read(os.path.abspath(file)) or {}, os.path.abspath(file), os.getcwd())
        elif isolated:
            self._fixed = self._made({}, "", "")

    def for_file(self, path: str) -> Config:
        """The configuration that governs a file. Raises ConfigError when it cannot be used."""
        return self.for_directory(os.path.dirname(os.path.abspath(path)))

    def for_directory(self, directory: str) -> Config:
        """The configuration that governs the files of a directory. Raises ConfigError when it cannot be used."""
        if self._fixed is not None:
            return self._fixed
        directory = os.path.abspath(directory)
        found = self._found.get(directory)
        if found is None:
            found = self._found[directory] = self._look(directory)
        if isinstance(found, ConfigError):
            raise found
        return found

    def has_none(self, directory: str) -> None:
        """Note that no configuration file lies in a directory, which need not be looked for then."""
        directory = os.path.abspath(directory)
        if self._fixed is None and directory not in self._found:
            above = self._found.get(os.path.dirname(directory))
            if above is not None:
                self._found[directory] = above

    def _look(self, directory: str) -> Config | ConfigError:
        try:
            for name in FILE_NAMES:
                path = os.path.join(directory, name)
                # A directory of that name is somebody else's; a pipe or a device is an error.
                values = _read(path) if os.path.exists(path) and not os.path.isdir(path) else None
                if values is not None:
                    return self._made(values, path, directory)
            parent = os.path.dirname(directory)
            return self.for_directory(parent) if parent != directory else self._made({}, "", "")
        except ConfigError as error:
            return error

    def _made(self, values: Mapping[str, Any], path: str, root: str) -> Config:
        named = frozenset(self._overrides)
        made = Config(**{**values, **self._overrides, "path": path, "root": root, "from_command_line": named})
        for name in ("baseline", "cache_dir"):
            if reason := wrong_path(name, getattr(made, name), made.root, named):
                prefix = "[tool.tfmemlint] " if os.path.basename(path) == "pyproject.toml" else ""
                raise ConfigError(path, prefix + name.replace("_", "-"), reason)
        return made


def _read(path: str) -> dict[str, Any] | None:
    """The checked values of a configuration file; None for a `pyproject.toml` without our table."""
    try:
        data = read_regular(path, LARGEST)
    except OSError as error:
        reason = error.strerror or str(error)
        large = error.errno == errno.EFBIG
        raise ConfigError(path, "", reason.removeprefix("it ") if large else f"cannot be read: {reason}") from None
    table = _toml(data, path)
    if os.path.basename(path) != "pyproject.toml":
        return from_table(table, path)
    tool = table.get("tool", {})
    if not isinstance(tool, dict) or "tfmemlint" not in tool:
        return None
    if not isinstance(tool["tfmemlint"], dict):
        raise ConfigError(path, "tool.tfmemlint", "expected a table")
    return from_table(tool["tfmemlint"], path, "[tool.tfmemlint]")


def _toml(data: bytes, path: str) -> dict[str, Any]:
    try:
        return read_toml(data)
    except ValueError as error:
        raise ConfigError(path, "", str(error)) from None
