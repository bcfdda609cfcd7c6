"""Runs over a project: the same findings however its files are gone through, and none that are out of date."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Run

from tfmemlint.config.discover import Target
from tfmemlint.config.settings import Config
from tfmemlint.lint.engine import FileResult
from tfmemlint.model.file import File
from tfmemlint.project import kept
from tfmemlint.project.siblings import Sibling
from tfmemlint.run import file_task, runner
from tfmemlint.run.file_task import Options

DATA = """import tensorflow as tf
from settings import BATCH


def read(path):
    return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path), channels=3), (224, 224))


def load(paths, keep):
    return tf.data.Dataset.from_tensor_slices(paths).map(read).batch(BATCH).prefetch(keep)
"""
PROJECT = {
    "settings.py": "BATCH = 64\n",
    "data.py": DATA,
    "train.py": "import tensorflow as tf\nfrom data import load\n\nds = load(['a'] * 9000, 500).cache()\n",
    "gpu.py": "import tensorflow as tf\n\nONE = tf.constant(1.0)\n",
    "main.py": "import tensorflow as tf\nimport gpu\n\n"
    "for card in tf.config.list_physical_devices('GPU'):\n"
    "    tf.config.experimental.set_memory_growth(card, True)\n",
    "alone.py": "import tensorflow as tf\n\nds = tf.data.Dataset.range(9).cache().shuffle(9)\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    for name, text in PROJECT.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def found(root: Path, *names: str, jobs: int = 1, cache: bool = False) -> dict[str, list[str]]:
    """The findings of some files of a project, by file."""
    config = Config(root=str(root), select=("ALL",), least_cost=0)  # type: ignore[arg-type]
    targets = [Target(str(root / name), config) for name in names]
    outcomes, problems = runner.run(targets, Options(jobs=jobs, cache=cache))
    assert not problems
    return {Path(each.result.path).name: described(each.result) for each in outcomes}


def described(result: FileResult) -> list[str]:
    return [f"{each.span} {each.code} {each.message} {each.related}" for each in result.findings]


def test_order_jobs_and_what_else_is_checked_change_nothing(root: Path) -> None:
    together = found(root, *PROJECT)
    assert "500 batches" in "".join(together["data.py"])
    assert "TFM101" in "".join(together["main.py"])
    for names in itertools.islice(itertools.permutations(PROJECT), 0, 720, 97):
        assert found(root, *names) == together
    assert found(root, *PROJECT, jobs=2) == together
    assert {name: found(root, name)[name] for name in PROJECT} == together


def test_every_way_in_gives_the_same(root: Path, run: Run) -> None:
    plain = ("--isolated", "--no-cache", "--least-cost=0", "--output-format=concise")
    options = (*plain, "--select=ALL")
    whole = run("check", *options, str(root)).out.splitlines()
    data, main = str(root / "data.py"), str(root / "main.py")
    assert any("TFM304" in line for line in whole)
    for path in (data, main):
        own = [line for line in whole if Path(path).name in line]
        text = Path(path).read_text()
        piped = run("check", *options, f"--stdin-filename={path}", "-", stdin=text)
        assert [line.partition(":")[2] for line in piped.out.splitlines()] == [line.partition(":")[2] for line in own]
        for code in {line.split()[1] for line in own}:
            alone = run("check", *plain, f"--select={code}", path).out.splitlines()
            assert alone == [line for line in own if code in line]
    kept = str(root / "baseline.json")
    assert run("check", *options, f"--write-baseline={kept}", str(root)).code == 0
    assert run("check", *options, "--baseline", kept, str(root)).out == ""


@pytest.fixture
def linted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the files that are linted from now on."""
    names: list[str] = []
    plain = file_task.Linter.lint

    def lint(self: file_task.Linter, data: bytes, path: str) -> FileResult:
        names.append(Path(path).name)
        return plain(self, data, path)

    monkeypatch.setattr(file_task.Linter, "lint", lint)
    yield names


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ({}, []),
        ({"alone.py": "import tensorflow as tf\n"}, ["alone.py"]),
        ({"settings.py": "BATCH = 8\n"}, ["data.py", "train.py"]),
        ({"gpu.py": "import tensorflow as tf\n\nONE = 1\n"}, ["gpu.py", "main.py"]),
        ({"gpu.py": None}, ["main.py"]),
        ({"train.py": PROJECT["train.py"].replace("500", "5")}, ["data.py", "train.py"]),
        ({"other.py": "import tensorflow as tf\nfrom data import load\nload([], 900)\n"}, ["data.py"]),
    ],
)
def test_a_change_is_seen_by_those_that_it_is_about(
    root: Path, linted: list[str], change: dict[str, str | None], again: list[str]
) -> None:
    found(root, *PROJECT, cache=True)
    linted.clear()
    for name, text in change.items():
        (root / name).unlink() if text is None else (root / name).write_text(text)
    names = [name for name in PROJECT if (root / name).exists()]
    now = found(root, *names, cache=True)
    assert sorted(linted) == again
    assert now == found(root, *names)


GENERATIONS = {
    "network.py": "from keras.layers.advanced_activations import LeakyReLU\n",
    "trainer.py": "import judge\nimport tensorflow as tf\n\nloss = tf.placeholder(tf.float32)\n",
    "judge.py": "import network\nfrom keras.models import load_model\n\nmodel = load_model('a.h5')\n"
    "for part in open('parts'):\n    print(model.predict(load(part)[None]))\n",
    "other.py": "import keras\n",
}
LATER = "from keras.layers import LeakyReLU\n"


@pytest.mark.parametrize(
    ("changes", "again", "speaks"),
    [
        ({"other.py": "import keras\nimport network\n"}, ["other.py"], False),
        ({"network.py": LATER}, ["judge.py", "network.py", "trainer.py"], False),
        ({"trainer.py": "import judge\nimport keras\n"}, ["judge.py", "trainer.py"], False),
        ({"network.py": LATER, "trainer.py": "import keras\n"}, ["judge.py", "network.py", "trainer.py"], True),
        ({"network.py": LATER, "trainer.py": None}, ["judge.py", "network.py"], True),
    ],
)
def test_what_other_modules_are_written_for_is_asked_again(
    tmp_path: Path, linted: list[str], changes: dict[str, str | None], again: list[str], speaks: bool
) -> None:
    (tmp_path / "pyproject.toml").touch()
    for name, text in GENERATIONS.items():
        (tmp_path / name).write_text(text)
    assert not any(found(tmp_path, *GENERATIONS, cache=True).values())
    linted.clear()
    for name, new in changes.items():
        (tmp_path / name).unlink() if new is None else (tmp_path / name).write_text(new)
    names = [name for name in GENERATIONS if (tmp_path / name).exists()]
    now = found(tmp_path, *names, cache=True)
    assert sorted(linted) == again
    assert ("TFM602" in "".join(now["judge.py"])) is speaks


def test_what_a_project_requires_is_asked_again(tmp_path: Path, linted: list[str]) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "judge.py").write_text(GENERATIONS["judge.py"].replace("import network\n", ""))
    assert "TFM602" in "".join(found(tmp_path, "judge.py", cache=True)["judge.py"])
    for required, speaks in (("keras==2.2.4\n", False), ("keras==3.0\n", True), (None, True)):
        pins = tmp_path / "requirements.txt"
        pins.unlink() if required is None else pins.write_text(required)
        linted.clear()
        now = found(tmp_path, "judge.py", cache=True)
        assert linted == ["judge.py"]
        assert ("TFM602" in "".join(now["judge.py"])) is speaks
        assert now == found(tmp_path, "judge.py")


TAKERS = {
    "pictures.py": "import numpy as np\n\n\ndef read(folder):\n    made = np.zeros((20000, 64, 64, 3))\n"
    "    made[0] = np.load(folder)\n    return made\n",
    "judge.py": "from pictures import read\nfrom tensorflow import keras\n\n"
    "model = keras.models.load_model('a.keras')\nprint(model.predict(read('test')))\n",
    "other.py": "from pictures import read\n\nprint(read('all'))\n",
}
TRAINS = TAKERS["judge.py"].replace("print(model.predict(read('test')))", "model.fit(read('train'))")


def test_what_several_modules_take_is_found_in_one_of_them(tmp_path: Path, linted: list[str]) -> None:
    (tmp_path / "pyproject.toml").touch()
    for name, text in TAKERS.items():
        (tmp_path / name).write_text(text)
    assert "TFM202" in "".join(found(tmp_path, *TAKERS, cache=True)["judge.py"])
    (tmp_path / "train.py").write_text(TRAINS)
    linted.clear()
    names = [*TAKERS, "train.py"]
    now = found(tmp_path, *names, cache=True)
    assert "judge.py" in linted
    assert "TFM202" not in "".join(now["judge.py"])
    assert "TFM202" in "".join(now["train.py"])
    for order in itertools.permutations(names):
        assert found(tmp_path, *order) == now
    assert {name: found(tmp_path, name)[name] for name in names} == now


def test_what_was_found_out_of_a_file_waits_for_no_collector(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither models nor the modules that are kept no more: a run over many files would hold all of them."""
    monkeypatch.setattr(kept, "KEPT", 1)
    found(root, *PROJECT)
    gc.collect()
    before = alive(File), alive(Sibling)
    gc.disable()
    try:
        found(root, *PROJECT)
        assert (alive(File), alive(Sibling)) == before
    finally:
        gc.enable()


def alive(kind: type[object]) -> int:
    return sum(type(each) is kind for each in gc.get_objects())
