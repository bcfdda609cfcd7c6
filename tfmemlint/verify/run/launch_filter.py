"""Two filters of the Linux kernel that a process puts on itself and all that it starts, and that none can take off.

- seccomp: system calls that reach past files and processes fail: sockets that can leave, kernel keys, tracing
- Landlock: no file outside of the given folders can be written, named pipes included, which a read-only mount lets pass

Standard library only: `launch.py` loads it from its file.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Sequence

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, PR_SET_DUMPABLE = 22, 38, 4
SECCOMP_MODE_FILTER = 2
LOAD, EQUAL, AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000
NUMBER, ARCHITECTURE = 0, 4
X32 = 0x40000000
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
SOCK_STREAM, SOCK_SEQPACKET, SOCK_TYPE = 1, 5, 0xF

# Number of the architecture, and of the system calls. Both are little-endian.
ARCHITECTURES = {
    "x86_64": (0xC000003E, {"socket": 41, "connect": 42, "socketpair": 53, "prctl": 157}),
    "aarch64": (0xC00000B7, {"socket": 198, "connect": 203, "socketpair": 199, "prctl": 167}),
}
# What io_uring does passes by this filter; keys, queues, shared segments and traces reach or outlive other processes.
# pidfd_getfd and process_vm_* take files and memory out of them.
REFUSED = {
    "x86_64": {
        "io_uring_setup": 425,
        "io_uring_enter": 426,
        "io_uring_register": 427,
        "add_key": 248,
        "request_key": 249,
        "keyctl": 250,
        "bpf": 321,
        "userfaultfd": 323,
        "perf_event_open": 298,
        "ptrace": 101,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "pidfd_getfd": 438,
        "shmget": 29,
        "semget": 64,
        "msgget": 68,
        "mq_open": 240,
    },
    "aarch64": {
        "io_uring_setup": 425,
        "io_uring_enter": 426,
        "io_uring_register": 427,
        "add_key": 217,
        "request_key": 218,
        "keyctl": 219,
        "bpf": 280,
        "userfaultfd": 282,
        "perf_event_open": 241,
        "ptrace": 117,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "pidfd_getfd": 438,
        "shmget": 194,
        "semget": 190,
        "msgget": 186,
        "mq_open": 180,
    },
}

LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
WRITE_FILE, MAKE_CHAR, MAKE_BLOCK, REFER, TRUNCATE, IOCTL_DEV = 1 << 1, 1 << 6, 1 << 11, 1 << 13, 1 << 14, 1 << 15
CHANGES = WRITE_FILE | sum(1 << bit for bit in range(4, 14))
"""Writing, removing and making entries, and moving them between folders."""
SCOPES = 0b11
"""Abstract sockets, and signals."""


def _argument(index: int) -> int:
    return 16 + 8 * index


def _fail(number: int) -> tuple[int, int, int, int]:
    return RETURN, 0, 0, FAIL | number


def _call(number: int, body: Sequence[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """The instructions, skipped for every other system call; they end with a return."""
    return [(LOAD, 0, 0, NUMBER), (EQUAL, 0, len(body), number), *body]


def _sockets(calls: dict[str, int], network: bool, gpu: bool) -> list[tuple[int, int, int, int]]:
    """Sockets for the internet (of a network of one's own) and its addresses; pairs that are connected for good.

    CUDA starts only where it can listen at a socket of this machine. With `gpu` such sockets can be made, and none can
    be connected.
    """
    allow = (RETURN, 0, 0, ALLOW)
    internet = allow if network else _fail(errno.ENETUNREACH)
    listening = [
        (LOAD, 0, 0, _argument(0)),
        (EQUAL, 0, 5, AF_UNIX),
        (LOAD, 0, 0, _argument(1)),
        (AND, 0, 0, SOCK_TYPE),
        (EQUAL, 1, 0, SOCK_STREAM),
        (EQUAL, 0, 1, SOCK_SEQPACKET),
        allow,
    ]
    socket = [
        *(listening if gpu else ()),
        (LOAD, 0, 0, _argument(0)),
        (EQUAL, 1, 0, AF_INET),
        (EQUAL, 0, 1, AF_INET6),
        internet,
        (EQUAL, 0, 3 if network else 0, AF_NETLINK),
        *([(LOAD, 0, 0, _argument(2)), (EQUAL, 0, 1, 0), allow] if network else ()),
        _fail(errno.EAFNOSUPPORT),
    ]
    pair = [  # a pair of datagram sockets can still send elsewhere
        (LOAD, 0, 0, _argument(0)),
        (EQUAL, 0, 5, AF_UNIX),
        (LOAD, 0, 0, _argument(1)),
        (AND, 0, 0, SOCK_TYPE),
        (EQUAL, 1, 0, SOCK_STREAM),
        (EQUAL, 0, 1, SOCK_SEQPACKET),
        allow,
        _fail(errno.EAFNOSUPPORT),
    ]
    connect = _call(calls["connect"], [_fail(errno.ECONNREFUSED)]) if gpu else ()
    return [*_call(calls["socket"], socket), *_call(calls["socketpair"], pair), *connect]


def seccomp_program(machine: str, network: bool, gpu: bool = False) -> bytes | None:
    """The filter for the kernel's machine, None for one without. `network`: whether internet sockets can be made;
    `gpu`: whether a card is used."""
    if machine not in ARCHITECTURES:
        return None
    architecture, calls = ARCHITECTURES[machine]
    hidden = [(LOAD, 0, 0, _argument(0)), (EQUAL, 0, 1, PR_SET_DUMPABLE), _fail(errno.EPERM), (RETURN, 0, 0, ALLOW)]
    program = [
        (LOAD, 0, 0, ARCHITECTURE),  # calls of another architecture, as 32-bit ones, have other numbers
        (EQUAL, 1, 0, architecture),
        _fail(errno.ENOSYS),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 0, 1, X32),
        _fail(errno.ENOSYS),
        *_sockets(calls, network, gpu),
        *_call(calls["prctl"], hidden),  # the memory and files of a hidden process could not be counted
    ]
    for name, number in REFUSED[machine].items():
        program += _call(number, [_fail(errno.ENOSYS if name.startswith("io_uring") else errno.EPERM)])
    program.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def has_seccomp() -> bool:
    """Whether this system filters system calls and their numbers are known here."""
    if sys.platform != "linux" or platform.machine() not in ARCHITECTURES:
        return False
    failed = _libc().prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, None, 0, 0)
    return bool(failed) and ctypes.get_errno() == errno.EFAULT  # the filter is missing, not the feature


def landlock_version() -> int:
    """The version of Landlock that can be used here, 0 for none. The first one cannot move files between folders."""
    if sys.platform != "linux":
        return 0
    version = int(_libc().syscall(LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1))
    return version if version >= 2 else 0


def _check(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def confine_writes(folders: Sequence[str], files: Sequence[str]) -> None:
    """Refuse writing everywhere but below the folders and to the files (devices too), and signals to processes
    outside. Does nothing on a kernel without Landlock. Raises OSError."""
    version = landlock_version()
    if not version:
        return
    libc = _libc()
    handled = CHANGES | (TRUNCATE if version >= 3 else 0) | (IOCTL_DEV if version >= 5 else 0)
    rules = struct.pack("<QQQ", handled, 0, SCOPES)[: 24 if version >= 6 else 8]
    ruleset = _check(libc.syscall(LANDLOCK_CREATE, rules, ctypes.c_size_t(len(rules)), 0), "Landlock")
    single = handled & (WRITE_FILE | TRUNCATE | IOCTL_DEV)
    granted = [(path, handled & ~(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV)) for path in folders]
    for path, rights in [*granted, *((path, single) for path in files)]:
        with contextlib.suppress(FileNotFoundError):
            place = os.open(path, os.O_PATH)
            rule = struct.pack("<Qi", rights, place)
            _check(libc.syscall(LANDLOCK_ADD, ruleset, 1, rule, 0), path)
            os.close(place)
    _check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
    _check(libc.syscall(LANDLOCK_RESTRICT, ruleset, 0), "Landlock")
    os.close(ruleset)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def filter_calls(network: bool, gpu: bool = False) -> None:
    """Put the filter of system calls on this process. Does nothing where there is none. Raises OSError."""
    code = seccomp_program(platform.machine(), network, gpu)
    if code is None or not has_seccomp():
        return
    libc = _libc()
    program = _Program(len(code) // 8, code)
    _check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
    _check(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0), "seccomp")
