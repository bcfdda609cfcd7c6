"""The temporary folders of runs: made, removed whatever a program did to them, and swept up after a killed process."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterator

from tfmemlint.verify.run import process_tree

NAME = re.compile(r"tfmemlint-(\d+)-(\d+)-(\d+)-[a-z0-9_]+")
"""Number of the process namespace, of the process, and when that was started: who has made the folder."""
ENTRIES, DEPTH = 200_000, 1_000
TOO_MUCH = 1 << 62


def _namespace() -> int:
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


@contextlib.contextmanager
def workspace() -> Iterator[str]:
    """A new temporary folder for one run, removed with its content on leaving the `with`."""
    own = process_tree.look_up(os.getpid())
    folder = tempfile.mkdtemp(prefix=f"tfmemlint-{_namespace()}-{os.getpid()}-{own.started if own else 0}-")
    try:
        yield folder
    finally:
        try:
            remove(folder)
        except BaseException:  # a signal, which comes once: the folder goes all the same
            remove(folder)
            raise


def sweep() -> None:
    """Remove what earlier processes of this user had no time to remove; says nothing of what it cannot."""
    top = tempfile.gettempdir()
    with contextlib.suppress(OSError):
        for name in os.listdir(top):
            made = NAME.fullmatch(name)
            path = os.path.join(top, name)
            if made and int(made[1]) == _namespace() and _is_ours(path) and _is_gone(int(made[2]), int(made[3])):
                remove(path)


def _is_ours(path: str) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _is_gone(number: int, started: int) -> bool:
    """Whether the process has ended; where the system does not tell starts, whether its number is free."""
    if started:
        process = process_tree.look_up(number)
        return process is None or process.started != started
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False


def remove(folder: str) -> None:
    """Remove a folder as far as possible, however deep it is and whatever may be done in it; follows no link.

    Each folder found in it is moved up to its top first, so that no path grows and one folder is open at a time.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    with contextlib.suppress(OSError):
        _open_up(folder, None)
        top = os.open(folder, flags)
        try:
            pending, moved, token = ["."], 0, secrets.token_hex(8)
            while pending:
                name = pending.pop()
                with contextlib.suppress(OSError):
                    inner = os.open(name, flags, dir_fd=top)
                    try:
                        for entry in os.listdir(inner):
                            moved += 1
                            above = _remove_entry(entry, inner, top, f"{token}-{moved}")
                            pending += [above] if above else []
                    finally:
                        os.close(inner)
                    if name != ".":
                        os.rmdir(name, dir_fd=top)
        finally:
            os.close(top)
        os.rmdir(folder)


def _remove_entry(name: str, inner: int, top: int, above: str) -> str | None:
    """Unlink what is no folder; a folder's new name in the top one, `above` where that is free."""
    with contextlib.suppress(OSError):
        if not stat.S_ISDIR(os.stat(name, dir_fd=inner, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=inner)
            return None
        _open_up(name, inner)
        if os.path.samestat(os.fstat(inner), os.fstat(top)):
            return name
        os.rename(name, above, src_dir_fd=inner, dst_dir_fd=top)
        return above
    return None


def _open_up(name: str, inner: int | None) -> None:
    """Make a folder readable and writable for its owner, on Linux never through a link."""
    with contextlib.suppress(OSError):
        if not hasattr(os, "O_PATH"):
            os.chmod(name, stat.S_IRWXU, dir_fd=inner)
            return
        handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=inner)
        try:
            os.chmod(f"/proc/self/fd/{handle}", stat.S_IRWXU)
        finally:
            os.close(handle)


def disk_use(folder: str) -> int:
    """Bytes on disk of all files in the folder; `TOO_MUCH` for what cannot be counted: too many, too deep, closed."""
    total = entries = 0
    pending = [(folder, 0)]
    while pending:
        parent, depth = pending.pop()
        try:
            for entry in os.scandir(parent):
                entries += 1
                with contextlib.suppress(FileNotFoundError):
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        pending.append((entry.path, depth + 1))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return TOO_MUCH
        if entries > ENTRIES or depth > DEPTH:
            return TOO_MUCH
    return total
