"""Findings of earlier runs, so that an unchanged file is not parsed again.

One file for each configuration: it is named after the tool, its rules, Python, the settings and the place of the
project, and holds what each source file gave, by path, with a hash of the bytes that it was made from. Whatever is
wrong with it is no error.

The folder is part of somebody's project, and what a clone or an archive brings must be able neither to lead us to other
files nor to speak in our name:

- No link below the project's folder is followed, and a folder that is not empty is used only with our `CACHEDIR.TAG`.
  Only regular files with names of our own are deleted (see `own_folder`).
- Each file begins with a stamp made of the inode and the change time of the `CACHEDIR.TAG` beside it. git, archives
  and copies make new inodes and cannot set a change time, which counts in fractions of a second and is known on this
  machine only. So a cache that was committed, unpacked or carried over from elsewhere does not have the stamp: it is
  not even decoded, and written anew. Who can read that time can run programs here, and needs no cache to do harm.
  A folder outside of the project that the user named (`--cache-dir`) is the user's own word, and may be carried from
  one machine of a continuous integration to the next.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from tfmemlint import __version__
from tfmemlint.config.paths import is_below, steps_below
from tfmemlint.files.bounded_read import digest_of, read_handle, read_regular
from tfmemlint.files.own_folder import OwnFolder
from tfmemlint.files.tagged_folder import FOLDER, SECONDS_KEPT, forget, is_ours, mark, stamp
from tfmemlint.finding import Finding
from tfmemlint.project.importers import IMPORTERS, Importers
from tfmemlint.project.layout import project_root

if TYPE_CHECKING:
    from tfmemlint.config.settings import Config
    from tfmemlint.lint.engine import FileResult

_IRRELEVANT = (
    "fix", "unsafe_fixes", "show_fixes", "exclude", "extend_exclude", "force_exclude", "include", "extend_include",
    "include_markdown", "respect_gitignore", "fail_on", "baseline", "output_format", "cache_dir",
    "from_command_line",
)  # fmt: skip
_LIMIT = 256 << 20
"""Bytes of one file of the cache."""


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """What one file gave, and the hash of its bytes."""

    digest: bytes
    findings: tuple[Finding, ...] = ()
    suppressed: int = 0
    skipped: bool = False
    rests_on: dict[str, bytes | None] = {}
    """The other files that had a part in it: see `FileResult.rests_on`; paths as the entries have them."""


class Cache:
    """The results of one configuration's files. `root` is the directory that it lies in.

    `refused` says in a few words why there is no cache where it was to be; it is empty where there is one or can be.
    """

    def __init__(self, config: Config, fingerprint: str) -> None:
        self.root = config.root or os.getcwd()
        self.is_named = "cache_dir" in config.from_command_line
        """Whether the user named the folder, and so expects it to be used."""
        self.folder, self._top, self._steps = self._place(config)
        key = f"{fingerprint} {_relevant(config)!r} {os.path.realpath(self.root)!r}"
        self._name = f"{digest_of(key.encode('utf-8', 'surrogateescape')).hex()}.bin"
        self.path = os.path.join(self.folder, __version__, self._name)
        self._changed = False
        self._digests: dict[str, bytes] = {}
        self._there: dict[str, bool] = {}
        self._importers: dict[str, Importers] = {}
        self._project = config.resolve(config.project_root) if config.project_root else None
        self._seen: set[str] = set()
        self._entries: dict[str, Entry] = {}
        self.exists = False
        """Whether an earlier run with these very settings came to its end."""
        self.refused = ""
        try:
            self._load()
        except FileNotFoundError:
            pass
        except OSError as error:
            self.refused = _reason(error)

    def _place(self, config: Config) -> tuple[str, str, tuple[str, ...]]:
        """The folder, and how it is reached: what the user chose, and the steps below that no link may be."""
        if not config.cache_dir:
            return os.path.join(self.root, FOLDER), self.root, (FOLDER,)
        folder = config.resolve(config.cache_dir)
        if self.is_named:
            return folder, folder, ()
        return folder, self.root, steps_below(self.root, folder)

    def _load(self) -> None:
        """Read what an earlier run left. Raises OSError where the folder is missing or none of ours."""
        with OwnFolder(self._top, self._steps) as folder:
            if not is_ours(folder):
                return
            ours = self._stamp(folder)
            folder.enter(__version__)
            with (
                contextlib.suppress(OSError, msgspec.DecodeError, ValueError, TypeError, RecursionError),
                folder.opened(self._name) as handle,
            ):
                if os.read(handle, len(ours)) != ours:
                    return
                data = read_handle(handle, self.path, _LIMIT)
                self._entries = msgspec.msgpack.decode(data, type=dict[str, Entry])
                self.exists = True
                folder.touch(self._name, handle)

    def get(self, path: str, data: bytes) -> FileResult | None:
        """What these bytes of this file gave before, or None."""
        key = self._key(path)
        entry = self._entries.get(key)
        found = self._digests[os.path.abspath(path)] = digest_of(data)
        if entry is None or entry.digest != found or not self._stands(entry.rests_on):
            return None
        self._seen.add(key)
        from tfmemlint.lint.engine import FileResult
        from tfmemlint.text.read import read_source
        from tfmemlint.text.source import SourceError

        try:
            source = read_source(data, path) if entry.findings else None
        except SourceError:
            return None
        return FileResult(path, source, entry.findings, entry.suppressed, entry.skipped)

    def _stands(self, rests_on: Mapping[str, bytes | None]) -> bool:
        """Whether the other files that had a part in a result are as they were."""
        return all(self._is_as(path, was) for path, was in rests_on.items())

    def _importers_of(self, path: str) -> bytes:
        path = os.path.join(self.root, path)
        root = project_root(path) if self._project is None else self._project
        importers = self._importers.setdefault(root, Importers(root))
        return importers.state(path)

    def _is_as(self, path: str, was: bytes | None) -> bool:
        if path.startswith(IMPORTERS):
            return self._importers_of(path.removeprefix(IMPORTERS)) == was
        path = os.path.join(self.root, path)
        if not was:
            is_there = self._there.get(path)
            if is_there is None:
                is_there = self._there[path] = os.path.exists(path)
            return is_there is (was is not None)
        found = self._digests.get(path)
        if found is None:
            try:
                found = digest_of(read_regular(path))
            except OSError:
                found = b""
            self._digests[path] = found
        return found == was

    def put(self, path: str, digest: bytes, result: FileResult) -> None:
        """Keep what the bytes of this digest gave, unless the file could not be checked to its end."""
        if result.complete:
            key = self._key(path)
            if not key.isprintable() and any("\ud800" <= char <= "\udfff" for char in key):
                return  # a name that is no text cannot be kept
            others = {self._other(other): was for other, was in result.rests_on.items()}
            self._entries[key] = Entry(digest, result.findings, result.suppressed, result.skipped, others)
            self._seen.add(key)
            self._changed = True

    def save(self) -> None:
        """Write the file when anything changed, without entries of files that are gone."""
        if self.refused or (not self._changed and self.exists):
            return
        kept = {
            key: entry
            for key, entry in self._entries.items()
            if key in self._seen or os.path.exists(os.path.join(self.root, key))
        }
        try:
            self._write(msgspec.msgpack.encode(kept))
        except OSError as error:
            self.refused = _reason(error)
        except (UnicodeError, ValueError) as error:  # a path that is no text
            self.refused = str(error)

    def _write(self, data: bytes) -> None:
        with OwnFolder(self._top, self._steps, make=True) as folder:
            if not is_ours(folder):
                mark(folder)
            ours = self._stamp(folder)
            folder.enter(__version__, make=True)
            # What a killed run leaves has a name of our own too, and is forgotten like the rest.
            folder.replace(self._name, ours + data, f"{secrets.token_hex(16)}.bin")
            forget(folder, time.time() - SECONDS_KEPT)

    def _stamp(self, folder: OwnFolder) -> bytes:
        """What the folder's files begin with when nobody else can have written them."""
        if self.is_named and not is_below(os.path.realpath(self.folder), os.path.realpath(self.root)):
            return digest_of(b"named by the user")
        return stamp(folder)

    def _other(self, path: str) -> str:
        if path.startswith(IMPORTERS):
            return f"{IMPORTERS}{self._key(path.removeprefix(IMPORTERS))}"
        return self._key(path)

    def _key(self, path: str) -> str:
        full = os.path.abspath(path)
        return full.removeprefix(os.path.join(self.root, ""))


def _relevant(config: Config) -> Config:
    """The configuration without settings that make no difference to what one file gives."""
    defaults = {field.name: field.default for field in msgspec.structs.fields(type(config))}
    return msgspec.structs.replace(config, **{name: defaults[name] for name in _IRRELEVANT})


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
