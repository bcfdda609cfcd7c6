"""What a program run by the verifier can and cannot do, at each level that this system offers."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tfmemlint.verify.run import process_tree, sandbox
from tfmemlint.verify.run.sandbox import Level, Limits, Outcome

MIB = 1024**2
LEVELS = [level for level in Level if level is Level.SESSION or sandbox._works(level)]
ISOLATED = [level for level in LEVELS if level.isolated]
QUICK = Limits(wall=20.0, memory=600 * MIB)


@pytest.fixture
def work() -> Iterator[str]:
    with sandbox.workspace() as folder:
        yield folder


def run(work: str, program: str, level: Level, limits: Limits = QUICK) -> Outcome:
    path = Path(work, "program.py")
    path.write_text(textwrap.dedent(program), encoding="utf-8")
    return sandbox.run([sys.executable, "-S", str(path)], work=work, limits=limits, level=level)


def alive(marker: str) -> set[int]:
    """Processes of this system that were started with the marker in their arguments."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in entry.read_bytes():
                found.add(int(entry.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("level", LEVELS)
class TestAtEveryLevel:
    def test_an_ordinary_program_runs_and_its_output_comes_back(self, work: str, level: Level) -> None:
        outcome = run(work, "import sys; print('out'); print('err', file=sys.stderr)", level)
        assert (outcome.ended, outcome.code, outcome.reason) == ("exit", 0, "")
        assert set(outcome.output.split()) == {"out", "err"}

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems offer no such settings")
    def test_repeated_runs_have_one_processor_and_the_same_addresses(self, work: str, level: Level) -> None:
        program = Path(work, "program.py")
        program.write_text("import os; print(id(object()), len(os.sched_getaffinity(0)))", encoding="utf-8")
        command = [sys.executable, "-S", str(program)]
        outputs = {sandbox.run(command, work=work, limits=QUICK, level=level, repeatable=True).output for _ in range(4)}
        assert len(outputs) == 1 and outputs.pop().split()[1] == "1"

    def test_the_exit_status_comes_back(self, work: str, level: Level) -> None:
        assert run(work, "raise SystemExit(7)", level).reason == "ended with exit status 7"

    def test_a_crash_is_named_by_its_signal(self, work: str, level: Level) -> None:
        outcome = run(work, "import os, signal; os.kill(os.getpid(), signal.SIGABRT)", level)
        assert outcome.reason == "ended by SIGABRT"

    def test_an_endless_loop_is_killed_at_the_time_limit(self, work: str, level: Level) -> None:
        outcome = run(work, "while True: pass", level, Limits(wall=1.0))
        assert outcome.ended == "time"
        assert "time limit" in outcome.reason

    def test_a_program_that_ignores_signals_is_killed_too(self, work: str, level: Level) -> None:
        program = """
            import signal, time
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            time.sleep(600)
        """
        assert run(work, program, level, Limits(wall=1.0)).ended == "time"

    def test_a_program_that_fills_memory_is_killed_at_the_memory_limit(self, work: str, level: Level) -> None:
        program = """
            import time
            kept = []
            while True:
                kept.append(bytearray(b"x") * (4 << 20)); time.sleep(0.002)
        """
        outcome = run(work, program, level, Limits(wall=60.0, memory=200 * MIB))
        assert outcome.ended == "memory"
        assert outcome.memory_peak > 200 * MIB

    def test_memory_of_forked_processes_counts(self, work: str, level: Level) -> None:
        program = """
            import os, time
            for _ in range(4):
                if os.fork() == 0:
                    kept = bytearray(os.urandom(1)) * (80 << 20)
                    time.sleep(600)
            time.sleep(600)
        """
        assert run(work, program, level, Limits(wall=60.0, memory=200 * MIB)).ended == "memory"

    def test_forks_do_not_outlive_the_program(self, work: str, level: Level) -> None:
        program = """
            import os, sys, time
            for _ in range(3):
                if os.fork() == 0:
                    os.setsid()
                    if os.fork() == 0:
                        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", sys.argv[0]])
                    os._exit(0)
            time.sleep(0.3)
        """
        assert run(work, program, level).ended == "exit"
        assert alive(f"{work}/program.py") == set()

    def test_a_program_that_forks_without_end_is_killed(self, work: str, level: Level) -> None:
        program = """
            import os, time
            while True:
                os.fork() or time.sleep(600)
                time.sleep(0.005)
        """
        assert run(work, program, level, Limits(wall=60.0, processes=12)).ended == "processes"
        assert alive(f"{work}/program.py") == set()

    def test_megabytes_of_output_are_cut_in_the_middle(self, work: str, level: Level) -> None:
        program = "print('first'); [print('x' * 999) for _ in range(30_000)]; print('last')"
        outcome = run(work, program, level)
        assert outcome.output_bytes > 30_000_000
        assert len(outcome.output) < 100_000
        assert outcome.output.startswith("first") and outcome.output.endswith("last\n")
        assert "bytes left out" in outcome.output

    def test_files_go_to_the_folder_of_the_run_and_are_limited(self, work: str, level: Level) -> None:
        program = """
            import tempfile, os
            number = 0
            while True:
                with open(os.path.join(tempfile.gettempdir(), f"f{number % 1000}"), "wb") as file:
                    file.write(os.urandom(1 << 20))
                number += 1
        """
        assert run(work, program, level, Limits(wall=60.0, disk=60 * MIB)).ended == "disk"

    def test_one_large_file_is_refused(self, work: str, level: Level) -> None:
        program = "open('big', 'wb').write(bytes(40 << 20))"
        outcome = run(work, program, level, Limits(wall=60.0, disk=30 * MIB))
        assert outcome.ended == "disk" or "File too large" in outcome.output  # whichever comes first
        assert Path(work, "big").stat().st_size <= 30 * MIB

    def test_there_is_no_input(self, work: str, level: Level) -> None:
        assert "EOFError" in run(work, "input()", level).output

    def test_secrets_in_the_environment_are_not_passed_on(
        self, work: str, level: Level, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SERVICE_TOKEN", "hush")
        assert "hush" not in run(work, "import os; print(dict(os.environ))", level).output

    def test_everything_is_killed_when_the_caller_is_interrupted(self, work: str, level: Level) -> None:
        def interrupt() -> None:
            raise KeyboardInterrupt

        path = Path(work, "program.py")
        path.write_text("import os, time\nos.fork()\ntime.sleep(600)\n", encoding="utf-8")
        with pytest.raises(KeyboardInterrupt):
            sandbox.run([sys.executable, str(path)], work=work, limits=QUICK, level=level, tick=interrupt)
        assert alive(str(path)) == set()


@pytest.mark.parametrize("level", ISOLATED)
class TestIsolated:
    def test_files_outside_cannot_be_written(self, work: str, level: Level, tmp_path: Path) -> None:
        target = tmp_path / "mine"
        target.write_text("kept", encoding="utf-8")
        outcome = run(work, f"open({str(target)!r}, 'w').write('gone')", level)
        assert "Read-only file system" in outcome.output
        assert target.read_text(encoding="utf-8") == "kept"

    def test_files_outside_cannot_be_deleted(self, work: str, level: Level, tmp_path: Path) -> None:
        (tmp_path / "mine").touch()
        run(work, f"import shutil; shutil.rmtree({str(tmp_path)!r})", level)
        assert (tmp_path / "mine").exists()

    def test_the_mounts_cannot_be_undone(self, work: str, level: Level, tmp_path: Path) -> None:
        program = f"""
            import os
            os.system("mount -o remount,bind,rw / ; mount -o remount,rw {tmp_path}")
            open({str(tmp_path / "new")!r}, "w")
        """
        assert "Read-only file system" in run(work, program, level).output
        assert not (tmp_path / "new").exists()

    def test_memory_cannot_be_taken_through_files_in_dev(self, work: str, level: Level) -> None:
        assert "OSError" in run(work, "open('/dev/filler', 'wb').write(bytes(1 << 20))", level).output

    def test_shared_memory_is_limited_and_gone_with_the_run(self, work: str, level: Level) -> None:
        program = """
            import os
            print(os.statvfs("/dev/shm").f_blocks * os.statvfs("/dev/shm").f_frsize)
            open("/dev/shm/tfmemlint-block", "wb").write(b"1234")
        """
        outcome = run(work, program, level)
        assert outcome.code == 0 and int(outcome.output) == QUICK.memory
        assert not Path("/dev/shm/tfmemlint-block").exists()

    @pytest.mark.parametrize("where", ["/dev/shm", "/run"])
    def test_temporary_folders_may_lie_in_what_is_replaced(
        self, level: Level, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if not os.access(where, os.W_OK):
            pytest.skip(f"{where} cannot be written here")
        monkeypatch.setattr("tempfile.tempdir", where)
        with sandbox.workspace() as work:
            outcome = run(work, "import os; open('new', 'w').close(); print(os.getcwd())", level)
            assert outcome.output == f"{work}\n" and Path(work, "new").exists()

    def test_a_server_on_this_machine_cannot_be_reached(self, work: str, level: Level) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            outcome = run(work, f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)", level)
        assert outcome.code != 0
        assert "Error" in outcome.output

    def test_no_address_outside_can_be_reached(self, work: str, level: Level) -> None:
        outcome = run(work, "import socket; socket.create_connection(('192.0.2.1', 80), 2)", level)
        assert "unreachable" in outcome.output

    def test_processes_outside_cannot_be_killed(self, work: str, level: Level) -> None:
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as victim:
            run(work, f"import os, signal; os.kill({victim.pid}, signal.SIGKILL)", level)
            still_there = victim.poll() is None
            victim.kill()
        assert still_there


def test_the_strongest_level_is_one_that_was_tried() -> None:
    assert sandbox.strongest_level() is LEVELS[0]


def test_without_the_tools_the_level_says_that_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    sandbox.strongest_level.cache_clear()
    try:
        level = sandbox.strongest_level()
    finally:
        sandbox.strongest_level.cache_clear()
    assert level is Level.SESSION and not level.isolated and "open to the program" in level.value


def test_folders_of_variables_are_absolute_as_the_folder_of_the_run_is_a_project_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("PATH", "LD_LIBRARY_PATH"):
        monkeypatch.setenv(name, ":.:lib:/usr/lib:")
    for name in ("PYTHONPATH", "PYTHONSTARTUP"):
        monkeypatch.setenv(name, "/project")
    variables = sandbox.environment("/work")
    assert variables["PATH"] == variables["LD_LIBRARY_PATH"] == "/usr/lib"
    assert "PYTHONPATH" not in variables and "PYTHONSTARTUP" not in variables


def is_running(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize("level", LEVELS)
def test_a_killed_caller_takes_the_program_with_it(level: Level, work: str, tmp_path: Path) -> None:
    script = tmp_path / "caller.py"
    script.write_text(
        textwrap.dedent(f"""
        import os, sys
        from tfmemlint.verify.run import sandbox
        program = "open('up', 'w').close(); import time; time.sleep(600)"
        tick = lambda: os.path.exists("{work}/up") and print("running", flush=True)
        level = sandbox.Level.{level.name}
        sandbox.run([sys.executable, "-c", program], work="{work}", tick=tick, level=level)
        """),
        encoding="utf-8",
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == b"running\n"
        started = process_tree.descendants(caller.pid) - {caller.pid}
        caller.send_signal(signal.SIGKILL)
    assert started
    deadline = time.monotonic() + 30
    while any(map(is_running, started)) and time.monotonic() < deadline:
        os.sched_yield()
    assert not any(map(is_running, started))


def test_descendants_are_found_by_the_marker_when_their_parents_have_gone() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "import os; r = os.fork(); print(r, flush=True) if r else input()"],
        env={**os.environ, "MARK": "here"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        orphan = int(process.stdout.readline())
        process.wait()
        assert orphan in process_tree.descendants(process.pid, "MARK=here")
        process_tree.send({orphan: 0}, signal.SIGKILL)
