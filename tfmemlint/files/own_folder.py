"""A folder for files of our own inside somebody else's project, entered step by step and never through a link.

git and archives store links, so that any part of such a path may lead to the user's other files. On POSIX systems each
step is opened relative to the one before, without following links, and files are then reached through that handle: what
was looked at is what is written, whatever becomes of the path meanwhile. Where Python has no such calls (Windows), each
step is looked at before it is taken.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from types import TracebackType

from tfmemlint.files.bounded_read import read_handle, require_regular

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_BY_HANDLE = hasattr(os, "O_NOFOLLOW") and {os.open, os.mkdir, os.stat, os.unlink, os.rename} <= os.supports_dir_fd
_NO_LINK = (
    getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)  # fmt: skip


class OwnFolder:
    """The folder at `steps` below `top`, open until the end of a `with` block.

    Links are followed on the way to `top`, which the user chose, and refused below it. With `make`, what is missing is
    made. Raises OSError where there is no such folder.
    """

    def __init__(self, top: str, steps: Sequence[str] = (), *, make: bool = False) -> None:
        self.path = top
        self._handle: int | None = None
        try:
            if make:
                os.makedirs(top, exist_ok=True)
            if _BY_HANDLE:
                self._handle = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            else:
                os.listdir(top)
            for step in steps:
                self.enter(step, make=make)
        except ValueError as error:  # a NUL character
            self.close()
            raise OSError(str(error)) from None
        except BaseException:
            self.close()
            raise

    def enter(self, step: str, *, make: bool = False) -> None:
        """Go on to a folder in this one. Raises OSError where there is none, or a link in its place."""
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(self._at(step), dir_fd=self._handle)
        if self._handle is None:
            _require_no_link(os.lstat(self._at(step)), step)
        else:
            try:
                inner = os.open(step, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK, dir_fd=self._handle)
            except OSError:
                _require_no_link(self.status(step), step)
                raise
            os.close(self._handle)
            self._handle = inner
        self.path = os.path.join(self.path, step)

    def __enter__(self) -> OwnFolder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Give the handle back; the folder cannot be used any more."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def lock(self) -> None:
        """Wait until no other process has locked the folder, and keep it locked until it is closed.

        Where the system or its file system has no locks for folders, nothing is locked.
        """
        if fcntl is not None and self._handle is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(self._handle, fcntl.LOCK_EX)

    def names(self) -> list[str]:
        """What lies in the folder."""
        return os.listdir(self.path if self._handle is None else self._handle)

    def status(self, name: str) -> os.stat_result:
        """What stands at a name, links not followed. Raises OSError where nothing does."""
        return os.stat(self._at(name), dir_fd=self._handle, follow_symlinks=False)

    @contextlib.contextmanager
    def opened(self, name: str) -> Iterator[int]:
        """A handle on a regular file, for reading. Raises OSError for anything else, links included."""
        require_regular(self.status(name), name)
        handle = os.open(self._at(name), os.O_RDONLY | _NO_LINK, dir_fd=self._handle)
        try:
            require_regular(os.fstat(handle), name)
            yield handle
        finally:
            os.close(handle)

    def read(self, name: str, limit: int) -> bytes:
        """The bytes of a regular file, at most `limit`. Raises OSError for anything else, links included."""
        with self.opened(name) as handle:
            return read_handle(handle, name, limit)

    def create(self, name: str, data: bytes, mode: int = 0o666) -> None:
        """Write a file that is not there yet. Raises OSError where anything stands at its name."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
        handle = os.open(self._at(name), flags, mode, dir_fd=self._handle)
        try:
            with open(handle, "wb") as stream:
                stream.write(data)
        except BaseException:
            with contextlib.suppress(OSError):
                self.remove(name)
            raise

    def replace(self, name: str, data: bytes, temporary: str) -> None:
        """Put a file with these bytes at the name, whole or not at all. Raises OSError when that fails."""
        self.create(temporary, data, 0o600)
        try:
            os.replace(self._at(temporary), self._at(name), src_dir_fd=self._handle, dst_dir_fd=self._handle)
        except BaseException:
            with contextlib.suppress(OSError):
                self.remove(temporary)
            raise

    def touch(self, name: str, handle: int) -> None:
        """Say that a file which is open has been used now."""
        os.utime(handle if os.utime in os.supports_fd else self._at(name))

    def remove(self, name: str) -> None:
        """Take a file's name away."""
        os.unlink(self._at(name), dir_fd=self._handle)

    def _at(self, name: str) -> str:
        return name if self._handle is not None else os.path.join(self.path, name)


def _require_no_link(status: os.stat_result, name: str) -> None:
    """Raises OSError for what is no folder, or is a link or a junction to one."""
    reparse = getattr(stat, "FILE_ATTRIBUTE_REPARSE_POINT", 0x400)
    if stat.S_ISLNK(status.st_mode) or getattr(status, "st_file_attributes", 0) & reparse:
        raise OSError(errno.ELOOP, f"{name} is a link, and none is followed there")
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, f"{name} is no folder")
