"""The table of docs/verify.md that says what is kept from a program at each level, held against one that tries it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import probe_program
import pytest
from served import idle_server, run_served

from tfmemlint.verify.run import launch_filter, process_tree, sandbox, workspaces
from tfmemlint.verify.run.sandbox import Level
from tfmemlint.verify.run.server import can_serve
from tfmemlint.verify.run.watch import Limits, Outcome

MIB = 1024**2
DOCS = Path(__file__).parents[2] / "docs" / "verify.md"
BEGIN, END = "<!-- containment, written by pytest --bless -->\n", "<!-- end of containment -->\n"
PROBE = str(Path(probe_program.__file__))
OPEN, REFUSED, SECCOMP, LANDLOCK = "open", "refused", "refused \u00b9", "refused \u00b2"
AVAILABLE = [level for level in Level if level is Level.SESSION or sandbox._works(level)]
QUICK = Limits(wall=30.0, memory=600 * MIB)
TIGHT = Limits(wall=30.0, memory=100 * MIB, disk=30 * MIB, processes=40)


@dataclass(frozen=True)
class Place:
    """Where a program runs: at which level, whether in a copy of a process that runs others too, and whether it may use
    a graphics card, for which some things are let through."""

    level: Level
    served: bool = False
    gpu: bool = False

    @property
    def name(self) -> str:
        return self.level.name.lower() + "-served" * self.served + "-gpu" * self.gpu


PLACES = [
    *(Place(level, gpu=gpu) for gpu in (False, True) for level in Level),
    *(Place(level, served=True) for level in Level if level.isolated),
]


@dataclass(frozen=True)
class Row:
    """A line of the table: what is tried, by which probe, and what comes of it with bubblewrap, unshare, the group."""

    text: str
    probe: str
    isolated: str
    group: str

    def cell(self, level: Level) -> str:
        return self.isolated if level.isolated else self.group

    @property
    def trial(self) -> bool:
        """Whether the probe says what came of it; else the end of the run does."""
        return self.isolated.startswith((OPEN, REFUSED, "not there"))


TABLE = (
    Row("reach this machine or another one by TCP or UDP", "internet", REFUSED, SECCOMP),
    Row("send raw packets", "packets", REFUSED, SECCOMP),
    Row("reach a socket file or an abstract socket of this machine", "socket_files", SECCOMP, SECCOMP),
    Row("reach the host of a virtual machine (`AF_VSOCK`)", "hypervisor", SECCOMP, SECCOMP),
    Row("use io_uring, kernel keys, BPF or calls of another architecture", "kernel", SECCOMP, SECCOMP),
    Row("write, make, move or delete files outside of its folder", "written_files", REFUSED, LANDLOCK),
    Row("change mode, times or attributes of files outside", "changed_files", REFUSED, OPEN),
    Row("write to a named pipe outside", "named_pipe", LANDLOCK, LANDLOCK),
    Row("read your files", "read_files", OPEN, OPEN),
    Row("read `/run`, where services keep sockets and tokens", "read_services", REFUSED, OPEN),
    Row("see your environment variables", "environment", REFUSED, OPEN),
    Row("write to devices (disks, terminals, `/dev/kvm`), or make some", "devices", REFUSED, LANDLOCK),
    Row("mount, remount, unmount, also in a new user namespace", "mounts", REFUSED, LANDLOCK),
    Row("signal or trace processes outside", "other_processes", REFUSED, "refused \u00b3"),
    Row("leave shared segments, semaphores or queues (System V)", "left_segments", SECCOMP, SECCOMP),
    Row("hide its memory and files from the limits", "hidden_process", SECCOMP, SECCOMP),
    Row("hold more memory than allowed in `memfd_create`", "memory_file", "killed", "killed"),
    Row("... in deleted files of `/dev/shm`", "shared_memory", "killed", "killed"),
    Row("... in shared mappings", "shared_mapping", "killed", "killed"),
    Row("hold more disk space than allowed in deleted files", "deleted_file", "killed", "killed"),
    Row(
        "hide files in folders that are nested 1,000 times, or closed", "deep_folders closed_folder", "killed", "killed"
    ),
    Row("start processes without end", "forks", "killed", "killed"),
    Row("stop itself, ignore signals, close its output", "stopped silent", "killed", "killed"),
    Row("leave a daemon: new session, no parent, no environment", "daemon", "ended", "ended"),
)


def rendered() -> str:
    """The table as Markdown."""
    lines = ["| a program tries to | bubblewrap | unshare | process group |", "|---|---|---|---|"]
    levels = (Level.BUBBLEWRAP, Level.UNSHARE, Level.SESSION)
    lines += [f"| {row.text} | {' | '.join(row.cell(level) for level in levels)} |" for row in TABLE]
    return "\n".join(lines) + "\n"


def holds(cell: str) -> bool:
    """Whether this system has what the promise needs."""
    needs = {SECCOMP: launch_filter.has_seccomp(), LANDLOCK: launch_filter.landlock_version() >= 2}
    return needs.get(cell, launch_filter.landlock_version() >= 6 if cell.endswith("\u00b3") else True)


@pytest.fixture(params=PLACES, ids=lambda place: place.name)
def place(request: pytest.FixtureRequest) -> Place:
    chosen: Place = request.param
    if chosen.level not in AVAILABLE:
        pytest.skip(f"{chosen.level.name.lower()} does not work on this system: its column is not tested")
    if chosen.served and not can_serve(chosen.level):
        pytest.skip("each program has a process of its own here")
    return chosen


@pytest.fixture
def work() -> Iterator[str]:
    with sandbox.workspace() as folder:
        yield folder


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What there is outside to reach: sockets that listen, a pipe that is read, files, a process."""
    monkeypatch.setenv("SERVICE_TOKEN", "hush")
    (tmp_path / "target").write_text("kept", encoding="utf-8")
    names = {name: str(tmp_path / name) for name in ("stream", "datagram", "pipe")}
    abstract = f"tfmemlint-{os.getpid()}"
    os.mkfifo(names["pipe"])
    with contextlib.ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        for kind, address in (
            (socket.SOCK_STREAM, names["stream"]),
            (socket.SOCK_DGRAM, names["datagram"]),
            (socket.SOCK_STREAM, "\0" + abstract),
        ):
            end = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
            end.bind(address)
            if kind == socket.SOCK_STREAM:
                end.listen()
        reader = os.open(names["pipe"], os.O_RDONLY | os.O_NONBLOCK)
        stack.callback(os.close, reader)
        victim = stack.enter_context(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
        stack.callback(victim.kill)
        ports = {"tcp": tcp.getsockname()[1], "udp": udp.getsockname()[1]}
        yield {**names, **ports, "abstract": abstract, "folder": str(tmp_path), "victim": victim.pid}


def run(work: str, place: Place, host: dict[str, Any], names: list[str], limits: Limits = QUICK) -> Outcome:
    Path(work, "host.json").write_text(json.dumps(host), encoding="utf-8")
    arguments = [PROBE, os.path.join(work, "host.json"), *names]
    if not place.served:
        command = [sys.executable, "-S", *arguments]
        return sandbox.run(command, work=work, limits=limits, level=place.level, gpu=place.gpu)
    program = f"import runpy, sys\nsys.argv = {arguments}\nrunpy.run_path(sys.argv[0], run_name='__main__')\n"
    with idle_server(place.level, limits, [PROBE, work]) as server:
        return run_served(server, program)[0]


def test_the_table_in_the_docs_is_this_one(pytestconfig: pytest.Config) -> None:
    text = DOCS.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    shown, _, after = rest.partition(END)
    if pytestconfig.getoption("bless"):
        DOCS.write_text(before + BEGIN + rendered() + END + after, encoding="utf-8")
    else:
        assert shown == rendered(), "if the new table is right: pytest --bless"


def test_the_probes_do_reach_what_is_not_contained(host: dict[str, Any], tmp_path: Path) -> None:
    """What is refused below is refused by the containment, and not because a probe is wrong."""
    (tmp_path / "host.json").write_text(json.dumps(host), encoding="utf-8")
    names = ["internet", "socket_files", "changed_files", "named_pipe", "read_files", "environment", "hidden_process"]
    names += ["left_segments", "other_processes", "written_files"]
    done = subprocess.run(
        [sys.executable, "-S", PROBE, "host.json", *names], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == dict.fromkeys(names, "open")


def test_what_is_refused_in_the_table_is_refused(place: Place, work: str, host: dict[str, Any]) -> None:
    rows, level = [row for row in TABLE if row.trial], place.level
    outcome = run(work, place, host, [row.probe for row in rows])
    said = json.loads(outcome.output)
    untested = [row.text for row in rows if not holds(row.cell(level))]
    if untested:
        print(f"{level.name.lower()}: this kernel lacks the filter for: {'; '.join(untested)}")
    wrong = {
        row.text: said[row.probe]
        for row in rows
        if (holds(row.cell(level)) and row.cell(level) != OPEN and said[row.probe] == OPEN)
    }
    assert not wrong
    assert said["read_files"] == OPEN
    assert Path(host["folder"], "target").read_text(encoding="utf-8") == "kept"


@pytest.mark.parametrize(
    ("probe", "ended"),
    [
        ("memory_file", "memory"),
        ("shared_memory", "memory"),
        ("shared_mapping", "memory"),
        ("deleted_file", "disk"),
        ("deep_folders", "disk"),
        ("closed_folder", "disk"),
        ("forks", "processes"),
    ],
)
def test_what_takes_too_much_is_killed(place: Place, work: str, probe: str, ended: str) -> None:
    outcome = run(work, place, {}, [probe], TIGHT)
    assert outcome.ended == ended, outcome
    assert not marked(work)


@pytest.mark.parametrize("probe", ["stopped", "silent"])
def test_the_time_limit_holds_for_what_does_not_answer(place: Place, work: str, probe: str) -> None:
    outcome = run(work, place, {}, [probe], Limits(wall=3.0 if place.served else 0.4))
    assert outcome.ended == "time"
    assert outcome.seconds < 10


@pytest.mark.parametrize("count", [1, 20])
def test_no_daemon_is_left(place: Place, work: str, count: int) -> None:
    outcome = run(work, place, {"mark": work, "daemons": count}, ["daemon"])
    assert (outcome.ended, outcome.code) == ("exit", 0)
    assert not marked(work)


def marked(text: str) -> list[int]:
    """Processes of this system with a word in their arguments."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if text.encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
    return found


def test_every_row_has_its_probe_and_every_level_its_cell() -> None:
    for row in TABLE:
        assert all(hasattr(probe_program, name) for name in row.probe.split()), row.text


def test_a_killed_process_is_told_from_a_later_one_of_the_same_number() -> None:
    for other, code in ((1, 0), (0, -signal.SIGKILL)):
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as victim:
            process_tree.send({victim.pid: process_tree.family(victim.pid)[victim.pid] + other}, signal.SIGKILL)
            victim.communicate(b"\n")
            assert victim.returncode == code


STARTS_CUDA = """
import socket
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as end:
    end.bind("\\0tfmemlint-cuda")
    end.listen()
with open("/proc/self/comm", "w") as file:
    file.write("renamed")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="there are no such files")
@pytest.mark.parametrize("level", AVAILABLE)
def test_what_cuda_does_when_it_starts_is_let_through_where_a_card_is_used(level: Level, work: str) -> None:
    command = [sys.executable, "-S", "-c", STARTS_CUDA]
    outcome = sandbox.run(command, work=work, limits=QUICK, level=level, gpu=True)
    assert (outcome.code, outcome.output) == (0, "")


@pytest.mark.skipif(not launch_filter.has_seccomp(), reason="this kernel has no such filter")
@pytest.mark.parametrize("level", AVAILABLE)
def test_and_nowhere_else(level: Level, work: str) -> None:
    outcome = sandbox.run([sys.executable, "-S", "-c", STARTS_CUDA], work=work, limits=QUICK, level=level)
    assert outcome.code == 1 and "Address family not supported" in outcome.output


@pytest.mark.parametrize("level", [level for level in AVAILABLE if level.isolated])
def test_the_kernel_s_own_settings_stay_read_only_with_a_card(level: Level, work: str) -> None:
    program = "import os; print(*(bool(os.statvfs(p).f_flag & os.ST_RDONLY) for p in ('/proc', '/proc/sys')))"
    outcome = sandbox.run([sys.executable, "-S", "-c", program], work=work, limits=QUICK, level=level, gpu=True)
    assert outcome.output.split() == ["False", "True"]


@pytest.mark.parametrize("level", [level for level in AVAILABLE if level.isolated])
def test_no_device_of_the_machine_is_there(level: Level, work: str) -> None:
    usual = {"null", "zero", "full", "random", "urandom", "shm", "fd", "stdin", "stdout", "stderr"}
    of_bubblewrap = {"pts", "ptmx", "tty", "console", "core"}
    command = [sys.executable, "-S", "-c", "import os; print(*os.listdir('/dev'))"]
    found = set(sandbox.run(command, work=work, limits=QUICK, level=level).output.split())
    assert usual <= found <= usual | of_bubblewrap


class TestRemoving:
    """What a program leaves in its folder, and what others leave beside it."""

    def test_deep_and_closed_folders_go_and_links_are_not_followed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if os.path.isdir("/dev/shm"):  # removing 3,000 folders takes a disk some seconds
            monkeypatch.setattr("tempfile.tempdir", "/dev/shm")
        kept = tmp_path / "kept"
        kept.mkdir()
        (kept / "file").touch()
        kept.chmod(0o500)
        with workspaces.workspace() as work:
            os.symlink(kept, os.path.join(work, "link"))
            os.symlink("/nowhere", os.path.join(work, "broken"))
            os.mkfifo(os.path.join(work, "pipe"))
            here = os.open(work, os.O_RDONLY)
            for depth in range(3000):
                os.mkdir("deep", dir_fd=here)
                below = os.open("deep", os.O_RDONLY, dir_fd=here)
                os.symlink(kept, f"link{depth}", dir_fd=below)
                os.close(here)
                here = below
            os.close(here)
            for name in ("a", "b"):
                os.makedirs(os.path.join(work, name, "inner"))
                os.chmod(os.path.join(work, name, "inner"), 0)
            os.chmod(os.path.join(work, "a"), 0)
            os.chmod(work, 0o500)
        assert not os.path.lexists(work)
        assert (kept / "file").exists() and kept.stat().st_mode & 0o777 == 0o500

    def test_what_a_killed_process_left_is_swept_up_and_nothing_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        with workspaces.workspace() as own:
            namespace, number, started = Path(own).name.split("-")[1:4]
            gone = subprocess.Popen([sys.executable, "-c", ""])
            gone.wait()
            (tmp_path / "aim").mkdir()
            (tmp_path / "aim" / "file").touch()
            left = f"tfmemlint-{namespace}-{gone.pid}-1-abc"
            stay = [
                f"tfmemlint-{int(namespace) + 1}-{gone.pid}-1-abc",  # of another container
                f"tfmemlint-{namespace}-{number}-{started}-abc",  # of a process that lives
                "tfmemlint-abc",
                f"tfmemlint-{namespace}-{gone.pid}-1-a.b",
            ]
            reused = f"tfmemlint-{namespace}-{number}-{int(started) - 1}-abc"
            for name in (left, reused, *stay):
                (tmp_path / name / "inner").mkdir(parents=True)
            (tmp_path / f"tfmemlint-{namespace}-{gone.pid}-1-link").symlink_to(tmp_path / "aim")
            (tmp_path / f"tfmemlint-{namespace}-{gone.pid}-1-file").touch()
            workspaces.sweep()
            assert not (tmp_path / left).exists() and not (tmp_path / reused).exists()
            assert all((tmp_path / name / "inner").is_dir() for name in stay)
            assert Path(own).is_dir() and (tmp_path / "aim" / "file").exists()
            assert (tmp_path / f"tfmemlint-{namespace}-{gone.pid}-1-file").exists()
