"""Slices across the modules of a project: what the programs hold of each, and that their imports lead there."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfmemlint.config.settings import Config
from tfmemlint.finding import Edit, Elsewhere, Finding, Fix, Related, Safety, Severity, Span
from tfmemlint.lint.engine import siblings_of
from tfmemlint.lint.parsing import parse
from tfmemlint.model.file import File
from tfmemlint.text.read import read_source
from tfmemlint.verify.plan.across import MOST_MODULES
from tfmemlint.verify.plan.examples import read_examples
from tfmemlint.verify.plan.from_finding import plan
from tfmemlint.verify.plan.import_path import import_path
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.templates import Plan
from tfmemlint.verify.run.measure import Program
from tfmemlint.verify.run.project_folder import PROJECT, lay_out

FLAGGED = "flagged("
"""What stands at the flagged place of each program; the repair calls something else there."""


def planned(root: Path, files: dict[str, str], flagged: str = "train.py", related: Elsewhere | None = None) -> Plan:
    """The plan for the call of `flagged` in one of these files, in a project of its own."""
    root.mkdir(exist_ok=True)
    (root / "setup.py").touch()
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"))
    path = root / flagged
    source = read_source(path.read_bytes(), str(path))
    module, readable, _ = parse(source)
    assert module is not None
    config = Config(project_root=str(root))
    file = File(readable, module, config, siblings_of(str(path), config))
    start = readable.text.index(FLAGGED)
    span = Span(start, start + len(FLAGGED) - 1)
    fix = Fix("", (Edit(span.start, span.end, "repaired"),), Safety.SAFE)
    others = () if related is None else (Related(Span(0, 0), "", related),)
    finding = Finding("TFM305", "name", Severity.WARNING, "", span, None, others, fix)
    return plan(finding, file, None, read_examples(readable))


def texts(made: Plan) -> dict[str, str]:
    """The modules beside the program, and the program itself as ``."""
    program = made.pair.before
    return {**{name: text.strip() for name, text in program.modules}, "": program.source.strip()}


def output(program: Program, work: Path) -> str:
    """What a program prints in which `flagged` is `print`, laid out as runs are."""
    work.mkdir(exist_ok=True)
    folders = lay_out(program.root, program.modules, program.path, str(work))
    start = (
        "import builtins, sys\n"
        f"sys.path[:0] = {folders!r}\n__package__ = {program.package!r}\n"
        "builtins.flagged = print\n"
        "builtins.tfmemlint_some = lambda items, *rest, **more: items\n"
        "builtins.tfmemlint_consume = lambda value: value\n"
    )
    words = [sys.executable, "-I", "-S", "-c", start + program.source]
    done = subprocess.run(words, capture_output=True, text=True, cwd=work, check=False)
    return done.stdout if not done.returncode else done.stderr


DATA = """
    import not_there
    SIZE = 3
    not_there.download()

    def load(n):
        return n * SIZE

    def show(x):
        not_there.plot(x)
"""
CUT = "SIZE = 3\n\ndef load(n):\n    return n * SIZE"

OPTIONS = """import argparse
parser = argparse.ArgumentParser()
def arg(*names, **how):
    parser.add_argument(*names, **how)
def parsed():
    return parser.parse_args([])"""

LAYOUTS: dict[str, tuple[str, dict[str, str], str, dict[str, str]]] = {
    "names": (
        "train.py",
        {"train.py": "from data import load, show\nflagged(load(2))\nshow(1)", "data.py": DATA},
        "6",
        {"": "from data import load\nflagged(load(2))", "data.py": CUT},
    ),
    "module": (
        "train.py",
        {"train.py": "import data as d\nflagged(d.load(2))\nd.show(1)", "data.py": DATA},
        "6",
        {"": "import data as d\nflagged(d.load(2))", "data.py": CUT},
    ),
    "star": (
        "train.py",
        {"train.py": "from data import *\nflagged(load(2))", "data.py": DATA},
        "6",
        {"": "from data import *\nflagged(load(2))", "data.py": CUT},
    ),
    "star of a star": (
        "train.py",
        {"train.py": "from a import *\nflagged(load(2))", "a.py": "from data import *\nx = open('x')", "data.py": DATA},
        "6",
        {"": "from a import *\nflagged(load(2))", "a.py": "from data import *", "data.py": CUT},
    ),
    "package": (
        "p/train.py",
        {
            "p/train.py": "from .data import load\nflagged(load(2))",
            "p/__init__.py": "from .plots import draw",
            "p/plots.py": "import not_there",
            "p/data.py": DATA,
        },
        "6",
        {"": "from .data import load\nflagged(load(2))", "p/__init__.py": "", "p/data.py": CUT},
    ),
    "namespace package": (
        "p/q/train.py",
        {"p/q/train.py": "from ..data import load\nflagged(load(2))", "p/data.py": DATA},
        "6",
        {"": "from ..data import load\nflagged(load(2))", "p/data.py": CUT},
    ),
    "re-export": (
        "train.py",
        {
            "train.py": "import p\nflagged(p.load(2))",
            "p/__init__.py": "from .plots import draw\nfrom .data import load, show",
            "p/plots.py": "import not_there",
            "p/data.py": DATA,
        },
        "6",
        {"": "import p\nflagged(p.load(2))", "p/__init__.py": "from .data import load", "p/data.py": CUT},
    ),
    "module of a package": (
        "train.py",
        {
            "train.py": "import p.plots\nimport p.data\nflagged(p.data.load(2))",
            "p/__init__.py": "",
            "p/plots.py": "import not_there",
            "p/data.py": DATA,
        },
        "6",
        {"": "import p.data\nflagged(p.data.load(2))", "p/__init__.py": "", "p/data.py": CUT},
    ),
    "from here": (
        "train.py",
        {
            "train.py": "from p import run\nflagged(run())",
            "p/__init__.py": "from . import data\nfrom . import plots\ndef run():\n    return data.load(2)",
            "p/plots.py": "import not_there",
            "p/data.py": DATA,
        },
        "6",
        {
            "": "from p import run\nflagged(run())",
            "p/__init__.py": "from . import data\ndef run():\n    return data.load(2)",
            "p/data.py": CUT,
        },
    ),
    "module that a package also takes by a star": (
        "train.py",
        {
            "train.py": "import p.data\nflagged(p.data.load(2))",
            "p/__init__.py": "from .data import *",
            "p/data.py": "from . import config\ndef load(n):\n    return n * config.SIZE",
            "p/config.py": "import not_there\nSIZE = 3",
        },
        "6",
        {
            "": "import p.data\nflagged(p.data.load(2))",
            "p/__init__.py": "",
            "p/data.py": "from . import config\ndef load(n):\n    return n * config.SIZE",
            "p/config.py": "SIZE = 3",
        },
    ),
    "source folder": (
        "scripts/train.py",
        {
            "scripts/train.py": "from p.data import load\nflagged(load(2))",
            "src/p/__init__.py": "",
            "src/p/data.py": DATA,
        },
        "6",
        {"": "from p.data import load\nflagged(load(2))", "src/p/__init__.py": "", "src/p/data.py": CUT},
    ),
    "package beside the scripts' folder": (
        "scripts/train.py",
        {"scripts/train.py": "from p.data import load\nflagged(load(2))", "p/data.py": DATA},
        "6",
        {"": "from p.data import load\nflagged(load(2))", "p/data.py": CUT},
    ),
    "options that a function hands to its parser": (
        "train.py",
        {
            "train.py": "import options\noptions.arg('--side', default=6)\nprint()\nflagged(options.parsed().side)",
            "options.py": OPTIONS,
        },
        "6",
        {"": "import options\noptions.arg('--side', default=6)\nflagged(options.parsed().side)", "options.py": OPTIONS},
    ),
    "import inside a function": (
        "train.py",
        {
            "train.py": "def main():\n    from data import load, show\n    flagged(load(2))\nmain()",
            "data.py": DATA,
        },
        "6",
        {"": "def main():\n    from data import load\n    flagged(load(2))\nmain()", "data.py": CUT},
    ),
    "names on several lines": (
        "train.py",
        {"train.py": "from data import (\n    show,\n    load as l,  # this\n)\nflagged(l(2))", "data.py": DATA},
        "6",
        {"": "from data import (\n    load as l,  # this\n)\nflagged(l(2))", "data.py": CUT},
    ),
    "libraries that the code does not need": (
        "train.py",
        {"train.py": "import os, not_there\nflagged(os.sep)", "other.py": ""},
        "/",
        {"": "import os\nflagged(os.sep)"},
    ),
    "base class": (
        "train.py",
        {
            "train.py": "from net import Net\nflagged(Net().size())",
            "net.py": "import not_there\nfrom base import Base, Other\nclass Net(Base):\n    pass",
            "base.py": "class Base:\n    def size(self):\n        return 7\nclass Other(not_there.X):\n    pass",
        },
        "7",
        {
            "": "from net import Net\nflagged(Net().size())",
            "net.py": "from base import Base\nclass Net(Base):\n    pass",
            "base.py": "class Base:\n    def size(self):\n        return 7",
        },
    ),
    "changed settings": (
        "train.py",
        {
            "train.py": "import config\nconfig.CONFIG['n'] += 2\nfrom config import CONFIG\nflagged(CONFIG['n'])",
            "config.py": "N = 4\nM = 1\nCONFIG = {'n': 3}\nCONFIG['n'] += M\nopen('not there')",
        },
        "6",
        {
            "": "import config\nconfig.CONFIG['n'] += 2\nfrom config import CONFIG\nflagged(CONFIG['n'])",
            "config.py": "M = 1\nCONFIG = {'n': 3}\nCONFIG['n'] += M",
        },
    ),
    "a module given away": (
        "train.py",
        {
            "train.py": "import config\ndef f(c):\n    return c.N\nflagged(f(config))",
            "config.py": "import not_there\nN = 4\nM = not_there.m\nif __name__ == '__main__':\n    print(N)",
        },
        "4",
        {"": "import config\ndef f(c):\n    return c.N\nflagged(f(config))", "config.py": "N = 4"},
    ),
    "called by another module": (
        "data.py",
        {
            "data.py": "import not_there\ndef f(n):\n    not_there.log()\n    flagged(n)\n",
            "run.py": "from data import f\ndef main():\n    open(1)\n    f(4)\nif __name__ == '__main__':\n    main()",
        },
        "4",
        {
            "": "from data import f\ndef main():\n    f(4)\nif __name__ == '__main__':\n    main()",
            "data.py": "def f(n):\n    flagged(n)",
        },
    ),
    "imported back": (
        "train.py",
        {
            "train.py": "import data\nN = 2\nif __name__ == '__main__':\n    flagged(data.load())",
            "data.py": "import train\ndef load():\n    return train.N",
        },
        "2",
        {
            "": "import data\nN = 2\nif __name__ == '__main__':\n    flagged(data.load())",
            "train.py": "import data\nN = 2\nif __name__ == '__main__':\n    flagged(data.load())",
            "data.py": "import train\ndef load():\n    return train.N",
        },
    ),
    "either of two": (
        "train.py",
        {
            "train.py": "try:\n    from c import load\nexcept Exception:\n    from data import load\nflagged(load(2))",
            "data.py": DATA,
        },
        "6",
        {
            "": "try:\n    from c import load\nexcept Exception:\n    from data import load\nflagged(load(2))",
            "data.py": CUT,
        },
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_program_holds_what_it_needs_of_other_modules(layout: str, tmp_path: Path) -> None:
    flagged, files, _, expected = LAYOUTS[layout]
    assert texts(planned(tmp_path, files, flagged)) == expected


@pytest.mark.parametrize("layout", LAYOUTS)
def test_imports_lead_there_when_it_runs(layout: str, tmp_path: Path) -> None:
    flagged, files, printed, _ = LAYOUTS[layout]
    made = planned(tmp_path / "project", files, flagged)
    assert output(made.pair.before, tmp_path / "work") == f"{printed}\n"


def test_both_programs_differ_by_the_repair_alone(tmp_path: Path) -> None:
    flagged, files, _, _ = LAYOUTS["called by another module"]
    made = planned(tmp_path, files, flagged).pair
    assert made.before.source == made.after.source
    assert dict(made.after.modules)["data.py"] == dict(made.before.modules)["data.py"].replace("flagged", "repaired")


def test_notes_name_the_modules_and_what_was_replaced_in_them(tmp_path: Path) -> None:
    data = """
        import numpy as np
        x = np.load("x.npy")  # tfmemlint: example x=float32[3]
        y = 5

        def load():
            for n in range(100):
                try:
                    return x
                except OSError as error:
                    print(error)
    """
    made = planned(tmp_path, {"train.py": "from p.data import load\nflagged(load())", "p/data.py": data})
    assert made.pair.replaced == (
        'x=float32[3] stands in for np.load("x.npy") in p/data.py',
        "p/data.py is cut to 3 of its 4 statements",
    )
    assert 'for n in tfmemlint_some(range(100), 2000, "6 of p/data.py"):' in texts(made)["p/data.py"]


def test_what_a_module_sets_for_tensorflow_stays_wherever_it_is_imported(tmp_path: Path) -> None:
    files = {
        "train.py": "import setup_run\nimport plots\nflagged(1)",
        "setup_run.py": "import not_there\nimport policy\nnot_there.log()",
        "policy.py": "import tensorflow as tf\ntf.keras.mixed_precision.set_global_policy('mixed_float16')\nx = 1",
        "plots.py": "import not_there",
    }
    assert texts(planned(tmp_path, files)) == {
        "": "import setup_run\nflagged(1)",
        "setup_run.py": "import policy",
        "policy.py": "import tensorflow as tf\ntf.keras.mixed_precision.set_global_policy('mixed_float16')",
    }


def test_a_related_place_in_another_module_stays(tmp_path: Path) -> None:
    files = {
        "train.py": "from data import names\nimport plots\nflagged(1)",
        "data.py": "import tensorflow as tf\nx = tf.zeros(3)\nnames = open('names').read()",
        "plots.py": "",
    }
    place = Elsewhere(str(tmp_path / "data.py"), 2, 5, 2, 13)
    made = texts(planned(tmp_path, files, related=place))
    assert made["data.py"].startswith("import tensorflow as tf\nx = tf.zeros(3)")
    assert made[""].startswith("from data import names\n") and "plots.py" not in made


def test_a_module_that_cannot_be_read_is_imported_as_it_is(tmp_path: Path) -> None:
    files = {"train.py": "import data\nfrom old import x\nflagged(x + data.N)", "data.py": "N = 1", "old.py": "print 1"}
    made = planned(tmp_path, files)
    assert texts(made) == {"": files["train.py"], "data.py": "N = 1"}
    assert made.pair.replaced == ("old.py is imported as it is",)


def test_a_project_of_many_modules_is_cut_in_part(tmp_path: Path) -> None:
    count = MOST_MODULES + 5
    files = {f"m{n}.py": f"import m{n + 1}\nimport not_there\ndef f():\n    return m{n + 1}.f()" for n in range(count)}
    files[f"m{count}.py"] = "def f():\n    return 8"
    made = planned(tmp_path / "project", {**files, "train.py": "import m0\nflagged(m0.f())"})
    assert len(made.pair.before.modules) == MOST_MODULES - 1
    assert f"m{MOST_MODULES - 1}.py is imported as it is" in made.pair.replaced


def test_too_much_text_is_refused(tmp_path: Path) -> None:
    names = [f"m{n}" for n in range(6)]
    files = {f"{name}.py": f"X = '{'x' * 900_000}'" for name in names}
    uses = "\n".join(f"import {name}" for name in names)
    with pytest.raises(PlanError, match="too large"):
        planned(tmp_path, {**files, "train.py": f"{uses}\nflagged({', '.join(f'{name}.X' for name in names)})"})


def test_modules_lie_in_the_project_s_own_layout(tmp_path: Path) -> None:
    root, work = tmp_path / "project", tmp_path / "work"
    for name in ("a/b/data.py", "a/b/table.csv", "a/other.py", "a/__pycache__/data.pyc", "images/1.png"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("old")
    work.mkdir()
    folders = lay_out(str(root), (("a/b/data.py", "new"),), (str(root / "a"), str(root), "/elsewhere"), str(work))
    top = work / PROJECT
    assert folders == [str(top / "a"), str(top), "/elsewhere"]
    assert (top / "a/b/data.py").read_text() == "new" and (root / "a/b/data.py").read_text() == "old"
    assert (top / "a/b/table.csv").read_text() == "old" and (top / "images/1.png").read_text() == "old"
    assert (top / "a/other.py").is_symlink() and not (top / "a/__pycache__").exists()


@pytest.mark.parametrize("path", ["../data.py", "/data.py", "a/../../data.py"])
def test_no_module_is_written_outside_of_the_run_s_folder(path: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="out of the project"):
        lay_out(str(tmp_path), ((path, ""),), (), str(tmp_path / "work"))


PLACES = ("m0", "p/m1", "p/q/m2", "m3")
STYLES = (
    "from {module} import {name} as {own}\n{own}",
    "import {module} as {own}\n{own}.{name}",
    "from {module} import *\n{name}",
)


@st.composite
def projects(draw: st.DrawFn) -> tuple[dict[str, str], int]:
    """A project whose modules use each other, each later one those before it, with code around that must not run;
    and the number that the flagged call prints."""
    files: dict[str, str] = {}
    values: dict[str, int] = {}
    places = ("p/__init__", *draw(st.permutations(PLACES)))  # runs first, whatever of the package is imported
    for number, place in enumerate((*places, "train")):
        lines, terms, total = ["import not_there", f"bad{number} = not_there.x"], [str(number + 1)], number + 1
        known = sorted(values)
        used = draw(st.lists(st.sampled_from(known), unique=True, max_size=3)) if known else []
        for n, name in enumerate(used):
            module = name_of(places[int(name[1:])])
            statement, _, use = (
                draw(st.sampled_from(STYLES)).format(module=module, name=name, own=f"own{number}_{n}").partition("\n")
            )
            lines.append(statement)
            terms.append(f"{use}()" if name.startswith("f") else use)
            total += values[name]
        kind = draw(st.sampled_from("fv")) if place != "train" else "-"
        if kind == "f":
            lines += [f"def f{number}():", f"    return {' + '.join(terms)}"]
        elif kind == "v":
            lines.append(f"v{number} = {' + '.join(terms)}")
        else:
            lines.append(f"flagged({' + '.join(terms)})")
        values[f"{kind}{number}"] = total
        files[f"{place}.py"] = "\n".join([*lines, "bad = not_there.y", ""])
    return files, total


def name_of(place: str) -> str:
    return place.removesuffix("/__init__").replace("/", ".")


@settings(max_examples=25, deadline=None)
@given(projects())
def test_any_project_s_program_computes_the_same_without_the_rest(
    tmp_path_factory: pytest.TempPathFactory, made: tuple[dict[str, str], int]
) -> None:
    files, total = made
    root = tmp_path_factory.mktemp("project")
    planned_ = planned(root, files)
    assert output(planned_.pair.before, root.parent / f"{root.name}-work") == f"{total}\n"
    assert not any("not_there" in text for text in texts(planned_).values())


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("X = 1", 0),
        ("X = tf.config.list_physical_devices('GPU')", 1),
        ("cards = tf.config.experimental.list_physical_devices('GPU')\nX = cards[0], cards[1], tf.rows[7]", 2),
    ],
)
def test_a_program_has_the_cards_that_its_modules_ask_for(text: str, count: int, tmp_path: Path) -> None:
    files = {"data.py": f"import tensorflow as tf\n{text}", "train.py": "import data\nflagged(data.X)"}
    assert planned(tmp_path, files).pair.before.simulated_gpus == count


def test_a_package_is_no_file_of_its_own_name(tmp_path: Path) -> None:
    """`from p.data import load` in `p/train.py`, beside `p/p.py`: such programs are started above the package."""
    for name in ("p.py", "data.py", "train.py"):
        path = tmp_path / "p" / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    folders, _ = import_path(str(tmp_path / "p" / "train.py"), str(tmp_path), 0, {"p"})
    assert folders[0] == str(tmp_path) and str(tmp_path / "p") not in folders
    folders, _ = import_path(str(tmp_path / "p" / "train.py"), str(tmp_path), 0, {"data"})
    assert folders[0] == str(tmp_path / "p")
    # `from .data import load` in `p/p.py`: the package is looked for where it lies.
    folders, package = import_path(str(tmp_path / "p" / "p.py"), str(tmp_path), 1)
    assert (folders[0], package) == (str(tmp_path), "p")


def test_what_a_return_annotation_names_is_kept(tmp_path: Path) -> None:
    head = "from typing import Tuple\nimport numpy as np\n"
    data = f"{head}def load() -> Tuple[int]:\n    return np.zeros((4000, 64, 64))\n"
    files = {"data.py": data, "train.py": "import data\nflagged(data.load())"}
    assert "from typing import Tuple" in dict(planned(tmp_path, files).pair.before.modules)["data.py"]


def test_a_star_takes_the_modules_that_a_package_lists(tmp_path: Path) -> None:
    files = {
        "pack/__init__.py": '__all__ = ["data", "other"]\n',
        "pack/data.py": "import numpy as np\nX = np.zeros((4000, 64, 64))\n",
        "pack/other.py": "",
        "train.py": "from pack import *\nflagged(data.X)",
    }
    before = planned(tmp_path, files).pair.before
    assert "from pack import *" in before.source
    assert dict(before.modules)["pack/__init__.py"].strip() == '__all__ = ["data", "other"]'
    assert "X = np.zeros" in dict(before.modules)["pack/data.py"]
