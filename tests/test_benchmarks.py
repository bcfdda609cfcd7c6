"""docs/performance.md shows what was measured and nothing else; a try of the measurement writes such a page."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import corpora as corpora_module
from benchmarks import processes, results, subjects
from benchmarks.processes import Command, FailedRun, Run
from benchmarks.report import scaling, svg
from benchmarks.report.page import TEMPLATE, write_page

ROOT = Path(__file__).parents[1]
unix = pytest.mark.skipif(not hasattr(os, "wait4"), reason="the kernel is asked by wait4")
PROGRAM = "import tensorflow as tf\n\n\ndef f(x):\n    return tf.zeros([3]) + x\n"
PARTS = "peers,scaling,tree"


def test_the_page_is_what_the_kept_results_say() -> None:
    kept = results.read(ROOT / "docs" / results.KEPT)
    assert write_page(kept, ROOT / "docs", check=True) == [], "run `python -m benchmarks --only nothing`"


def test_no_figure_of_the_page_is_written_in_its_template() -> None:
    text = re.sub(r"^```.*?^```", "", TEMPLATE.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"`[^`]*`|\[TFM\d+\]\(\S*\)|\$\w+|flake8", "", text)
    assert re.findall(r".*\d.*", prose) == []


def test_figures_of_another_machine_make_another_page(tmp_path: Path) -> None:
    kept = results.read(ROOT / "docs" / results.KEPT)
    kept.machine["processor"] = "Abacus 8"
    write_page(kept, tmp_path)
    assert "Abacus 8" in (tmp_path / "performance.md").read_text("utf-8")
    assert write_page(kept, tmp_path) == []


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "performance").glob("*.svg")), ids=lambda path: path.name)
def test_pictures_are_whole(path: Path) -> None:
    assert ElementTree.parse(path).getroot().tag == "{http://www.w3.org/2000/svg}svg"


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    """Packages as pip unpacks them, of few lines."""
    folder = tmp_path / "corpora"
    for name in ("tf_keras/tf_keras/src/layers/rnn/a.py", "tf-agents/tf_agents/a.py", "tf-agents/tf_agents/a_test.py"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PROGRAM, "utf-8")
    (folder / "tf-agents/tf_agents/other.py").write_text("import os\n", "utf-8")
    return folder


@unix
def test_a_try_measures_and_writes_a_page_of_it(corpora: Path, tmp_path: Path) -> None:
    words = ["--quick", "--here", "--corpora", corpora, "--tree", corpora, "--only", PARTS]
    command = [sys.executable, "-m", "benchmarks", *words, "--out", tmp_path / "out", "--work", tmp_path / "work"]
    before = {path: path.read_bytes() for path in corpora.rglob("*.py")}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    kept = results.read(tmp_path / "out" / results.KEPT)
    page = (tmp_path / "out" / "performance.md").read_text("utf-8")
    assert {figure.part for figure in kept.figures} >= {*PARTS.split(",")}
    found = kept.get("peers", "small", "libcst")
    assert found is not None and found.cpu > 0 and found.peak > 1 << 20
    assert f"| `tf_keras`, recurrent layers: 1 file, 5 lines | {found.cpu:.2f} s |" in page
    assert "figures say nothing" in page
    assert str(tmp_path) not in page and os.uname().nodename not in page
    assert {path: path.read_bytes() for path in corpora.rglob("*.py")} == before


@unix
def test_parts_of_two_machines_are_not_mixed(tmp_path: Path) -> None:
    kept = results.read(ROOT / "docs" / results.KEPT)
    kept.machine["processor"] = "Abacus 8"
    results.write(kept, tmp_path / results.KEPT)
    command = [sys.executable, "-m", "benchmarks", "--only", "small", "--out", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "another machine" in done.stderr


def test_notebooks_come_out_of_an_archive(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": PROGRAM}
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    (tmp_path / "a.txt").write_text("no notebook")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "a.ipynb", "docs/site/a.ipynb")
        archive.add(tmp_path / "a.txt", "docs/a.txt")
    folder = corpora_module.notebooks(tmp_path / "notebooks", (tmp_path / "a.tar.gz").as_uri())
    assert [path.name for path in folder.rglob("*") if path.is_file()] == ["a.ipynb"]
    (found,) = subjects.subjects(tmp_path, folder).values()
    assert (found.name, found.lines) == ("notebooks", PROGRAM.count("\n") + 1)  # one that ends the cell
    told = subjects.told_to_be_python(found, tmp_path / "told")
    assert json.loads((told.root / told.paths[0]).read_bytes())["metadata"]["language_info"]["name"] == "python"
    written = subjects.as_programs(found, tmp_path / "programs")
    assert (written.root / written.paths[0]).read_text("utf-8").strip() == PROGRAM.strip()


def test_programs_tests_and_large_files_are_apart(corpora: Path) -> None:
    (corpora / "tf-agents/tf_agents/large.py").write_text(PROGRAM * 500, "utf-8")
    found = subjects.subjects(corpora, None)
    assert {name: ([path.name for path in files.paths], files.lines) for name, files in found.items()} == {
        "keras": (["a.py"], 5),
        "small": (["a.py"], 5),
        "agents": (["a.py", "large.py"], 2505),
        "tests": (["a_test.py"], 5),
        "large": (["large.py"], 2500),
    }


@unix
def test_what_the_measuring_process_holds_is_no_peak_of_what_it_starts() -> None:
    held = bytearray(os.urandom(1 << 20) * 300)
    taken = processes.run(Command((sys.executable, "-c", "pass")))
    assert taken.peak < len(held) / 2


@unix
def test_a_run_that_fails_ends_the_measuring_with_what_it_said() -> None:
    for program, codes in (("raise SystemExit('no such thing')", (0,)), ("raise ValueError('no such thing')", (0, 1))):
        with pytest.raises(FailedRun, match="no such thing"):
            processes.run(Command((sys.executable, "-c", program), codes=codes))


@unix
def test_instructions_are_counted_where_perf_counts_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    perf = tmp_path / "perf"
    perf.write_text('#!/bin/sh\nprintf "# started\\n\\n42,,instructions:u,1,100.00,,\\n" > "$6"\nshift 7\nexec "$@"\n')
    perf.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    processes.counts_instructions.cache_clear()
    found = processes.in_turns({"a": Command((sys.executable, "-c", "pass"))}, 2)
    processes.counts_instructions.cache_clear()
    assert (found["a"].instructions, found["a"].turns) == (42, 2)


@unix
def test_cpu_time_of_children_is_counted() -> None:
    loop = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {loop!r}])"
    assert processes.run(Command((sys.executable, "-c", outer))).cpu > 0.3


def test_turns_alternate_and_give_medians(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def seconds() -> Iterator[float]:
        yield from (5, 1, 1, 3, 4, 2)

    given = seconds()

    def run(command: Command, count: bool = False) -> Run:
        ran.append(command.words[0])
        return Run(next(given), 0.0, len(ran), None)

    monkeypatch.setattr(processes, "run", run)
    found = processes.in_turns({"a": Command("a"), "b": Command("b")}, 3)
    assert "".join(ran) == "abbaab"
    assert [(each.cpu, each.least, each.most, each.peak, each.turns) for each in found.values()] == [
        (4, 3, 5, 1, 3),
        (1, 1, 2, 2, 3),
    ]


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
def test_exponents_are_those_of_the_last_doublings(power: float) -> None:
    points = [(500, 9.0), *((size, 1e-6 * size**power) for size in (5_000, 10_000, 20_000))]
    assert scaling.exponent(points) == pytest.approx(power)
    assert scaling.exponent(points[:1]) is None


def test_points_lie_where_their_axes_say() -> None:
    x = svg.Scale(1, 100, 0, 200)
    assert [x.at(value) for value in (1, 10, 100)] == [0, 100, 200]
    assert x.marks() == [1, 2, 5, 10, 20, 50, 100]
    even = svg.Scale(0, 100, 200, 0, logarithmic=False)
    assert [even.at(value) for value in even.marks()] == [200, 160, 120, 80, 40, 0]


@unix
@pytest.mark.parametrize("command", ["page", "cold", "compare", "flake8", "following", "growth", "speed"])
def test_commands_say_how_they_are_used(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", command, "--help"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert f"python -m benchmarks {command}" in done.stdout
