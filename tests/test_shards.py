"""`check --shard` and `merge`: several machines find what one does, and their report is that of one, byte for byte."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from command_line import Result, Run

from tfmemlint.config.discover import Target
from tfmemlint.config.settings import Config
from tfmemlint.report import FORMATS
from tfmemlint.run.shards import Shard, names

HEAD = "import tensorflow as tf\n"
LEAK = "for _ in range(9):\n    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])\n"
CACHE = "ds = tf.data.TFRecordDataset('a').repeat().cache()\n"
FILES = {
    "a.py": HEAD + LEAK,
    "b/c.py": HEAD + CACHE + LEAK,
    "b/d.py": "import os\n",
    "b/e/f.py": HEAD + LEAK.replace("\n", "  # tfmemlint: ignore\n"),
    "b/g.py": HEAD + "broken(\n",
    "h.py": HEAD + CACHE,
    "latin.py": "# -*- coding: latin-1 -*-\n# é\n".encode("latin-1") + (HEAD + LEAK).encode(),
    "made.py": HEAD + "def made(paths):\n    return tf.data.Dataset.from_tensor_slices(paths).batch(64)\n",
    "unreadable.py": b"import keras\n\xff\n",
    "uses.py": HEAD + "from made import made\nmodel = tf.keras.applications.ResNet50()\n"
    "model.fit(made(tf.io.gfile.glob('*')).prefetch(1000))\n",
    "é.py": HEAD + CACHE,
}  # fmt: skip


@pytest.fixture
def project(here: Path) -> Path:
    for name, text in FILES.items():
        path = here / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    (here / "project" / "tfmemlint.toml").touch()
    os.chdir(here / "project")
    return here / "project"


def without_time(text: str) -> str:
    return re.sub(r", in [\d.]+ s\.|time=\"[\d.]+\"", "", text)


def parts(run: Run, count: int, *words: str) -> list[str]:
    """The parts of all shards; what each says is what a run over its files says."""
    made = [f"../part-{number}.json" for number in range(1, count + 1)]
    for number, path in enumerate(made, 1):
        done = run("check", "-n", "-q", "-j", "1", "--shard", f"{number}/{count}", "--part", path, *words, ".")
        assert done.code in (0, 1, 2)
    return made


def same(one: Result, other: Result) -> None:
    assert without_time(other.out) == without_time(one.out)
    assert (other.code, other.err) == (one.code, one.err)


@pytest.mark.parametrize("count", [1, 3, 20])
def test_the_report_is_that_of_one_run_in_all_formats(count: int, project: Path, run: Run) -> None:
    made = parts(run, count)
    for kind in FORMATS:
        one = run("check", "-n", "-j", "1", "--output-format", kind, ".")
        assert one.code == 1 and "TFM601" in one.out
        same(one, run("merge", "--output-format", kind, *reversed(made)))


@pytest.mark.parametrize(
    "words",
    [("--statistics",), ("--sort", "bytes"), ("-q",), ("--color", "always"), ("--exit-zero",), ("--show-suppressed",)],
    ids=" ".join,
)
def test_options_of_the_report_belong_to_merge(words: tuple[str, ...], project: Path, run: Run) -> None:
    made = parts(run, 2, *(words if "--show-suppressed" in words else ()))
    same(run("check", "-n", "-j", "1", *words, "."), run("merge", *words, *made))


def test_it_does_not_matter_where_the_machines_have_the_checkout(project: Path, run: Run) -> None:
    """Related places in other files, too."""
    one = run("check", "-n", "-j", "1", "--output-format", "json", ".")
    assert str(project / "made.py") in one.out
    made = []
    for number in (1, 2, 3):
        elsewhere = project.parent / f"machine-{number}" / "deeper" / "checkout"
        shutil.copytree(project, elsewhere)
        os.chdir(elsewhere)
        made.append(str(project.parent / f"{number}.json"))
        run("check", "-n", "-q", "-j", "1", "--shard", f"{number}/3", "--part", made[-1], ".")
        shutil.rmtree(elsewhere)
        os.chdir(project)
    same(one, run("merge", "--output-format", "json", *made))


def test_a_shard_that_never_came_is_named(project: Path, run: Run) -> None:
    made = parts(run, 4)
    done = run("merge", "--output-format", "concise", made[0], made[3])
    assert done.code == 2
    assert "the report is not whole: 2 shards did not come: 2/4, 3/4" in done.err
    assert run("merge", "--exit-zero", *made[:3]).code == 2


def test_a_shard_that_was_cut_off_is_named_and_missing(project: Path, run: Run) -> None:
    made = parts(run, 2)
    Path(made[1]).write_bytes(Path(made[1]).read_bytes()[:-9])
    done = run("merge", *made)
    assert done.code == 2
    assert f"{made[1]}: no whole part of a run" in done.err
    assert "1 shard did not come: 2/2" in done.err
    assert run("merge", "../no-such.json").code == 2


def test_what_does_not_belong_together_is_refused(project: Path, run: Run) -> None:
    made = parts(run, 2)
    assert "shard 1 again" in run("merge", made[0], made[0]).err
    (project / "new.py").write_text("import os\n")
    run("check", "-n", "-q", "-j", "1", "--shard", "2/2", "--part", made[1], ".")
    done = run("merge", *made)
    assert done.code == 2 and "other files: do all machines have the same checkout and options?" in done.err
    report = project / "report.json"
    report.write_text(run("check", "-n", "-j", "1", "--output-format", "json", ".").out)
    told = run("merge", str(report)).err
    assert "a report; `tfmemlint check --shard I/N --part FILE` writes what can be merged" in told


def test_problems_of_all_shards_are_told_once(project: Path, run: Run) -> None:
    made = []
    for number in (1, 2):
        made.append(f"../{number}.json")
        run("check", "-n", "-j", "1", "--shard", f"{number}/2", "--part", made[-1], ".", "no-such-folder")
    done = run("merge", *made)
    assert (done.code, done.err.count("no-such-folder: no such file or directory")) == (2, 1)


@pytest.mark.parametrize("fail_on", ["error", "warning"])
def test_what_fails_a_run_fails_the_merged_one(fail_on: str, project: Path, run: Run) -> None:
    for name in ("b/g.py", "unreadable.py"):
        (project / name).unlink()
    made = parts(run, 2, "--fail-on", fail_on)
    assert run("merge", *made).code == run("check", "-n", "-j", "1", "--fail-on", fail_on, ".").code


# -- which files ------------------------------------------------------------------------------------------------------


def of(paths: list[str], root: str) -> list[str]:
    return names([Target(path, Config(root=root)) for path in paths], root)


def test_each_file_belongs_to_one_shard_whichever_order_they_come_in(tmp_path: Path) -> None:
    paths = [f"/here/src/{number}.py" for number in range(300)]
    owners = {name: [n for n in range(1, 8) if Shard(n, 7).holds(name)] for name in of(paths, "/here")}
    assert all(len(found) == 1 for found in owners.values())
    sizes = [sum(found == [n] for found in owners.values()) for n in range(1, 8)]
    assert min(sizes) > 20
    assert {n: owners[n] for n in of(paths[::-1], "/here")} == owners


def test_the_place_of_the_checkout_makes_no_difference() -> None:
    assert of(["/here/src/a.py"], "/here") == of(["/builds/1/there/src/a.py"], "/builds/1/there") == ["src/a.py"]
    assert of(["/here/e\u0301.py"], "/here") == of(["/here/\u00e9.py"], "/here")
    # What another version says of these would part a matrix of two versions in the middle.
    assert [Shard(n, 4).holds("src/train.py") for n in (1, 2, 3, 4)] == [False, False, True, False]


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "1/", "/4", "a/b", "1/0", "1/99999", "1/4/5"])
def test_what_is_no_shard(text: str, here: Path, run: Run) -> None:
    done = run("check", "--shard", text, ".")
    assert (done.code, "is no shard; write I/N with I from 1 to N" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--part", "a.json"), "--part is what one shard found; it needs --shard"),
        (("--shard", "1/2", "--write-baseline"), "--write-baseline and --shard cannot be used together"),
        (("--shard", "1/2", "--part", "a", "--verify"), "--part and --verify cannot be used together"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_of_a_shard(words: tuple[str, ...], why: str, here: Path, run: Run) -> None:
    done = run("check", *words)
    assert (done.code, why in done.err) == (2, True)
