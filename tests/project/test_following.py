"""What values are that come from other modules of a project."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import libcst as cst
import pytest
from programs import shown, value_in

from tfmemlint.config.settings import Config
from tfmemlint.lint.engine import lint
from tfmemlint.lint.parsing import parse
from tfmemlint.lint.registry import load_rules
from tfmemlint.model.file import File
from tfmemlint.model.memo import BUDGET_PER_NODE
from tfmemlint.model.values import Function
from tfmemlint.project.siblings import LARGEST, MOST_MODULES, Siblings
from tfmemlint.query.runtime.runtime import devices_made_at_import
from tfmemlint.text.read import read_source

TF = "import tensorflow as tf\n"


def project(root: Path, program: str, **modules: str) -> File:
    """The model of `train.py` in a project with these modules: `a__b` stands for a/b.py, `a__` for a/__init__.py."""
    for name, text in modules.items():
        parts = name.split("__")
        path = root.joinpath(*parts[:-1], f"{parts[-1] or '__init__'}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    data = ("import tensorflow as tf\n" + textwrap.dedent(program)).encode()
    path = root / "train.py"
    source = read_source(data, str(path))
    module, _, found = parse(source)
    assert module is not None and not found
    siblings = Siblings(str(path), str(root), lambda each: parse(each)[0])
    return File(source, module, Config(project_root=str(root)), siblings)


BASE = "class Base:\n    def size(self):\n        return 2"

VALUES: list[tuple[str, str, dict[str, str]]] = [
    # Ways to import.
    ("from config import SIZE\nSIZE", "3", {"config": "SIZE = 3"}),
    ("from config import SIZE as size\nsize", "3", {"config": "SIZE = 3"}),
    ("import config\nconfig.SIZE", "3", {"config": "SIZE = 3"}),
    ("import config as c\nc.SIZE", "3", {"config": "SIZE = 3"}),
    ("import a.b\na.b.SIZE", "3", {"a__": "", "a__b": "SIZE = 3"}),
    ("import a.b\na.b.SIZE", "3", {"a__b": "SIZE = 3"}),
    ("import a.b.c\na.b.c.SIZE", "3", {"a__b__c": "SIZE = 3"}),
    ("import a.b as c\nc.SIZE", "3", {"a__b": "SIZE = 3"}),
    ("from a import b\nb.SIZE", "3", {"a__b": "SIZE = 3"}),
    ("from a.b import c\nc.SIZE", "3", {"a__b__c": "SIZE = 3"}),
    ("from config import *\nSIZE", "3", {"config": "SIZE = 3"}),
    ("def f():\n    from config import SIZE\n    return SIZE\nf()", "3", {"config": "SIZE = 3"}),
    ("try:\n    from config import SIZE\nexcept ImportError:\n    SIZE = None\nprobe(SIZE)", "3", {
        "config": "SIZE = 3"}),
    # What a star import takes.
    ("from config import *\n_SIZE", "?", {"config": "_SIZE = 3"}),
    ("from config import *\nB", "?", {"config": "__all__ = ['A']\nA, B = 1, 2"}),
    ("from config import *\n_A", "1", {"config": "__all__ = ['_A']\n_A = 1"}),
    ("from one import *\nSIZE", "3", {"one": "from two import *", "two": "SIZE = 3"}),
    ("SIZE = 1\nfrom config import *\ndef f():\n    SIZE = 2\n    return SIZE\nf()", "2", {"config": "SIZE = 3"}),
    # Names that modules take from others.
    ("from a import SIZE\nSIZE", "3", {"a__": "from .b import SIZE", "a__b": "SIZE = 3"}),
    ("from a import size\nsize", "3", {"a__": "from .b import SIZE as size", "a__b": "SIZE = 3"}),
    ("from a import SIZE\nSIZE", "3", {"a__": "from a.b import *", "a__b": "SIZE = 3"}),
    ("from a import SIZE\nSIZE", "3", {
        "a__": "from .b import SIZE", "a__b__": "from ..c import SIZE", "a__c": "SIZE = 3"}),
    ("import a\na.b.SIZE", "3", {"a__": "from . import b", "a__b": "SIZE = 3"}),
    ("from a.b.c import SIZE\nSIZE", "3", {"a__b__c": "from ...config import SIZE", "config": "SIZE = 3"}),
    ("from a import np\nnp.zeros(3, 'float32')", "np float32 (3)", {"a": "import numpy as np"}),
    # What modules hold.
    ("from config import CONFIG\nCONFIG['size']", "3", {"config": "CONFIG = {'size': 3}"}),
    ("from config import B\nB", "6", {"config": "A = 2\nB = A * 3"}),
    ("from data import load\nload(7)", "tf float32 (7)", {"data": f"{TF}def load(n):\n    return tf.zeros([n])"}),
    ("from data import load\nload()", "tf float32 (10)", {
        "data": f"{TF}N = 10\ndef load(n=N):\n    return tf.zeros([n])"}),
    ("from data import load\nload()", "(1, 2)", {"data": "def load():\n    return 1, 2"}),
    ("import data\ndata.Loader(4).size", "4", {
        "data": "class Loader:\n    def __init__(self, n):\n        self.size = n"}),
    ("from data import Config\nConfig().size", "4", {
        "data": "from dataclasses import dataclass\n@dataclass\nclass Config:\n    size: int = 4"}),
    ("from data import Sub\nSub().size()", "2", {
        "data": "from base import Base\nclass Sub(Base):\n    pass", "base": BASE}),
    ("from base import Base\nclass Sub(Base):\n    def size(self):\n        return super().size()\nSub().size()", "2", {
        "base": BASE}),
    ("from base import Base\nclass Sub(Base):\n    n = 5\nprobe(Sub().size())", "5", {
        "base": "class Base:\n    n = 2\n    def size(self):\n        return self.n"}),
    # Which of several counts.
    ("from config import SIZE\nSIZE = 1\nprobe(SIZE)", "1", {"config": "SIZE = 3"}),
    ("from config import SIZE\nSIZE", "2", {"config__": "SIZE = 2", "config": "SIZE = 3"}),
    ("import numpy as np\nnp.zeros(2, 'float32')", "np float32 (2)", {"numpy": "def zeros(*a):\n    return 1"}),
    ("import math\nmath.pi", "3.141592653589793", {"math": "pi = 1"}),
    # What importers do not see.
    ("from config import SIZE\nSIZE", "3", {"config": "SIZE = 3\nif __name__ == '__main__':\n    SIZE = 4"}),
    ("import config\nconfig.LATER", "?", {"config": "if __name__ == '__main__':\n    LATER = 4"}),
    ("import config\nconfig.SIZE", "1", {"config": "SIZE = 1\nif __name__ == '__main__':\n    SIZE = 4\nSIZE"}),
    ("import config\nconfig.LATER", "5", {"config": "if __name__ == '__main__':\n    LATER = 4\nLATER = 5"}),
    # Circles.
    ("from a import A\nA", "1", {"a": "from b import B\nA = 1", "b": "from a import A\nB = 2"}),
    ("from a import A\nA", "?", {"a": "from b import A", "b": "from a import A"}),
    ("from a import *\nA", "?", {"a": "from b import *", "b": "from a import *"}),
    ("from a import f\nf(3)", "?", {
        "a": "import b\ndef f(n):\n    return b.g(n)", "b": "import a\ndef g(n):\n    return a.f(n)"}),
    ("import train\nfrom a import A\nA", "1", {"a": "import train\nA = 1"}),
    # What cannot be known.
    ("from absent import SIZE\nSIZE", "absent.SIZE", {}),
    ("from config import SIZE\nSIZE", "?", {"config": "A = 1"}),
    ("from config import SIZE\nSIZE", "?", {"config": "SIZE = (((\n"}),
    ("from .a import SIZE\nSIZE", "3", {"a": "SIZE = 3"}),
    ("from ...a import SIZE\nSIZE", "...a.SIZE", {"a": "SIZE = 3"}),
]  # fmt: skip


@pytest.mark.parametrize(("program", "value", "modules"), VALUES)
def test_value(program: str, value: str, modules: dict[str, str], tmp_path: Path) -> None:
    assert shown(value_in(project(tmp_path, program, **modules))) == value


def test_annotations_of_imports_for_type_checkers_are_followed(tmp_path: Path) -> None:
    program = """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from config import Config
        def f(config: "Config"):
            probe(config.size())
    """
    file = project(tmp_path, program, config="class Config:\n    def size(self):\n        return 4\n")
    assert shown(value_in(file)) == "4"


def test_notebooks_see_scripts_beside_them(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(
        "import tensorflow as tf\ndef load():\n    return tf.data.TFRecordDataset('a').repeat(3)\n", "utf-8"
    )
    cells = ["import tensorflow as tf\n", "from data import load\n", "ds = load().cache()\n"]
    notebook = {
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": [each]} for each in cells],
        "metadata": {"kernelspec": {"language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    rules = tuple(rule for rule in load_rules() if rule.code == "TFM305")
    path = str(tmp_path / "train.ipynb")
    found = lint(json.dumps(notebook).encode(), path, Config(project_root=str(tmp_path)), rules)
    assert [finding.code for finding in found.findings] == ["TFM305"]
    alone = lint(json.dumps(notebook).encode(), path, Config(follow_imports=False), rules)
    assert alone.findings == ()


def test_large_modules_are_not_read(tmp_path: Path) -> None:
    file = project(tmp_path, "from config import SIZE\nSIZE", config="SIZE = 3\n" + "#" * LARGEST)
    assert shown(value_in(file)) == "?"


def test_chains_of_modules_end(tmp_path: Path) -> None:
    modules = {f"m{n}": f"from m{n + 1} import SIZE" for n in range(MOST_MODULES + 20)}
    file = project(tmp_path, "from m0 import SIZE\nSIZE", **modules)
    assert shown(value_in(file)) == "?"
    assert len(file.linked) <= MOST_MODULES


@pytest.mark.parametrize("first", ["m0", "m79"])
def test_which_of_many_modules_are_read_does_not_depend_on_who_asks_first(first: str, tmp_path: Path) -> None:
    modules = {f"m{n}": f"SIZE = {n}" for n in range(MOST_MODULES + 20)}
    imports = "\n".join(f"import m{n}" for n in range(MOST_MODULES + 20))
    file = project(tmp_path, f"{imports}\nm0.SIZE, m79.SIZE", **modules)
    asked = {file.text(node): node for node in file.tree.of(cst.Attribute)}
    file.value(asked[f"{first}.SIZE"])
    assert [shown(file.value(asked[f"{name}.SIZE"])) for name in ("m0", "m79")] == ["0", "?"]


def test_a_package_of_many_modules_is_read_where_it_is_asked(tmp_path: Path) -> None:
    modules = {f"p__m{n}": f"SIZE = {n}" for n in range(300)}
    file = project(tmp_path, "import p.m7\np.m7.SIZE", **modules)
    assert shown(value_in(file)) == "7"
    assert len(file.linked) == 1


def test_modules_within_reach_are_those_of_all_imports(tmp_path: Path) -> None:
    modules = {"a": "import b", "b": "def f():\n    import c\n", "c": "import a\nimport train", "d": ""}
    file = project(tmp_path, "from a import x\nx", **modules)
    assert [Path(path).name for path in file.linked] == []
    assert len(file.within_reach) == 3
    assert sorted(Path(path).name for path in file.linked) == ["a.py", "b.py", "c.py"]


def test_calls_within_reach_leave_out_what_a_main_guard_holds(tmp_path: Path) -> None:
    guarded = f"{TF}def f():\n    tf.ones(1)\nif __name__ == '__main__':\n    tf.ones(2)\n"
    file = project(tmp_path, "import a\ntf.ones(3)\n1", a=guarded)
    assert [shown(call.value) for call in file.calls_within_reach("tf.ones")] == ["tf float32 (3)", "tf float32 (1)"]


def test_parameters_get_what_this_file_passes(tmp_path: Path) -> None:
    file = project(tmp_path, "from a import f as g\ng(5)\n1", a=f"{TF}def f(n):\n    return tf.zeros([n])\n")
    [made] = file.calls_within_reach("tf.zeros")
    assert shown(made.value) == "tf float32 (5)"


@pytest.mark.parametrize(("importer", "value"), [("main", "np float64 (2, 32)"), ("train_test", "?")])
def test_parameters_get_what_other_programs_pass_but_not_what_tests_do(
    importer: str, value: str, tmp_path: Path
) -> None:
    calls = "import numpy as np\nfrom train import ask\nask(np.ones((2, 32)))\n"
    file = project(tmp_path, "def ask(rows):\n    probe(rows)", **{importer: calls, "train": ""})
    assert shown(value_in(file)) == value


@pytest.mark.parametrize(
    ("modules", "value", "read"),
    [
        ({"main": "import train\ntrain.ask(2)\n"}, "2", True),
        ({"main": "from pkg import train\ntrain.ask(2)\n", "pkg__": "import train\n"}, "2", True),
        ({"main": "from a import train\ntrain.ask(2)\n", "a": "import train\n"}, "2", True),
        ({"main": "import train\nshow = train.ask\nshow(2)\n"}, "?", True),
        ({"main": "from b import train\ntrain.ask(2)\n", "b__": "", "b__train": "def ask(n): pass\n"}, "?", False),
        ({"main": "from keras import train\ntrain.ask(2)\n"}, "?", False),
        ({"main": "import train\n# train.ask(2)\n"}, "?", False),
    ],
)
def test_callers_are_looked_for_where_imports_lead_here(
    modules: dict[str, str], value: str, read: bool, tmp_path: Path
) -> None:
    file = project(tmp_path, "def ask(rows):\n    probe(rows)", **modules, train="")
    assert shown(value_in(file)) == value
    assert (str(tmp_path / "main.py") in file.linked) is read


@pytest.mark.parametrize(("number", "found", "value"), [(0, 0, "3"), (6, 6, "3"), (7, None, "?")])
def test_of_too_many_callers_in_other_modules_nothing_is_told(
    number: int, found: int | None, value: str, tmp_path: Path
) -> None:
    calls = "from train import ask\n" + "ask(2)\n" * number
    file = project(tmp_path, "def ask(rows, size=3):\n    probe(size)", main=calls, train="")
    function = next(iter(file.tree.of(cst.FunctionDef)))
    callers = file.call_graph.callers_elsewhere(function)
    assert (len(callers) if callers is not None else None) == found
    assert shown(value_in(file)) == value


@pytest.mark.parametrize(
    ("starts", "made"),
    [
        ("set_up()", True),
        ("if wanted:\n    set_up()", True),
        ("def run():\n    set_up()", False),
        ("if __name__ == '__main__':\n    work()\n    set_up()", False),
        ("work()", False),
    ],
)
def test_devices_that_a_module_has_made_while_it_is_imported(starts: str, made: bool, tmp_path: Path) -> None:
    program = "def set_up():\n    tf.constant(1)\ndef work():\n    here()"
    file = project(tmp_path, program, main=f"from train import set_up, work\n{starts}\n", train="")
    assert (devices_made_at_import(file, file.calls_by_word["here"][0]) is not None) is made


def test_code_of_other_modules_raises_the_budget_of_evaluations(tmp_path: Path) -> None:
    file = project(tmp_path, "from a import SIZE\nSIZE", a="SIZE = 3\n" + "A = [1, 2, 3]\n" * 100)
    before = file.values.memo.budget
    value_in(file)
    [linked] = file.linked.values()
    assert file.values.memo.budget == before + BUDGET_PER_NODE * len(linked.tree)


def test_what_never_runs_there_is_told_apart_from_what_does_here(tmp_path: Path) -> None:
    file = project(tmp_path, "import data\nif False:\n    x = 1\ndata.make()", data="def make():\n    return 3")
    (made,) = file.calls_by_word["make"]
    (target,) = file.call(made).target.options
    assert isinstance(target, Function)
    assert not file.contexts.never_runs(target.node)


def test_a_star_import_from_here_is_not_one_from_the_top(tmp_path: Path) -> None:
    """`from .sizes import *` in a package takes its own module, whatever the project has by that name."""
    file = project(
        tmp_path,
        "import net\nprobe(net.SIZE)",
        net__="from .sizes import *",
        net__sizes="SIZE = 3",
        sizes="SIZE = 4",
    )
    assert shown(value_in(file)) == "3"


@pytest.mark.parametrize(("statement", "old"), [
    ('print "loss", loss', True),
    ("    print '%d' % 3", True),
    ("print('loss')", False),
    ("print ('loss')", False),
    ('# print "loss"', False),
    ('"""\nprint "loss" at the end, in 3 words\n"""', False),
])  # fmt: skip
def test_a_module_of_python_2_belongs_to_a_program_of_version_1(statement: str, old: bool, tmp_path: Path) -> None:
    assert project(tmp_path, "import steps", steps=f"def run(loss):\n    pass\n{statement}\n").may_be_version_1 is old
