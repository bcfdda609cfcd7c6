"""Findings of earlier runs, so that an unchanged file is not parsed again.

One file for each configuration: it is named after the tool, its rules, Python, the settings and the place of the
project, and holds what each source file gave, by path, and a hash of the bytes that it was made from. Whatever is
wrong with it is no error. Files whose status says that they are as they were (`files.unchanged`) are not read for that.

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
from typing import TYPE_CHECKING

import msgspec

from tfmemlint import __version__
from tfmemlint.config.paths import is_below, steps_below
from tfmemlint.files.bounded_read import digest_of, read_handle
from tfmemlint.files.own_folder import OwnFolder
from tfmemlint.files.tagged_folder import FOLDER, SECONDS_KEPT, forget, is_ours, mark, stamp
from tfmemlint.finding import Finding
from tfmemlint.lint.result import FileResult
from tfmemlint.project.importers import IMPORTERS
from tfmemlint.run.conditions import NOTHING, Condition, Conditions
from tfmemlint.run.seen import Seen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfmemlint.config.settings import Config

_IRRELEVANT = (
    "fix", "unsafe_fixes", "show_fixes", "exclude", "extend_exclude", "force_exclude", "include", "extend_include",
    "include_markdown", "respect_gitignore", "fail_on", "baseline", "output_format", "cache_dir",
    "from_command_line",
)  # fmt: skip
_STARTS = ("", ".", "/", "\\", "~")
"""What a path begins with that may be another one for the same file."""
_LIMIT = 256 << 20
"""Bytes of one file of the cache."""


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """What one file gave, and the hash of its bytes."""

    digest: bytes
    findings: tuple[Finding, ...] = ()
    suppressed: int = 0
    skipped: bool = False
    rests_on: tuple[int, ...] = ()
    """The numbers of its conditions."""


class _Stored(msgspec.Struct, array_like=True):
    """The whole of it: what `Seen` keeps of files, the conditions, the entries, of which only those are decoded that
    are asked for, and what the files of a project import, once it was asked who imports what."""

    seen: dict[str, bytes]
    conditions: list[Condition]
    entries: dict[str, msgspec.Raw]
    imported: msgspec.Raw = NOTHING


_STORED, _ENTRIES = msgspec.msgpack.Decoder(_Stored), msgspec.msgpack.Decoder(Entry)
"""Made at once: threads that decode a type for the first time may crash each other."""


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
        self._is_here = self.root == os.getcwd()
        self._changed = False
        self._keep: set[str] = set()
        self._seen = Seen(self._path_of)
        project = config.resolve(config.project_root) if config.project_root else None
        self._conditions = Conditions(self._seen, self._path_of, project)
        self._stored: dict[str, msgspec.Raw] = {}
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
                stored = _STORED.decode(data)
                self._seen.kept, self._stored = stored.seen, stored.entries
                self._conditions.listed, self._conditions.raw_imported = stored.conditions, stored.imported
                self.exists = True
                folder.touch(self._name, handle)

    def unread(self, path: str) -> FileResult | None:
        """What a file gave before, if its status alone tells that it gives the same now; else None."""
        key = self._key(path)
        if not self._seen.look(key):
            return None
        if self._seen.is_plain(key):
            return FileResult(path, skipped=True)
        entry = self._entry(key)
        # Findings are shown with their lines.
        if entry is None or entry.findings or entry.digest != self._seen.digest(key):
            return None
        return self._again(path, key, entry, None)

    def plain(self, path: str) -> None:
        """Keep that a file was read and has no word of TensorFlow in it."""
        self._seen.read_plain(self._key(path))

    def get(self, path: str, data: bytes) -> FileResult | None:
        """What these bytes of this file gave before, or None."""
        key = self._key(path)
        found = digest_of(data)
        self._seen.read(key, found)
        entry = self._entry(key)
        return self._again(path, key, entry, data) if entry is not None and entry.digest == found else None

    def _entry(self, key: str) -> Entry | None:
        entry = self._entries.get(key)
        if entry is None and key in self._stored:
            with contextlib.suppress(msgspec.DecodeError, ValueError, TypeError, RecursionError):
                entry = self._entries[key] = _ENTRIES.decode(self._stored[key])
        return entry

    def _again(self, path: str, key: str, entry: Entry, data: bytes | None) -> FileResult | None:
        if not self._conditions.hold(entry.rests_on):
            return None
        self._keep.add(key)
        source = None
        if entry.findings and data is not None:
            from tfmemlint.text.read import read_source
            from tfmemlint.text.source import SourceError

            try:
                source = read_source(data, path)
            except SourceError:
                return None
        return FileResult(path, source, entry.findings, entry.suppressed, entry.skipped)

    def put(self, path: str, digest: bytes, result: FileResult) -> None:
        """Keep what the bytes of this digest gave, unless the file could not be checked to its end."""
        if result.complete:
            key = self._key(path)
            if not _is_text(key):
                return
            others = ((self._other(other), was) for other, was in result.rests_on.items())
            numbers = tuple(map(self._conditions.number, others))
            self._entries[key] = Entry(digest, result.findings, result.suppressed, result.skipped, numbers)
            self._stored[key] = msgspec.Raw(msgspec.msgpack.encode(self._entries[key]))
            self._seen.read(key, digest)
            self._keep.add(key)
            self._changed = True

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """A time that each process has to itself. Raises OSError where there can be no folder."""
        with OwnFolder(self._top, self._steps, make=True) as folder:
            folder.lock()
            yield

    def save(self) -> None:
        """Write the file when anything changed, without entries of files that are gone."""
        if self.refused or (self.exists and not self._changed and not self._seen.has_news):
            return
        try:
            self._write()
        except OSError as error:
            self.refused = _reason(error)
        except (UnicodeError, ValueError) as error:  # a path that is no text
            self.refused = str(error)

    def _write(self) -> None:
        with OwnFolder(self._top, self._steps, make=True) as folder:
            if not is_ours(folder):
                mark(folder)
            ours = self._stamp(folder)
            folder.enter(__version__, make=True)
            data = msgspec.msgpack.encode(self._whole(*_clock(folder)))
            # What a killed run leaves has a name of our own too, and is forgotten like the rest.
            folder.replace(self._name, ours + data, _temporary())
            forget(folder, time.time() - SECONDS_KEPT)

    def _whole(self, skew: float, device: int) -> _Stored:
        def is_left(key: str) -> bool:
            return key in self._keep or os.path.exists(self._path_of(key))

        now = self._seen.kept_now(skew, device)
        kept = {key: seen for key, seen in self._seen.kept.items() if key not in now and is_left(key)}
        seen = {**kept, **{key: seen for key, seen in now.items() if _is_text(key)}}
        entries = {key: entry for key in self._stored if is_left(key) and (entry := self._entry(key)) is not None}
        # Conditions that no result has any more are left out.
        used = sorted({number for entry in entries.values() for number in entry.rests_on})
        new = {number: place for place, number in enumerate(used)}
        renumbered = {
            key: msgspec.structs.replace(entry, rests_on=tuple(new[number] for number in entry.rests_on))
            for key, entry in entries.items()
        }
        raw = {key: msgspec.Raw(msgspec.msgpack.encode(entry)) for key, entry in renumbered.items()}
        return _Stored(seen, [self._conditions.listed[number] for number in used], raw, self._conditions.imported())

    def _stamp(self, folder: OwnFolder) -> bytes:
        """What the folder's files begin with when nobody else can have written them."""
        if self.is_named and not is_below(os.path.realpath(self.folder), os.path.realpath(self.root)):
            return digest_of(b"named by the user")
        return stamp(folder)

    def _other(self, path: str) -> str:
        if path.startswith(IMPORTERS):
            return f"{IMPORTERS}{self._key(path.removeprefix(IMPORTERS))}"
        return self._key(path)

    def _path_of(self, key: str) -> str:
        return os.path.join(self.root, key)

    def _key(self, path: str) -> str:
        if self._is_here and path[:1] not in _STARTS and path[1:2] != ":":
            return path  # as most paths of a run are written
        return os.path.abspath(path).removeprefix(os.path.join(self.root, ""))


def _relevant(config: Config) -> Config:
    """The configuration without settings that make no difference to what one file gives."""
    defaults = {field.name: field.default for field in msgspec.structs.fields(type(config))}
    return msgspec.structs.replace(config, **{name: defaults[name] for name in _IRRELEVANT})


def _is_text(key: str) -> bool:
    """Whether a name can be kept."""
    return key.isprintable() or not any("\ud800" <= char <= "\udfff" for char in key)


def _temporary() -> str:
    return f"{secrets.token_hex(16)}.bin"


def _clock(folder: OwnFolder) -> tuple[float, int]:
    """By how many seconds the clock of a folder's file system is behind ours, and its device."""
    name = _temporary()
    folder.create(name, b"")
    try:
        status = folder.status(name)
        return time.time() - status.st_mtime, status.st_dev
    finally:
        folder.remove(name)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
