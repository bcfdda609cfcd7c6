"""What is believed of a result that the program could have written, and what of a project is run uncontained."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.report.style import Style
from tfmemlint.verify.claim import Claim
from tfmemlint.verify.judge import judge
from tfmemlint.verify.monitor import write_text as write_monitored
from tfmemlint.verify.pages.html import page
from tfmemlint.verify.pages.report import write_text
from tfmemlint.verify.pages.run_page import page as run_page
from tfmemlint.verify.result import Environment, Pair, Result
from tfmemlint.verify.run import interpreters, measure, runs, sandbox
from tfmemlint.verify.run.measure import Program, Settings
from tfmemlint.verify.run.runs import MOST, Bounds, read_result
from tfmemlint.verify.run.watch import Limits

OK: dict[str, Any] = {"status": "ok", "seconds": 0.5, "peak_bytes": 100, "live_bytes": 10}
BOUNDS = Bounds(seconds=2.0, tensors=1000, resident=1000)


def said(text: str | bytes, tmp_path: Path, key: str = "") -> runs.Run:
    path = tmp_path / "result.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_result(path, BOUNDS, key)


def test_what_the_monitor_writes_is_read(tmp_path: Path) -> None:
    marks = [[0.1, 20, 30, 40, 1, 0], [0.2, 20, 30, None, 1, 0]]
    run = said(json.dumps({**OK, "marks": marks, "gpu_options": {"allow_growth": True}}), tmp_path)
    assert (run.status, run.peak_bytes, run.marks[1][3]) == ("ok", 100, None)
    with tempfile.TemporaryFile() as file:
        file.write(json.dumps(OK).encode())
        file.flush()
        assert read_result(file.fileno()).peak_bytes == 100


@pytest.mark.parametrize(
    "text",
    [
        *("", "[1]", "null", "5", '"ok"', "{", "{}", "\x00", "[" * 200_000, '{"a":' * 200_000, "\ud800"),
        *('{"status": 5}', '{"status": "great"}', '{"status": "error"}', '{"status": "ok", "error": {"type": "E"}}'),
    ],
    ids=lambda text: repr(text[:12]),
)
def test_other_content_is_a_crash_with_a_reason(tmp_path: Path, text: str) -> None:
    run = said(text.encode("utf-8", "surrogatepass"), tmp_path)
    assert run.status == "crash" and run.reason.startswith("left no result") and len(run.reason) < 300


@pytest.mark.parametrize(
    "fields",
    [
        '"seconds": NaN',
        '"seconds": Infinity',
        '"seconds": 1e999',
        '"seconds": -1',
        '"seconds": 90',
        '"value": NaN',
        '"value": 1e400',
        '"peak_bytes": -1',
        '"peak_bytes": 99999999999',
        '"peak_bytes": 1e30',
        f'"peak_bytes": {"9" * 5000}',
        '"peak_bytes": "many"',
        '"rss_peak": 99999999999',
        '"marks": [[0, 0, 99999999999, 0, 0, 0]]',
        '"marks": [[0, 0, 0, 99999999999, 0, 0]]',
        '"marks": [[90, 0, 0, 0, 0, 0]]',
        '"marks": [[0, 0]]',
        f'"marks": [{",".join(["[0, 0, 0, 0, 0, 0]"] * 20_000)}]',
        '"timeline": [[0, 99999999999, 0, 0]]',
        '"lines": [{"file": "a", "line": 1, "function": "", "samples": 1, "live": 0, "rss": 0, "rise": 99999999999}]',
        '"traces": -5',
        f'"versions": {{"tensorflow": "{"2" * 5000}"}}',
        f'"notes": ["{"n" * 9000}"]',
        '"device": "<script>"',
        '"gpu_options": {"allow_growth": {"a": []}}',
    ],
    ids=lambda text: text[:40],
)
def test_figures_that_cannot_be_are_not_believed(tmp_path: Path, fields: str) -> None:
    assert said(json.dumps(OK)[:-1] + f", {fields}}}", tmp_path).status == "crash"


def test_what_is_no_file_is_neither_waited_for_nor_read(tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    found = {"missing": tmp_path / "missing", "pipe": pipe, "folder": folder, "device": Path("/dev/zero")}
    for name, target in (("link", "/dev/zero"), ("loop", "loop"), ("good", "file")):
        (tmp_path / name).symlink_to(target)
        found[name] = tmp_path / name
    (tmp_path / "file").write_text(json.dumps(OK), encoding="utf-8")
    assert {name: read_result(path).status for name, path in found.items()} == dict.fromkeys(found, "crash")
    ends = os.pipe()
    assert read_result(ends[0]).status == "crash"
    for end in ends:
        os.close(end)
    assert read_result(ends[0]).status == "crash"


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    with open(tmp_path / "large", "wb") as file:
        file.truncate(1 << 40)
    assert read_result(tmp_path / "large").reason.endswith(f"{1 << 40} bytes")
    assert said(b" " * MOST + b"{}", tmp_path).status == "crash"


def test_a_report_holds_its_key(tmp_path: Path) -> None:
    assert said(json.dumps(OK), tmp_path, key="secret").status == "crash"
    assert said(json.dumps({**OK, "key": "secret"}), tmp_path, key="secret").status == "ok"


HOSTILE = "<script>\x1b[31m\u202e"


def test_what_a_program_says_is_escaped_wherever_it_is_shown(tmp_path: Path) -> None:
    assert said(json.dumps({**OK, "versions": {"tensorflow": HOSTILE}}), tmp_path).status == "crash"
    failure = {"type": HOSTILE, "message": HOSTILE, "traceback": HOSTILE}
    fields = {"status": "error", "error": failure, "notes": [HOSTILE], "allocator_problem": HOSTILE}
    run = said(json.dumps({**OK, **fields}), tmp_path)
    assert run.status == "error"
    program = Program("x = 1\n")
    verdict = judge(Claim(), [run], [run])
    result = Result("TFM101", "name", "a.py:1", "message", verdict, Pair(program, program), (run,), (run,))
    text = io.StringIO()
    write_text([result], Environment(), text, Style(False))
    shown = text.getvalue() + page([result], Environment()) + run_page("a.py", run, [])
    write_monitored("a.py", run, [], text, Style(False))
    assert "script" in shown and "script" in text.getvalue()
    for part in (shown, text.getvalue()):
        assert "\x1b" not in part and "\u202e" not in part
    assert "<script" not in page([result], Environment()) + run_page("a.py", run, [])


@pytest.fixture
def python(tmp_path: Path) -> Iterator[str]:
    """An interpreter with a TensorFlow that is there and does nothing, so that programs start at once."""
    site = tmp_path / "site"
    (site / "tensorflow").mkdir(parents=True)
    (site / "tensorflow" / "__init__.py").write_text(
        "class random:\n    set_seed = staticmethod(lambda seed: None)\n", encoding="utf-8"
    )
    made = tmp_path / "python"
    script = f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n'
    made.write_text(script, encoding="utf-8")
    made.chmod(0o755)
    yield str(made)


def run(source: str, python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **fields: Any) -> runs.Run:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    settings = Settings(python, "cpu", limits=Limits(wall=20.0), timed=True)
    return measure.run_once(Program(textwrap.dedent(source), **fields), settings)


FORGED = """
    import json, os
    forged = json.dumps({"status": "ok", "seconds": 0.1, "peak_bytes": 1})
    for name in ("result.json", "request.json"):
        open(name, "w").write(forged)
    os._exit(0)
"""
ENDS = {
    "forges": (FORGED, "left no result"),
    "pipe": ("import os; os.mkfifo('result.json'); os._exit(0)", "left no result"),
    "zero": ("import os; os.symlink('/dev/zero', 'result.json'); os._exit(0)", "left no result"),
    "fails": ("import os; os._exit(3)", "ended with exit status 3"),
    "floods": (
        "import os\nfor end in range(3, 64):\n    try: [os.write(end, b'[' * 1000000) for _ in range(9)]\n"
        "    except OSError: pass\nos._exit(0)",
        "left no result",
    ),
    "closes": ("import os; os.closerange(3, 256)", ""),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_program_that_owns_its_folder_cannot_make_its_result(
    name: str, python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, reason = ENDS[name]
    result = run(source, python, tmp_path, monkeypatch)
    assert result.status == "crash" and reason in result.reason


def test_the_request_is_gone_before_the_program_starts(
    python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "import os; assert os.listdir() == ['program.py'], os.listdir(); tfmemlint_value(4)"
    assert run(source, python, tmp_path, monkeypatch).value == 4


SHADOWS = (
    *("types", "warnings", "contextlib", "functools", "sitecustomize", "usercustomize", "json", "numpy", "tensorflow"),
    *("importlib", "os", "site", "encodings", "random", "ctypes", "resource", "signal", "struct", "platform"),
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose modules have the names of others, and write down that they were run uncontained."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in SHADOWS:
        text = f"open({str(tmp_path / 'ran')!r}, 'a').write({name + ' '!r})\n"
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    for name in ("bwrap", "unshare", "sh", "python"):
        (folder / name).write_text(f"#!/bin/sh\necho {name} >> {tmp_path / 'ran'}\nexit 1\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.skipif(not sandbox.strongest_level().isolated, reason="no isolated level works here")
@pytest.mark.parametrize("listed", ["", ".", "PROJECT"])
def test_nothing_of_the_project_runs_outside_of_the_containment(
    project: Path, python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: str
) -> None:
    entry = str(project) if listed == "PROJECT" else listed
    path = os.pathsep.join(["", entry, os.environ["PATH"]])
    for name in ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH"):
        monkeypatch.setenv(name, path if name == "PATH" else f"{tmp_path / 'site'}:{entry}:")
    monkeypatch.setenv("PYTHONSTARTUP", str(project / "types.py"))
    monkeypatch.setenv("PYTHONHOME", "")
    sandbox.strongest_level.cache_clear()
    try:
        interpreters.check_interpreter(python)
        settings = Settings(python, "cpu", limits=Limits(wall=20.0), timed=True)
        source = "import sys; tfmemlint_value(1 + ('types' in sys.modules))"
        program = Program(source, path=(str(project),), folder=str(project))
        result = measure.run_once(program, settings)
        assert (result.status, result.value) == ("ok", 2.0), result.output
    finally:
        sandbox.strongest_level.cache_clear()
    assert not (tmp_path / "ran").exists()


def test_the_program_itself_sees_the_project_first(
    project: Path, python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "helper.py").write_text("answer = 42\n", encoding="utf-8")
    source = "import helper, sys; assert sys.path[0].endswith('project'); tfmemlint_value(helper.answer)"
    result = run(source, python, tmp_path, monkeypatch, path=(str(project),))
    assert result.value == 42, result.output


CALLER = """
import sys
from tfmemlint.cli import main
from tfmemlint.verify.run import measure
def verify(options):
    tick = lambda: print("running", flush=True)
    with measure.workspace() as work:
        open(work + "/program.py", "w").write(PROGRAM)
        measure.sandbox.run([sys.executable, "-S", work + "/program.py", work], work=work, tick=tick)
    return 0
PROGRAM = "import os, time\\nos.makedirs('/'.join('d' * 30))\\nos.fork()\\ntime.sleep(600)\\n"
from tfmemlint.cli.verify import commands
commands.verify_findings = verify
sys.exit(main(["verify", "x.py"]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL])
def test_nothing_is_left_behind_at_any_signal(number: signal.Signals, tmp_path: Path) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("whoever runs the tests has them ignore it, as nohup does")
    (tmp_path / "tmp").mkdir()
    variables = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    command = [sys.executable, "-c", CALLER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=variables) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == b"running\n"
        caller.send_signal(number)
        caller.send_signal(number)
        code = caller.wait(30)
    left = os.listdir(tmp_path / "tmp")
    if number in (signal.SIGQUIT, signal.SIGKILL):
        assert code == -number and len(left) == 1
        sweeper = [sys.executable, "-c", "from tfmemlint.cli import main; main(['verify', 'not-there.py'])"]
        subprocess.run(sweeper, env=variables, capture_output=True, check=True)
        left = os.listdir(tmp_path / "tmp")
    else:
        assert code == 128 + number
    assert left == []


def test_run_passes_signals_on_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    script = tmp_path / "train.py"
    script.write_text("import time; print('running', flush=True); time.sleep(600)", encoding="utf-8")
    variables = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    command = [sys.executable, "-m", "tfmemlint", "run", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=variables) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == b"running\n"
        caller.send_signal(signal.SIGTERM)
        assert caller.wait(30) == 128 + signal.SIGTERM
        assert caller.stdout.read() == b""  # the program, which held it open too, is gone
    assert os.listdir(tmp_path / "tmp") == []
