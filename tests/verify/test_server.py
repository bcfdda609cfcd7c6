"""One process for many programs: each finds what a fresh process would give it, and none meets another one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from served import idle_server, run_served

from tfmemlint.verify import result
from tfmemlint.verify.claim import Claim
from tfmemlint.verify.result import Pair
from tfmemlint.verify.run import measure, sandbox
from tfmemlint.verify.run.measure import Program, Settings
from tfmemlint.verify.run.runs import Run
from tfmemlint.verify.run.sandbox import Level, Limits
from tfmemlint.verify.run.server import Server, can_serve

LEVEL = sandbox.strongest_level()
LIMITS = Limits(wall=30.0)
MIB = 1 << 20

pytestmark = pytest.mark.skipif(not can_serve(LEVEL), reason="each program has a process of its own here")


@pytest.fixture
def server() -> Iterator[Server]:
    with idle_server(LEVEL, LIMITS) as made:
        yield made


def printed(server: Server, source: str) -> str:
    outcome, _ = run_served(server, source)
    assert (outcome.ended, outcome.code) == ("exit", 0), outcome
    return outcome.output


def test_each_program_is_the_main_one_in_an_empty_folder_of_its_own(server: Server) -> None:
    source = """
import os, sys
print(__name__, sys.argv == [__file__], os.listdir(), os.environ["HOME"] == os.getcwd(), sys.stdin.read())
open("left", "w").close()
"""
    assert printed(server, source) == printed(server, source) == "__main__ True ['program.py'] True \n"


def test_what_a_program_changes_in_its_process_is_gone_with_it(server: Server) -> None:
    source = """
import builtins, os, sys
print("LEFT" in os.environ, "left" in sys.modules, hasattr(builtins, "left"), os.nice(0))
os.environ["LEFT"], sys.modules["left"], builtins.left = "1", sys, 1
os.nice(1)
os.umask(0o777)
"""
    assert printed(server, source) == printed(server, source)


def test_programs_have_one_process_until_one_spoils_it(server: Server) -> None:
    who = "import os; print(os.getppid())"
    assert printed(server, who) == printed(server, who)


@pytest.mark.parametrize(
    "spoils",
    [
        "import subprocess; subprocess.Popen(['sleep', '100'], start_new_session=True)",
        "open('/dev/shm/left', 'w').close()",
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(100)",
    ],
)
def test_what_a_program_leaves_is_not_there_for_the_next_one(server: Server, spoils: str) -> None:
    what_is_there = "import os; print(os.listdir('/dev/shm'), len([n for n in os.listdir('/proc') if n.isdigit()]))"
    before = printed(server, what_is_there)
    printed(server, spoils)
    assert printed(server, what_is_there) == before


@pytest.mark.parametrize(
    ("source", "ended", "code"),
    [
        ("import os; os._exit(5)", "exit", 5),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "exit", 128 + 9),
        ("import ctypes; ctypes.string_at(0)", "exit", 128 + 11),
        ("held = bytearray(b'x') * (900 << 20)\nimport time; time.sleep(30)", "memory", 128 + 9),
    ],
)
def test_the_next_program_runs_however_one_ends(source: str, ended: str, code: int) -> None:
    with idle_server(LEVEL, replace(LIMITS, memory=600 << 20)) as server:
        outcome, report = run_served(server, source)
        assert (outcome.ended, report) == (ended, None)
        assert ended != "exit" or outcome.code == code
        assert printed(server, "print('on')") == "on\n"


@pytest.mark.parametrize(
    ("source", "stays"),
    [
        ("while True: pass", True),
        ("import signal\nfor each in range(1, 65):\n    try: signal.signal(each, signal.SIG_IGN)\n"
         "    except (OSError, ValueError): pass\nwhile True: pass", True),
        ("import os\nos.fork()\nwhile True: pass", False),
        ("kept = []\nwhile True: kept.append(bytearray(b'1' * (1 << 24)))", True),
    ],
)  # fmt: skip
def test_a_program_that_is_killed_at_a_limit_takes_the_process_with_it_only_if_it_left_one(
    source: str, stays: bool
) -> None:
    who = "import os; print(open(f'/proc/{os.getppid()}/stat').read().rpartition(')')[2].split()[19])"
    with idle_server(LEVEL, Limits(wall=2.0, memory=400 * MIB)) as server:
        before = printed(server, who)
        outcome, _ = run_served(server, source)
        assert outcome.ended == ("memory" if "kept" in source else "time")
        assert (printed(server, who) == before) == stays


def test_a_program_can_neither_end_nor_change_what_runs_it(server: Server) -> None:
    source = """
import os, signal
for name in ("mem", "oom_score_adj", "clear_refs"):
    try:
        open(f"/proc/{os.getppid()}/{name}", "r+b").close()
        print(name, "is open")
    except OSError:
        pass
try:
    open(os.path.join(os.path.dirname(os.getcwd()), "beside"), "w").close()
    print("the folder above is open")
except OSError:
    pass
"""
    assert printed(server, source) == ""


def test_figures_of_memory_are_those_since_the_program_began(server: Server) -> None:
    _, large = run_served(server, "held = bytearray(b'x') * (200 << 20)")
    _, small = run_served(server, "held = 1")
    assert large is not None
    assert small is not None
    assert 200 << 20 <= large["rss_peak"] - large["rss_start"] < 210 << 20
    assert small["rss_peak"] - small["rss_start"] < 10 << 20


def test_a_process_that_cannot_be_started_leaves_it_to_a_fresh_one(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    python.chmod(0o755)
    with measure.preloaded(Settings(python=str(python), device="cpu", limits=LIMITS)) as settings:
        assert settings.server is not None
        run = measure.run_once(Program("print(1)"), settings)
    assert (run.status, run.reason) == ("crash", "ended with exit status 3")


def test_nothing_is_shared_where_nothing_keeps_programs_apart() -> None:
    with measure.preloaded(Settings(device="cpu", level=Level.SESSION)) as settings:
        assert settings.server is None


def test_a_driver_of_cards_is_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "has_cards", lambda: True)
    for device, serves in (("auto", False), ("gpu", False), ("cpu", True)):
        with measure.preloaded(Settings(device=device)) as settings:
            assert (settings.server is not None) is serves


@pytest.mark.parametrize(
    ("metric", "serves"), [(None, True), ("peak_bytes", True), ("traces", True), ("rss", False), ("seconds", False)]
)
def test_claims_on_time_and_all_memory_are_measured_in_fresh_processes(
    server: Server, metric: str | None, serves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = []

    def note(_: Program, settings: Settings, __: object) -> tuple[Run, ...]:
        used.append(settings.server)
        return ()

    monkeypatch.setattr(result, "measure", note)
    Pair(Program(""), Program("")).run(Claim(metric), Settings(server=server))
    assert used == [server if serves else None] * 2


def test_the_folders_of_a_call_are_gone_after_it(server: Server) -> None:
    printed(server, "print()")
    folder = server.folder
    assert os.path.isdir(folder)
    server.stop()
    assert not os.path.exists(os.path.dirname(folder))


@pytest.mark.tensorflow
def test_a_program_gets_the_figures_of_a_fresh_process() -> None:
    program = Program(
        """
import numpy as np
import tensorflow as tf
print(np.random.rand(), tf.random.uniform([]).numpy(), hash("word"))
data = tf.data.Dataset.range(20).map(lambda i: tf.fill([256, 256], tf.cast(i, tf.float32))).prefetch(4)
for row in data:
    tfmemlint_mark()
assert len(tf.config.list_physical_devices("GPU")) == 2
""",
        simulated_gpus=2,
    )
    settings = Settings(device="cpu", limits=Limits(wall=120.0))
    fresh = measure.run_once(program, settings)
    with measure.preloaded(settings) as served:
        runs = [measure.run_once(program, served) for _ in range(3)]
    assert [run.status for run in (fresh, *runs)] == ["ok"] * 4
    for run in runs:
        assert (run.peak_bytes, run.live_bytes, run.traces) == (fresh.peak_bytes, fresh.live_bytes, fresh.traces)
        assert [mark[1:3] for mark in run.marks] == [mark[1:3] for mark in fresh.marks]
        assert run.output.splitlines()[-1] == fresh.output.splitlines()[-1]
