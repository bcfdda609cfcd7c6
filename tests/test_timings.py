"""`check --timings`: the table says where the time went and changes nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tfmemlint.run import timings
from tfmemlint.run.timings import Clock, RuleTime, Spent

PROGRAM = """import tensorflow as tf
for step in range(10):
    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name in ("a.py", "b.py"):
        (folder / name).write_text(PROGRAM)
    (folder / "plain.py").write_text("import os\n")
    return folder


def check(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A process of its own: the clock stays around functions until it ends."""
    command = [sys.executable, "-m", "tfmemlint", "check", "--isolated", "-n", "--output-format", "json", *words, "."]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def table(text: str) -> dict[str, float]:
    """Seconds by stage."""
    lines = text.partition("stage ")[2].partition("\n\n")[0].splitlines()[1:]
    return {line[:16].strip(): float(line[16:25]) for line in lines}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_stages_and_rules_are_told_and_the_report_stays_the_same(jobs: str, project: Path) -> None:
    plain, timed = check(project, "-j", jobs), check(project, "-j", jobs, "--timings")
    assert (timed.stdout, timed.returncode) == (plain.stdout, plain.returncode)
    assert plain.stderr == ""
    stages = table(timed.stderr)
    assert {"start", "discovery", "loading rules", "parsing", "indexing", "model", "rules", "other"} <= set(stages)
    assert stages["loading rules"] > 0 and stages["model"] > 0
    total = float(timed.stderr.split()[1])
    assert sum(stages.values()) == pytest.approx(total, abs=0.02)  # each is rounded
    assert "3 files, 2 linted" in timed.stderr
    rule = next(line for line in timed.stderr.splitlines() if line.startswith("TFM601 model-built-in-loop"))
    assert rule.split()[-1] == "2"  # files that woke it
    assert timed.stderr.count("a.py") == timed.stderr.count("b.py") == 1
    assert "plain.py" not in timed.stderr


def test_results_from_the_cache_are_counted(project: Path, tmp_path: Path) -> None:
    words = ("--cache-dir", str(tmp_path / "cache"), "--timings")
    for kept in ("3 files, 2 linted\n", "3 files, 0 linted, 2 from the cache\n"):
        done = subprocess.run(
            [sys.executable, "-m", "tfmemlint", "check", "--isolated", *words, "."], cwd=project, capture_output=True,
            text=True,
        )  # fmt: skip
        assert kept in done.stderr
    assert "cache" in table(done.stderr)
    assert "loading rules" not in table(done.stderr)


def test_without_it_nothing_is_measured(project: Path) -> None:
    code = (
        "import sys\nfrom tfmemlint.cli import main\nmain(['check', '--isolated', '-n', '-j', '1', '-q', 'a.py'])\n"
        "from tfmemlint.model.evaluate import Evaluator\n"
        "print(hasattr(Evaluator.value, 'tfmemlint_stage'), 'tfmemlint.run.timings' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True)
    assert done.stderr == "False False\n"


class Time:
    """A processor's time that passes when told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(timings.time, "thread_time", lambda: self.now)

    def passes(self, seconds: float) -> None:
        self.now += seconds


def test_a_stage_within_another_stops_its_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    time, clock = Time(monkeypatch), Clock()
    with clock.within("model"):
        time.passes(1)
        with clock.within("parsing"):
            time.passes(10)
        time.passes(2)
    time.passes(100)
    assert clock.take().stages == {"model": 3, "parsing": 10}
    assert clock.take().stages == {}


def test_what_a_rule_asks_of_the_model_is_told_apart_from_its_own_code(monkeypatch: pytest.MonkeyPatch) -> None:
    time, clock = Time(monkeypatch), Clock()

    def findings():  # type: ignore[no-untyped-def]
        for _ in range(2):
            time.passes(1)
            with clock.within("model"):
                time.passes(20)
                with clock.within("parsing"):
                    time.passes(300)
            yield "found"

    rule = RuleTime()
    for _ in timings._timed_findings(findings(), rule, clock):
        time.passes(4000)  # the engine's, not the rule's
    assert (rule.own, rule.asked) == (2, 640)


def test_what_processes_spent_is_added_up() -> None:
    key = ("TFM1", "one")
    whole = Spent({"model": 1.0}, {key: RuleTime(1, 2, 3)})
    whole.add(Spent({"model": 2.0, "rules": 5.0}, {key: RuleTime(10, 20, 30), ("TFM2", "two"): RuleTime(1, 1, 1)}))
    assert whole.stages == {"model": 3.0, "rules": 5.0}
    assert whole.rules[key] == RuleTime(11, 22, 33)
    assert whole.seconds == 8.0


@pytest.mark.parametrize("mode", ["--add-ignore", "--write-baseline"])
def test_it_belongs_to_a_report(mode: str, project: Path) -> None:
    done = check(project, mode, "--timings")
    assert (done.returncode, done.stderr) == (
        2, f"tfmemlint: error: --timings is about a report; it cannot be used with {mode}\n",
    )  # fmt: skip
