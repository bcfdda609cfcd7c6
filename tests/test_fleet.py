"""Clusters: what several machines find is what one finds, whatever happens to some of them."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from command_line import Run

from tfmemlint.cli.verify import commands
from tfmemlint.cli.verify import fleet as verifying
from tfmemlint.cli.verify.arguments import parse, settings, verify_parser
from tfmemlint.cli.verify.fleet import measured_by
from tfmemlint.config.discover import discover
from tfmemlint.config.settings import Configs
from tfmemlint.run import fleet as fleets
from tfmemlint.run import remote, runner
from tfmemlint.run.file_task import Options, Outcome
from tfmemlint.run.fleet import Fleet, FleetError, Lost, Stamp, Unlike
from tfmemlint.verify.result import Result
from tfmemlint.verify.verdicts import inconclusive

needs_dask = pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="distributed is not installed")
HEAD = "import tensorflow as tf\n"
LEAK = "for _ in range(9):\n    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])\n"
MADE = HEAD + "def made(paths):\n    return tf.data.Dataset.from_tensor_slices(paths).batch(64)\n"
USES = (
    HEAD + "from made import made\nmodel = tf.keras.applications.ResNet50()\n"
    "model.fit(made(tf.io.gfile.glob('*')).prefetch(1000))\n"
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Three workers, processes of their own that are started again when they die."""
    import distributed

    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, dashboard_address=None, silence_logs=50, resources={"GPU": 1}
    ) as made:
        yield made


@pytest.fixture
def address(cluster: Any) -> str:
    return str(cluster.scheduler_address).replace("tcp://", "dask://")


@pytest.fixture
def project(here: Path) -> Path:
    for number in range(12):
        (here / f"leak_{number}.py").write_text(HEAD + LEAK * (number % 3 + 1))
    (here / "made.py").write_text(MADE)
    (here / "uses.py").write_text(USES)
    (here / "broken.py").write_text(HEAD + "broken(\n")
    (here / "plain.py").write_text("import os\n")
    (here / "tfmemlint.toml").write_text("[per-file-ignores]\n'leak_3.py' = ['TFM601']\n")
    return here


def linted(executor: str = "", tick: Any = lambda done, total: None) -> tuple[list[Outcome], list[str]]:
    targets = discover(["."], Configs()).targets
    outcomes, problems = runner.run(targets, Options(jobs=1, executor=executor), tick)
    return outcomes, [problem.message for problem in problems]


def said(outcomes: list[Outcome]) -> list[tuple[Any, ...]]:
    return [(each.result.path, each.result.findings, each.result.suppressed, each.digest) for each in outcomes]


@needs_dask
def test_the_findings_are_those_of_one_run_byte_for_byte(address: str, project: Path, run: Run) -> None:
    one = run("check", "-n", "-j", "1", "--output-format", "json", ".")
    assert one.code == 1 and str(project / "made.py") in one.out
    assert run("check", "-n", "--executor", address, "--output-format", "json", ".") == one


@needs_dask
def test_a_worker_that_is_killed_costs_nothing(address: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    monkeypatch.setattr(remote, "_FILES", 1)
    with distributed.Client(address.replace("dask://", "tcp://")) as client:
        processes = list(client.run(os.getpid).values())
        killed: list[int] = []

        def kill(done: int, total: int) -> None:
            if not killed:
                killed.append(processes[0])
                os.kill(processes[0], signal.SIGKILL)

        outcomes, problems = linted(address, kill)
    assert (said(outcomes), problems) == (said(linted()[0]), [])
    assert killed


@needs_dask
def test_a_cluster_that_loses_all_workers_gives_the_rest_back(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was done counts, and what was not is done here."""
    import distributed

    monkeypatch.setattr(fleets, "PATIENCE", 0.5)
    monkeypatch.setattr(fleets, "_POLL", 0.1)
    monkeypatch.setattr(remote, "_FILES", 1)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        gone: list[int] = []

        def leave(done: int, total: int) -> None:
            if not gone:
                gone.append(done)
                cluster.scale(0)

        outcomes, problems = linted(cluster.scheduler_address.replace("tcp://", "dask://"), leave)
    assert said(outcomes) == said(linted()[0])
    assert problems and all("no worker could do it and it was done here: the cluster has no" in p for p in problems)


class Elsewhere:
    """Stands for a cluster whose machines have another file at one path."""

    differs: dict[str, str] = {}

    def __init__(self, name: str, jobs: int) -> None:
        pass

    def __enter__(self) -> Elsewhere:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def each(self, do: Any, jobs: Any) -> Iterator[tuple[int, Any]]:
        before = {name: Path(name).read_text() if Path(name).exists() else None for name in self.differs}
        for number, job in enumerate(jobs):
            for name, text in self.differs.items():
                Path(name).write_text(text)
            answer = do(*job)
            for name, old in before.items():
                Path(name).unlink() if old is None else Path(name).write_text(old)
            yield number, answer


OTHERS = {"made.py": MADE.replace("64", "32"), "leak_0.py": HEAD, "new.py": HEAD + "import made\nmade.made(3)\n"}


@pytest.mark.parametrize("name", ["", *OTHERS])
def test_workers_with_other_files_are_not_believed(name: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that a file imports differs, the file itself, or there is one more that imports another."""
    monkeypatch.setattr(remote, "Fleet", Elsewhere)
    monkeypatch.setattr(Elsewhere, "differs", {name: OTHERS[name]} if name else {})
    outcomes, problems = linted("local")
    assert said(outcomes) == said(linted()[0])
    told = [each for each in problems if "not the same on the workers and were linted here" in each]
    assert (len(told), len(problems)) == ((1, 1) if name else (0, 0))


@needs_dask
def test_a_local_cluster_needs_nothing_to_try_it(project: Path, run: Run) -> None:
    one = run("check", "-n", "-j", "1", "--output-format", "json", "uses.py", "leak_2.py")
    local = run("check", "-n", "-j", "1", "--executor", "local", "--output-format", "json", "uses.py", "leak_2.py")
    assert local == one


def test_another_version_on_a_worker_is_refused() -> None:
    here = fleets.stamp()
    here.require()
    with pytest.raises(Unlike, match=r"tfmemlint \S+ there, 99\.0 here"):
        Stamp("99.0", here.code).require()
    with pytest.raises(Unlike, match="other rule packs, another build of tfmemlint or another version of Python"):
        replace_code(here).require()


def replace_code(mark: Stamp) -> Stamp:
    return mark._replace(code="f" * 32)


@needs_dask
def test_a_cluster_of_another_version_is_an_error_of_one_line(
    address: str, project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = fleets.stamp()
    monkeypatch.setattr(fleets, "stamp", lambda: replace_code(mark))
    done = run("check", "-n", "--executor", address, ".")
    assert done.code == 2
    assert done.err.count("\n") == 1 and "other rule packs, another build of tfmemlint" in done.err
    assert "install the same there" in done.err


@needs_dask
def test_where_no_scheduler_is(here: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleets, "_CONNECT", 1)
    (here / "a.py").write_text(HEAD + LEAK)
    done = run("check", "-n", "--executor", "dask://127.0.0.1:9", "a.py")
    assert (done.code, "--executor dask://127.0.0.1:9: no scheduler answers there" in done.err) == (2, True)


def test_without_the_extra_one_is_told_what_to_install(here: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    (here / "a.py").write_text(HEAD + LEAK)
    done = run("check", "-n", "--executor", "local", "a.py")
    assert (done.code, "pip install 'tfmemlint[cluster]'" in done.err) == (2, True)


@pytest.mark.parametrize("words", [("--executor", "ray://x"), ("--executor", "dask://"), ("--executor=local", "--fix")])
def test_what_is_refused(words: tuple[str, ...], here: Path, run: Run) -> None:
    done = run("check", *words, ".")
    assert (done.code, done.out) == (2, "")
    assert "is no executor; write dask://HOST:PORT, or local" in done.err or "--fix cannot be used together" in done.err


def test_without_it_nothing_of_dask_is_imported(here: Path) -> None:
    (here / "a.py").write_text(HEAD + LEAK)
    code = (
        "import sys\nfrom tfmemlint.cli import main\nmain(['check', '-n', '-q', '-j', '1', 'a.py'])\n"
        "print({'distributed', 'dask', 'tfmemlint.run.fleet'} & set(sys.modules), file=sys.stderr)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr == "set()\n"


# -- verify -----------------------------------------------------------------------------------------------------------


class Cards(Elsewhere):
    """Workers with cards, of which one does not end the first job: what goes to them and comes back is copied."""

    asked: list[Any] = []

    def __init__(self, name: str) -> None:
        pass

    def has(self, resource: str) -> bool:
        return resource == "GPU"

    def each(self, do: Any, jobs: Any, resources: Any = None) -> Iterator[tuple[int, Any]]:
        self.asked.append(resources)
        for number, job in reversed(list(enumerate(jobs))):
            yield number, copied(do(*copied(job))) if number else Lost("died")


def copied(value: Any) -> Any:
    """As dask hands it on: plans hold functions within functions."""
    from distributed.protocol.pickle import dumps, loads

    return loads(dumps(value))


@needs_dask
@pytest.mark.parametrize(("device", "resources"), [("auto", {"GPU": 1}), ("gpu", {"GPU": 1}), ("cpu", None)])
def test_tasks_of_verify_go_to_workers_with_cards_and_come_back_in_order(
    device: str, resources: Any, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    where = []

    def measured(tasks: Any, chosen: Any, watcher: Any) -> list[Result]:
        where.append(len(tasks))
        return [Result(each.finding.code, "", each.place, "", inconclusive("no TensorFlow here")) for each in tasks]

    monkeypatch.setattr(verifying, "measured", measured)
    monkeypatch.setattr(verifying, "Fleet", Cards)
    monkeypatch.setattr(Cards, "asked", [])
    tasks, _ = commands._tasks(parse(verify_parser(), ["uses.py", "leak_1.py", "leak_2.py"]))
    planned = [task for task in tasks if task.plans]
    assert len(planned) > 2
    chosen = settings(parse(verify_parser(), ["--device", device]))
    watched: list[str] = []
    watcher = type("Watcher", (), {"ran": lambda self: None, "judged": lambda self, label, kind: watched.append(label)})
    results = measured_by("local", tasks, chosen, watcher())
    assert [result.place for result in results] == [task.place for task in tasks]
    assert Cards.asked == [resources]
    assert watched == [task.label for task in reversed(planned[1:])]
    assert where == [1] * (len(planned) - 1) + [1 + len(tasks) - len(planned)]  # the lost one, and those without plans
    assert f"{planned[0].label}: no worker could measure it, and it is measured here: died" in capsys.readouterr().err


def test_cards_that_no_worker_has(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "Fleet", type("None_", (Elsewhere,), {"has": lambda self, resource: False}))
    monkeypatch.setattr(Elsewhere, "__init__", lambda self, name: None)
    chosen = settings(parse(verify_parser(), ["--device", "gpu"]))
    with pytest.raises(FleetError, match="no worker has the resource GPU"):
        measured_by("local", [], chosen, None)  # type: ignore[arg-type]


def dies(folder: str, times: int, number: int) -> int:
    """Kills its process so many times, with what a run left of it counted in a folder."""
    if number == 0 and len(os.listdir(folder)) < times:
        Path(folder, str(len(os.listdir(folder)))).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 1:
        raise ValueError("its own fault")
    return 10 * number


@needs_dask
def test_what_kills_one_worker_is_done_by_another_and_what_kills_all_is_given_back(
    address: str, tmp_path: Path
) -> None:
    """The last one of this cluster: it has few workers left."""
    for times, expected in ((1, 0), (99, Lost)):
        folder = tmp_path / str(times)
        folder.mkdir()
        with Fleet(address) as fleet:
            fleet.client.upload_file(__file__)
            answers = dict(fleet.each(dies, [(str(folder), times, number) for number in range(4)]))
        assert isinstance(answers[1], ValueError)
        assert (answers[2], answers[3]) == (20, 30)
        assert answers[0] == expected if times == 1 else isinstance(answers[0], Lost)


class Forgetful:
    """An executor that mislays the first answer of each job, or all: dask raises TypeError where a result's worker dies
    while it is handed over."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.asked: dict[Any, int] = {}

    def get_executor(self, **_: Any) -> Any:
        return self

    def submit(self, do: Any, mark: Any, job: Any, words: Any) -> Any:
        future: Future[Any] = Future()
        self.asked[words] = self.asked.get(words, 0) + 1
        if self.asked[words] <= self.times:
            future.set_exception(TypeError("cannot unpack non-iterable int object"))
        else:
            future.set_result(do(mark, job, words))
        return future


@pytest.mark.parametrize(("times", "given"), [(1, [1, 2]), (2, [Lost, Lost])])
def test_what_dask_mislays_is_asked_for_once_more(times: int, given: list[Any]) -> None:
    fleet = Fleet("local")
    fleet.client = Forgetful(times)
    answers = dict(fleet.each(int, [("1",), ("2",)]))
    assert [type(answers[n]).__mro__[1] if given[n] is Lost else answers[n] for n in range(2)] == given
