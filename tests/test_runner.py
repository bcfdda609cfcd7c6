"""Runs over many files: order, processes, the cache, and that what goes wrong in one file stays there."""

from __future__ import annotations

import io
import json
import multiprocessing
import multiprocessing.process
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from packs import Install, forget, rule_module

from tfmemlint.config.discover import discover
from tfmemlint.config.settings import Configs
from tfmemlint.files.tagged_folder import FOLDER
from tfmemlint.lint.recursion import with_deep_stack
from tfmemlint.report import ReportOptions
from tfmemlint.report.json import render
from tfmemlint.run import pool, runner
from tfmemlint.run.file_task import Options, Outcome
from tfmemlint.run.runner import run

CRASH = rule_module("ABC003", "CrashingRule", "explode", body='raise RuntimeError("boom")\n        yield')
DIE = rule_module("ABC004", "DeadlyRule", "deadly", body="__import__('os')._exit(7)\n        yield")
KILLED = rule_module(
    "ABC006", "KilledRule", "fall", body="import os\n        os.kill(os.getpid(), 9)\n        yield"
)
ENDLESS = rule_module("ABC007", "EndlessRule", "loop", body="while True: pass\n        yield")
DEEP = rule_module(
    "ABC005", "DeepRule", "recurse", body="down = lambda n: n and 1 + down(n - 1)\n        yield down(10**9)"
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, install: Install) -> Path:
    monkeypatch.chdir(tmp_path)
    install(
        a=rule_module("ABC001", "LoudWord", "shout"),
        b=rule_module("ABC002", "SoftWord", "whisper", default=False),
        c=CRASH,
        d=DIE,
        e=DEEP,
        f=KILLED,
        g=ENDLESS,
    )
    return tmp_path


def write(**files: str) -> None:
    for name, text in files.items():
        Path(f"{name}.py").write_text(text)


def outcomes(*, settings: dict[str, object] | None = None, **options: object) -> list[Outcome]:
    configs = Configs(overrides=settings or {})
    found, problems = run(discover(["."], configs).targets, Options(**options))  # type: ignore[arg-type]
    assert not [problem for problem in problems if not problem.detail]
    return found


def codes(found: Sequence[Outcome]) -> dict[str, list[str]]:
    return {each.result.path: [finding.code for finding in each.result.findings] for each in found}


# -- processes --------------------------------------------------------------------------------------------------------


def test_the_order_and_content_are_the_same_in_any_number_of_processes() -> None:
    for number in range(12):
        lines = ["import tensorflow"] * (number % 5 + 1) + ["shout"] * (number % 2)
        write(**{f"f{number:02}": "\n".join(lines)})
    write(plain="x = 1\n")
    alone, several = outcomes(jobs=1), outcomes(jobs=3)
    assert codes(alone) == codes(several)
    assert [each.result.path for each in several] == [*(f"f{number:02}.py" for number in range(12)), "plain.py"]
    assert [each.result.skipped for each in several] == [False] * 12 + [True]
    assert [each.result.findings for each in several] == [each.result.findings for each in alone]
    for each in several:
        if each.result.findings:
            assert each.result.source is not None
            position = each.result.source.position(each.result.findings[0].span.start)
            assert each.result.source.line_text(position.row) == "shout"


def test_the_configuration_of_an_outcome_is_that_of_its_file() -> None:
    for name in ("one", "two"):
        Path(name).mkdir()
        Path(name, "tfmemlint.toml").write_text(f'select = ["{"ABC001" if name == "one" else "ABC002"}"]\n')
        Path(name, "a.py").write_text("import keras\nshout\nwhisper\n")
    for jobs in (1, 2):
        found = outcomes(jobs=jobs)
        assert {each.result.path: [finding.code for finding in each.result.findings] for each in found} == {
            os.path.join("one", "a.py"): ["ABC001"],
            os.path.join("two", "a.py"): ["ABC002"],
        }


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_crashing_rule_costs_its_own_findings_only(jobs: int) -> None:
    write(a="import keras\nshout\nexplode\n", b="import keras\nshout\n")
    found = outcomes(jobs=jobs)
    assert codes(found) == {"a.py": ["TFM000", "ABC001"], "b.py": ["ABC001"]}
    assert found[0].result.findings[0].message.startswith("rule ABC003 failed on this file (RuntimeError: boom)")


@pytest.mark.parametrize("jobs", [1, 2])
def test_endless_recursion_costs_one_file(jobs: int) -> None:
    write(a="import keras\nrecurse\n", b="import keras\nshout\n")
    found = outcomes(jobs=jobs)
    assert codes(found) == {"a.py": ["TFM000"], "b.py": ["ABC001"]}


def test_a_process_that_dies_costs_one_file() -> None:
    """What the other processes had not handed over by then is not lost."""
    write(a="import keras\ndeadly\n", **{f"b{number:02}": "import keras\nshout\n" for number in range(40)})
    found = outcomes(jobs=2)
    assert codes(found[:1]) == {"a.py": ["TFM000"]}
    assert "the process that read it died" in found[0].result.findings[0].message
    assert list(codes(found[1:]).values()) == [["ABC001"]] * 40


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a single file is read in this process")
def test_a_process_that_dies_costs_one_file_when_nothing_is_said_of_processes() -> None:
    write(a="import keras\nfall\n", b="import keras\nshout\n", c="import keras\ndeadly\n", d="import keras\nshout\n")
    found = outcomes()
    assert codes(found) == {"a.py": ["TFM000"], "b.py": ["ABC001"], "c.py": ["TFM000"], "d.py": ["ABC001"]}
    told = [each.result.findings[0].message for each in (found[0], found[2])]
    assert "the process that read it died (SIGKILL)" in told[0]
    assert "the process that read it died (status 7)" in told[1]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system does not limit a process's time")
@pytest.mark.parametrize("jobs", [0, 2])
def test_a_file_that_takes_for_ever_costs_itself(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "SECONDS", 0.5)
    write(a="import keras\nloop\n", b="import keras\nshout\n")
    found = outcomes(jobs=jobs)
    assert codes(found) == {"a.py": ["TFM000"], "b.py": ["ABC001"]}
    assert found[0].result.findings[0].message == (
        "the file could not be checked: it takes too much processor time; exclude it"
    )
    assert not multiprocessing.active_children()


def test_an_interrupt_leaves_no_process() -> None:
    write(**{f"a{number}": "import keras\nshout\n" for number in range(6)})

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(discover(["."], Configs()).targets, Options(2), interrupt)
    assert not multiprocessing.active_children()


def test_where_no_process_can_be_made_the_files_are_read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", refuse)
    write(a="import keras\nshout\n", b="import keras\nshout\n", c="import keras\n")
    assert codes(outcomes(jobs=2)) == {"a.py": ["ABC001"], "b.py": ["ABC001"], "c.py": []}


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_engine_that_fails_costs_one_file(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    write(a="import keras\nshout\n", b="import keras\nshout\n")
    one = runner.Linter.lint

    def failing(self: runner.Linter, data: bytes, path: str) -> object:
        if path == "a.py":
            raise MemoryError("no room")
        return one(self, data, path)

    monkeypatch.setattr(runner.Linter, "lint", failing)
    found = outcomes(jobs=jobs)
    assert codes(found) == {"a.py": ["TFM000"], "b.py": ["ABC001"]}
    assert found[0].result.findings[0].message == "the file could not be checked: MemoryError: no room"


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_is_told_file_by_file(jobs: int) -> None:
    write(a="import keras\n", b="x = 1\n", c="import keras\n", d="import keras\n")
    told: list[tuple[int, int]] = []
    run(discover(["."], Configs()).targets, Options(jobs), lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_file_that_vanishes_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    write(a="import keras\nshout\n", b="import keras\nshout\n")
    targets = discover(["."], Configs()).targets
    Path("a.py").unlink()
    found, _ = run(targets, Options())
    assert codes(found) == {"a.py": ["TFM001"], "b.py": ["ABC001"]}
    assert found[0].result.findings[0].message == "the file cannot be read: no such file or directory"


def test_rules_are_loaded_for_files_with_tensorflow_only(monkeypatch: pytest.MonkeyPatch) -> None:
    write(a="shout\n")

    def refuse() -> None:
        raise AssertionError("the rules were loaded")

    with monkeypatch.context() as patch:
        patch.setattr("tfmemlint.lint.registry.load_rules", refuse)
        (outcome,) = outcomes(cache=True)
    assert outcome.result.skipped
    assert not Path(FOLDER).exists()


def test_deep_stacks_pass_on_answers_and_errors() -> None:
    def depth(levels: int) -> int:
        return levels and 1 + depth(levels - 1)

    assert with_deep_stack(lambda: depth(20_000)) == 20_000
    with pytest.raises(ZeroDivisionError):
        with_deep_stack(lambda: 1 // 0)


# -- repairs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2])
def test_repairs_are_written_and_what_is_left_is_reported(jobs: int) -> None:
    write(a="import keras\nshout\nshout\n", b="import keras\nwhisper\n")
    found = outcomes(settings={"fix": True}, jobs=jobs)
    assert Path("a.py").read_text() == "import keras\ncalm\ncalm\n"
    assert codes(found) == {"a.py": [], "b.py": []}
    assert [len(each.applied) for each in found] == [2, 0]


def test_previews_write_nothing() -> None:
    write(a="import keras\nshout\n")
    (outcome,) = outcomes(preview=True)
    assert Path("a.py").read_text() == "import keras\nshout\n"
    assert outcome.change == (b"import keras\nshout\n", b"import keras\ncalm\n")
    assert codes([outcome]) == {"a.py": ["ABC001"]}
    assert outcome.after is not None and not outcome.after.findings


def test_a_file_that_cannot_be_written_is_a_problem_and_its_findings_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    write(a="import keras\nshout\n", b="import keras\nshout\n")
    replace = os.replace

    def refuse(source: str, target: str) -> None:
        if str(target).endswith("a.py"):
            raise PermissionError(13, "Permission denied")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    found = outcomes(settings={"fix": True}, jobs=1)
    assert codes(found) == {"a.py": ["ABC001"], "b.py": []}
    assert [each.message for each in found[0].problems] == ["a.py: not repaired: Permission denied"]
    assert Path("a.py").read_text() == "import keras\nshout\n"
    assert sorted(os.listdir(".")) == ["a.py", "b.py"]


# -- the cache --------------------------------------------------------------------------------------------------------


def linted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that are linted from now on, in this process."""
    monkeypatch.setattr(runner, "FORKS", False)
    seen: list[str] = []
    one = runner.Linter.lint

    def noting(self: runner.Linter, data: bytes, path: str) -> object:
        seen.append(path)
        return one(self, data, path)

    monkeypatch.setattr(runner.Linter, "lint", noting)
    return seen


def test_unchanged_files_are_not_linted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    write(a="import keras\nshout\n", b="import keras\n", c="x = 1\n", d="import keras\nx  # tfmemlint: ignore[ABC]\n")
    before = outcomes(cache=True)
    seen = linted(monkeypatch)
    after = outcomes(cache=True)
    assert not seen
    assert [each.result.findings for each in after] == [each.result.findings for each in before]
    assert [each.result.suppressed for each in after] == [each.result.suppressed for each in before]
    assert after[0].result.source is not None and after[0].result.source.text == "import keras\nshout\n"
    write(a="import keras\n\nshout\n")
    assert outcomes(cache=True)[0].result.findings[0].span.start == len("import keras\n\n")
    assert seen == ["a.py"]


@pytest.mark.parametrize(
    "settings", [{"output_format": "json"}, {"fix": True, "unsafe_fixes": True}, {"exclude": ("x",)}]
)
def test_settings_that_make_no_difference_to_findings_share_a_cache(
    settings: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(a="import keras\nmumble\n")
    outcomes(cache=True)
    seen = linted(monkeypatch)
    outcomes(cache=True, settings=settings)
    assert not seen


@pytest.mark.parametrize("settings", [{"extend_select": ("ABC002",)}, {"severity": {"ABC": "error"}}, {"min_bytes": 1}])
def test_other_settings_have_other_results(settings: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    write(a="import keras\nshout\n")
    outcomes(cache=True)
    seen = linted(monkeypatch)
    outcomes(cache=True, settings=settings)
    assert seen == ["a.py"]


def test_other_rules_have_other_results(monkeypatch: pytest.MonkeyPatch) -> None:
    write(a="import keras\nshout\n")
    outcomes(cache=True)
    module = Path(sys.path[0], "made_rules", "a.py")
    module.write_text(module.read_text() + "# changed\n")
    forget()
    seen = linted(monkeypatch)
    outcomes(cache=True)
    assert seen == ["a.py"]


def test_without_a_cache_nothing_is_written() -> None:
    write(a="import keras\nshout\n")
    outcomes(cache=False)
    assert os.listdir(".") == ["a.py"]


@pytest.mark.parametrize("damage", [b"", b"\x00\xff", b"{}", b"\x81\xa1a\x01"])
def test_a_damaged_cache_is_made_anew(damage: bytes) -> None:
    write(a="import keras\nshout\n")
    outcomes(cache=True)
    (path,) = Path(FOLDER).rglob("*.bin")
    good = path.read_bytes()
    path.write_bytes(damage)
    assert codes(outcomes(cache=True)) == {"a.py": ["ABC001"]}
    assert path.read_bytes() == good


def test_a_cache_that_cannot_be_written_is_no_error(here: Path) -> None:
    write(a="import keras\nshout\n")
    Path(FOLDER).write_text("a file is in its place")
    assert codes(outcomes(cache=True)) == {"a.py": ["ABC001"]}


def test_git_does_not_see_the_cache() -> None:
    write(a="import keras\nshout\n")
    outcomes(cache=True)
    assert Path(FOLDER, ".gitignore").read_text().splitlines()[-1] == "*"


def test_the_cache_forgets_files_that_are_gone_and_old_configurations() -> None:
    write(a="import keras\n", b="import keras\n")
    outcomes(cache=True)
    (path,) = Path(FOLDER).rglob("*.bin")
    full = path.stat().st_size
    Path("b.py").unlink()
    write(a="import keras  \n")
    outcomes(cache=True)
    assert path.stat().st_size < full
    month = 30 * 24 * 3600
    os.utime(path, (time.time() - month, time.time() - month))
    outcomes(cache=True, settings={"min_bytes": 1})
    assert not path.exists()


def test_files_that_failed_are_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    write(a="import keras\nexplode\n", b="import keras\ndef f(:\n")
    assert codes(outcomes(cache=True)) == {"a.py": ["TFM000"], "b.py": ["TFM002"]}
    seen = linted(monkeypatch)
    outcomes(cache=True)
    assert seen == ["a.py", "b.py"]


def test_cached_findings_are_repaired() -> None:
    write(a="import keras\nshout\n")
    outcomes(cache=True)
    found = outcomes(cache=True, settings={"fix": True})
    assert Path("a.py").read_text() == "import keras\ncalm\n"
    assert codes(found) == {"a.py": []}
    assert codes(outcomes(cache=True, settings={"fix": True})) == {"a.py": []}


def test_the_cache_lies_where_the_configuration_says(here: Path) -> None:
    Path("tfmemlint.toml").write_text('cache-dir = "var/cache"\n')
    Path("src").mkdir()
    Path("src/a.py").write_text("import keras\nshout\n")
    outcomes(cache=True)
    assert [path.parts[:2] for path in Path().rglob("*.bin")] == [("var", "cache")]


def test_results_survive_the_way_to_the_cache_and_back() -> None:
    """All that a report shows is the same, repairs and costs included."""
    write(a="import keras\nshout\n")
    texts = []
    for _ in range(2):
        stream = io.StringIO()
        render([each.result for each in outcomes(cache=True)], stream, options=ReportOptions())
        texts.append(json.loads(stream.getvalue()))
    assert texts[0] == texts[1]
    assert texts[0][0]["fix"]["edits"]


def test_configurations_that_name_unknown_rules_cost_their_files(here: Path) -> None:
    Path("bad").mkdir()
    Path("bad", "tfmemlint.toml").write_text('ignore = ["NOPE1"]\n')
    Path("bad", "x.py").write_text("import keras\nshout\n")
    write(a="import keras\nshout\n")
    found, problems = run(discover(["."], Configs()).targets, Options())
    assert codes(found) == {"a.py": ["ABC001"]}
    (problem,) = problems
    path = os.path.join("bad", "tfmemlint.toml")
    assert problem.message.startswith(f"{path}: ignore: unknown rule selector 'NOPE1'")
