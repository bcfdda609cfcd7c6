"""Findings of earlier runs, so that an unchanged file is not parsed again.

One file for each configuration: it is named after the tool, its rules, Python and the settings, and holds what each
source file gave, by path, with a hash of the bytes that it was made from. Whatever is wrong with it is no error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from typing import TYPE_CHECKING

import msgspec

from tfmemlint import __version__
from tfmemlint.finding import Finding
from tfmemlint.selectors import FAILURES

if TYPE_CHECKING:
    from tfmemlint.config import Config
    from tfmemlint.engine import FileResult

FOLDER = ".tfmemlint_cache"
_IRRELEVANT = (
    "fix", "unsafe_fixes", "show_fixes", "exclude", "extend_exclude", "force_exclude", "include", "extend_include",
    "include_markdown", "respect_gitignore", "fail_on", "baseline", "output_format", "cache_dir",
)  # fmt: skip
_SECONDS_KEPT = 14 * 24 * 3600


def digest(data: bytes) -> bytes:
    """A hash of a file's bytes."""
    return hashlib.blake2b(data, digest_size=16).digest()


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """What one file gave, and the hash of its bytes."""

    digest: bytes
    findings: tuple[Finding, ...] = ()
    suppressed: int = 0
    skipped: bool = False


class Cache:
    """The results of one configuration's files. `root` is the directory that it lies in."""

    def __init__(self, config: Config, fingerprint: str) -> None:
        self.root = config.root or os.getcwd()
        self.folder = config.resolve(config.cache_dir) if config.cache_dir else os.path.join(self.root, FOLDER)
        name = digest(f"{fingerprint} {_relevant(config)!r}".encode()).hex()
        self.path = os.path.join(self.folder, __version__, f"{name}.bin")
        self._changed = False
        self._seen: set[str] = set()
        self._entries: dict[str, Entry] = {}
        self.exists = False
        """Whether an earlier run with these very settings came to its end."""
        with contextlib.suppress(OSError, msgspec.DecodeError, ValueError, TypeError):
            with open(self.path, "rb") as stream:
                self._entries = msgspec.msgpack.decode(stream.read(), type=dict[str, Entry])
            self.exists = True
            os.utime(self.path)

    def get(self, path: str, data: bytes) -> FileResult | None:
        """What these bytes of this file gave before, or None."""
        key = self._key(path)
        entry = self._entries.get(key)
        if entry is None or entry.digest != digest(data):
            return None
        self._seen.add(key)
        from tfmemlint.engine import FileResult
        from tfmemlint.model.source import SourceError, read_source

        try:
            source = read_source(data, path) if entry.findings else None
        except SourceError:
            return None
        return FileResult(path, source, entry.findings, entry.suppressed, entry.skipped)

    def put(self, path: str, digest: bytes, result: FileResult) -> None:
        """Keep what the bytes of this digest gave, unless the file could not be checked to its end."""
        if not any(finding.code in FAILURES for finding in result.findings):
            key = self._key(path)
            self._entries[key] = Entry(digest, result.findings, result.suppressed, result.skipped)
            self._seen.add(key)
            self._changed = True

    def save(self) -> None:
        """Write the file when anything changed, without entries of files that are gone."""
        if not self._changed and self.exists:
            return
        kept = {
            key: entry
            for key, entry in self._entries.items()
            if key in self._seen or os.path.exists(os.path.join(self.root, key))
        }
        with contextlib.suppress(OSError, UnicodeError, ValueError):
            folder = os.path.dirname(self.path)
            os.makedirs(folder, exist_ok=True)
            _mark(self.folder)
            _replace(self.path, msgspec.msgpack.encode(kept))
            _forget(folder, time.time() - _SECONDS_KEPT)

    def _key(self, path: str) -> str:
        full = os.path.abspath(path)
        return full.removeprefix(os.path.join(self.root, ""))


def _relevant(config: Config) -> Config:
    """The configuration without settings that make no difference to what one file gives."""
    defaults = {field.name: field.default for field in msgspec.structs.fields(type(config))}
    return msgspec.structs.replace(config, **{name: defaults[name] for name in _IRRELEVANT})


def _mark(folder: str) -> None:
    """Keep the folder out of git and of backups."""
    ignore = os.path.join(folder, ".gitignore")
    if not os.path.exists(ignore):
        with open(ignore, "wb") as stream:
            stream.write(b"# Made by tfmemlint.\n*\n")
        words = b"Signature: 8a477f597d28d172789f06886806bc55\n# Made by tfmemlint; see https://bford.info/cachedir/\n"
        with open(os.path.join(folder, "CACHEDIR.TAG"), "wb") as stream:
            stream.write(words)


def _replace(path: str, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path))
    try:
        with open(handle, "wb") as stream:
            stream.write(data)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _forget(folder: str, before: float) -> None:
    """Delete what no run has written for a while."""
    for entry in os.scandir(folder):
        if entry.stat().st_mtime < before:
            os.unlink(entry.path)
