"""What a hostile program may try, run inside the containment: `probe_program.py HOST.json NAME...`

`HOST.json` says what the test has set up outside. Prints one JSON object: name -> "open", or why it was refused. What
is meant to be killed runs alone. Standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MIB = 1 << 20
SYSCALLS = {
    "x86_64": {"io_uring_setup": 425, "add_key": 248, "shmget": 29, "msgget": 68, "semget": 64, "bpf": 321},
    "aarch64": {"io_uring_setup": 425, "add_key": 217, "shmget": 194, "msgget": 186, "semget": 190, "bpf": 280},
}
libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """The system did not let the probe do it."""


def check(result: int) -> int:
    """Raise OSError for a failed call of the C library."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def call(name: str, *arguments: Any) -> int:
    """A system call by its name."""
    return check(libc.syscall(SYSCALLS[os.uname().machine][name], *arguments))


def any_of(*tries: Callable[[], Any]) -> None:
    """Succeed where one of the tries does; else raise what they said."""
    said = []
    for attempt in tries:
        try:
            attempt()
            return
        except (OSError, Refused) as error:
            said.append(str(error))
    raise Refused("; ".join(said))


def sending(family: int, kind: int, address: Any) -> Callable[[], None]:
    """A try to connect or send to an address."""

    def attempt() -> None:
        with socket.socket(family, kind) as end:
            end.settimeout(2)
            end.connect(address)
            end.send(b"x")
            end.send(b"x")  # fails where the first datagram found nobody

    return attempt


def internet(host: dict[str, Any]) -> None:
    tcp, udp = ("127.0.0.1", host["tcp"]), ("127.0.0.1", host["udp"])
    any_of(
        sending(socket.AF_INET, socket.SOCK_STREAM, tcp),
        sending(socket.AF_INET, socket.SOCK_DGRAM, udp),
        sending(socket.AF_INET, socket.SOCK_DGRAM, ("192.0.2.1", 53)),
        sending(socket.AF_INET6, socket.SOCK_DGRAM, ("2001:db8::1", 53)),
    )


def packets(host: dict[str, Any]) -> None:
    any_of(
        lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3),
        lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1),
        lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15),
    )


def sent_from_a_pair(address: str, kind: int) -> Callable[[], None]:
    """A pair of sockets that are connected to each other, used to reach another one."""

    def attempt() -> None:
        one, _ = socket.socketpair(socket.AF_UNIX, kind)
        one.sendto(b"x", address)

    return attempt


def socket_files(host: dict[str, Any]) -> None:
    any_of(
        sending(socket.AF_UNIX, socket.SOCK_STREAM, host["stream"]),
        sending(socket.AF_UNIX, socket.SOCK_DGRAM, host["datagram"]),
        sent_from_a_pair(host["datagram"], socket.SOCK_DGRAM),
        sent_from_a_pair(host["datagram"], socket.SOCK_RAW),
        lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)[0].connect(host["stream"]),
        lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)[0].connect(host["stream"]),
        sending(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + host["abstract"]),
    )


def hypervisor(host: dict[str, Any]) -> None:
    socket.socket(40, socket.SOCK_STREAM)


def kernel(host: dict[str, Any]) -> None:
    ring, bits = ctypes.create_string_buffer(120), 0x40000000
    any_of(
        lambda: call("io_uring_setup", 4, ring),
        lambda: call("add_key", b"user", b"tfmemlint", b"x", 1, -3),
        lambda: call("bpf", 5, ctypes.create_string_buffer(128), 128),
        lambda: check(libc.syscall(bits + 41, 1, 1, 0)),
    )


def left_segments(host: dict[str, Any]) -> None:
    any_of(
        lambda: call("shmget", 0, 4096, 0o1600),
        lambda: call("msgget", 0, 0o1600),
        lambda: call("semget", 0, 1, 0o1600),
    )


def written_files(host: dict[str, Any]) -> None:
    folder = host["folder"]
    target, link = os.path.join(folder, "target"), "link"
    os.symlink(target, link)
    any_of(
        lambda: Path(target).write_text("x"),
        lambda: Path(link).write_text("x"),
        lambda: os.truncate(target, 0),
        lambda: os.unlink(target),
        lambda: os.rename(target, target + "-moved"),
        lambda: os.link(target, target + "-linked"),
        lambda: os.mkdir(os.path.join(folder, "new")),
        lambda: Path("/proc/1/root" + folder, "new").write_text("x"),
        *(lambda where=where: Path(where, "tfmemlint-probe").touch() for where in ("/tmp", "/etc", "/run", "/var/tmp")),
        lambda: Path(os.path.expanduser("~root"), "tfmemlint-probe").touch(),
        lambda: Path("/proc/sys/kernel/core_pattern").write_text("x"),
        lambda: Path("/proc/sysrq-trigger").write_text("h"),
    )


def changed_files(host: dict[str, Any]) -> None:
    target = os.path.join(host["folder"], "target")
    any_of(
        lambda: os.chmod(target, 0o600),
        lambda: os.utime(target),
        lambda: os.setxattr(target, "user.tfmemlint", b"x"),
    )


def named_pipe(host: dict[str, Any]) -> None:
    handle = os.open(host["pipe"], os.O_WRONLY | os.O_NONBLOCK)
    os.write(handle, b"x")


def devices(host: dict[str, Any]) -> None:
    usual = ("null", "zero", "full", "random", "urandom", "tty", "ptmx")
    found = []
    for parent, _, names in os.walk("/dev"):
        for name in names:
            path = os.path.join(parent, name)
            with contextlib.suppress(OSError):
                mode = os.lstat(path).st_mode
                if (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and name not in usual and "/pts" not in parent:
                    found.append(path)
    for path in (*found, *made_devices("/dev/probe", "probe")):
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))
            return
    raise Refused(f"none of {len(found)}")


def made_devices(*paths: str) -> list[str]:
    """Nodes of one's own, for the memory of the machine."""
    made = []
    for path in paths:
        with contextlib.suppress(OSError):
            os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 1))
            made.append(path)
    return made


def mounts(host: dict[str, Any]) -> None:
    def in_new_namespace() -> None:
        check(libc.unshare(0x10000000 | 0x00020000))
        check(libc.mount(b"none", b"/", None, ctypes.c_ulong(32 | 4096), None))

    folder = host["folder"].encode()
    any_of(
        lambda: check(libc.mount(b"none", b"/", None, ctypes.c_ulong(32 | 4096), None)),
        lambda: check(libc.mount(folder, folder, None, ctypes.c_ulong(4096), None)),
        lambda: check(libc.umount2(b"/dev", 2)),
        in_new_namespace,
    )


def read_files(host: dict[str, Any]) -> None:
    Path(host["folder"], "target").read_text()


def read_services(host: dict[str, Any]) -> None:
    if not os.listdir("/run"):
        raise Refused("empty")


def other_processes(host: dict[str, Any]) -> None:
    victim = host["victim"]
    buffer = ctypes.create_string_buffer(8)
    local = struct.pack("PN", ctypes.addressof(buffer), 8)
    any_of(
        lambda: os.kill(victim, signal.SIGCONT),
        lambda: os.close(os.pidfd_open(victim)) or signal.pidfd_send_signal(os.pidfd_open(victim), 0),
        lambda: check(libc.ptrace(16, victim, 0, 0)),
        lambda: check(libc.process_vm_readv(victim, local, 1, local, 1, 0)),
        lambda: os.close(os.open(f"/proc/{victim}/mem", os.O_RDWR)),
    )


def supervisor(host: dict[str, Any]) -> None:
    """End the process that ends what is left behind."""
    os.kill(os.getppid(), 0)


def environment(host: dict[str, Any]) -> None:
    if not any("hush" in value for value in os.environ.values()):
        raise Refused("not there")


def terminal(host: dict[str, Any]) -> None:
    os.open("/dev/tty", os.O_RDWR)


def hidden_process(host: dict[str, Any]) -> None:
    check(libc.prctl(4, 0, 0, 0, 0))


def wait_for_the_end() -> None:
    while True:
        time.sleep(60)


def fill(file: int) -> None:
    """Write 20 MiB, without mapping them."""
    for _ in range(20):
        os.write(file, bytes(MIB))


def deleted(path: str) -> int:
    """An open file that no folder names."""
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    os.unlink(path)
    return file


def memory_file(host: dict[str, Any]) -> None:
    for _ in range(8):
        fill(os.memfd_create("held"))
    wait_for_the_end()


def shared_memory(host: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # there is less of it than this
        for _ in range(8):
            fill(deleted("/dev/shm/tfmemlint-probe"))
    wait_for_the_end()


def shared_mapping(host: dict[str, Any]) -> None:
    kept = mmap.mmap(-1, 160 * MIB)
    for place in range(0, len(kept), 4096):
        kept[place] = 1
    wait_for_the_end()


def deleted_file(host: dict[str, Any]) -> None:
    for _ in range(4):
        fill(deleted("gone"))
    wait_for_the_end()


def deep_folders(host: dict[str, Any]) -> None:
    for _ in range(1100):
        os.mkdir("d")
        os.chdir("d")
    wait_for_the_end()


def closed_folder(host: dict[str, Any]) -> None:
    os.mkdir("closed")
    for name in "abc":
        fill(os.open(f"closed/{name}", os.O_RDWR | os.O_CREAT))
    os.chmod("closed", 0)
    wait_for_the_end()


def daemon(host: dict[str, Any]) -> None:
    """Leave processes behind: other session, other parent, no environment."""
    for _ in range(host.get("daemons", 1)):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.setsid()
                command = [sys.executable, "-S", "-c", "import time; time.sleep(600)", host["mark"]]
                os.execve(sys.executable, command, {})
            os._exit(0)
        os.wait()


def stopped(host: dict[str, Any]) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def silent(host: dict[str, Any]) -> None:
    """Close everything, keep the parent's pipe open elsewhere, ignore all signals."""
    for number in range(1, 65):
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"], start_new_session=True)
    os.closerange(0, 256)
    wait_for_the_end()


def forks(host: dict[str, Any]) -> None:
    """A fork bomb; one that is not ended stops growing at about 300 processes and is over after 60 s."""
    made = mmap.mmap(-1, 8)
    while True:
        signal.alarm(60)
        count = int.from_bytes(made[:], "little")
        if count > 300:
            wait_for_the_end()
        made[:] = (count + 1).to_bytes(8, "little")
        with contextlib.suppress(OSError):
            os.fork()


def main(arguments: list[str]) -> None:
    """Try what is named."""
    host = json.loads(Path(arguments[0]).read_text())
    said = {}
    for name in arguments[1:]:
        try:
            globals()[name](host)
            said[name] = "open"
        except (OSError, Refused) as error:
            said[name] = str(error)
    print(json.dumps(said))


if __name__ == "__main__":
    main(sys.argv[1:])
