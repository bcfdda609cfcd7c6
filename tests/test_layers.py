"""The layers of the package: who may import whom, what is imported only when it is needed, and what never is."""

import ast
import subprocess
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

import pytest
import tfmemlint_fixtures
import tfmemlint_rules

import tfmemlint
from tfmemlint.dev import layers

PACKAGE = Path(tfmemlint.__path__[0])
RULES = Path(tfmemlint_rules.__path__[0])
# libcst's own visitors and metadata rebuild or annotate the whole tree, at a tenth of the speed of our index.
TOO_SLOW = ("CSTVisitor", "CSTTransformer", "MetadataWrapper", "matchers", "codemod", "metadata")
# The only modules that import what they examine, always in a process of their own.
EXECUTES = ("tfmemlint/dev/probe/", "tfmemlint/verify/child/")


MODULES = [*sorted(PACKAGE.rglob("*.py")), *sorted(RULES.glob("*.py"))]
every_module = pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(path.parents[1]).as_posix())


def test_imports_point_one_way() -> None:
    assert layers.wrong() == []


def test_no_import_comes_back_to_its_module() -> None:
    assert layers.circles(layers.between_modules()) == []
    assert layers.circles({part.name: part.imports for part in layers.parts().values()}) == []


def test_the_top_is_small() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 10


def test_the_layers_are_printed_from_the_ground_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert layers.layers() == 0
    names = [line.split()[1] for line in capsys.readouterr().out.splitlines()[:-1]]
    assert names.index("text") < names.index("model") < names.index("api") < names.index("cli") < names.index("dev")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A package of two packages, of which the lower one imports nothing yet."""
    root = tmp_path / "tfmemlint"
    for name, may in (("below", "nothing of the package"), ("above", "`below`")):
        (root / name).mkdir(parents=True)
        (root / name / "__init__.py").write_text(f'"""A part. May import {may}."""\n')
    (root / "above" / "a.py").write_text("from tfmemlint.below import b\n")
    (root / "below" / "b.py").touch()
    return root


def test_a_wrong_import_is_named(small: Path) -> None:
    assert layers.wrong(small) == []
    (small / "below" / "b.py").write_text("from tfmemlint.above.a import b\n")
    assert layers.wrong(small) == ["tfmemlint.below.b imports tfmemlint.above.a; `below` may import nothing"]
    assert layers.circles(layers.between_modules(small)) == [["tfmemlint.above.a", "tfmemlint.below.b"]]
    with pytest.raises(ValueError, match="a circle of imports among above, below"):
        list(layers.floors(layers.parts(small)))


def test_a_package_must_say_what_it_may_import(small: Path) -> None:
    (small / "below" / "__init__.py").write_text('"""A part."""\n')
    with pytest.raises(ValueError, match=r"below/__init__\.py does not say"):
        layers.parts(small)


@pytest.mark.parametrize("path", sorted(RULES.glob("*.py")), ids=lambda path: path.stem)
def test_rules_import_the_api_and_what_is_their_own(path: Path) -> None:
    """As those of any pack: nothing else of the tool, and of the rules only a private module of the rule's own name."""
    for name, _ in layers.named(ast.parse(path.read_text("utf-8"))):
        if name.startswith("tfmemlint."):
            assert name.startswith("tfmemlint.api."), f"{path.name} imports {name}"
        if name.startswith("tfmemlint_rules."):
            assert name.split(".")[1] == f"_{path.stem}", f"{path.name} imports {name}"


@every_module
def test_modules_use_no_slow_or_executing_machinery(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    for name, _ in layers.named(tree):
        assert not (name.startswith("libcst.") and name.split(".")[1] in TOO_SLOW), f"{path.name} uses {name}"
        if not any(text in path.as_posix() for text in EXECUTES):
            assert name.split(".")[0] not in ("tensorflow", "keras", "tf_keras", "numpy"), f"{path.name} imports {name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("cst", "libcst"):
            assert node.attr not in TOO_SLOW, f"{path.name} uses libcst.{node.attr}"


def test_all_packages_are_installed() -> None:
    """A wheel holds every package of the checkout."""
    setup = (PACKAGE.parent / "pyproject.toml").read_text("utf-8")
    folders = {PACKAGE, *(path.parent for path in PACKAGE.rglob("*.py"))}
    for folder in folders:
        name = folder.relative_to(PACKAGE.parent).as_posix().replace("/", ".")
        assert f'"{name}"' in setup, f"pyproject.toml: [tool.setuptools] packages lacks {name}"


def test_of_the_samples_only_measured_programs_are_installed() -> None:
    """The names of all others keep setuptools from taking them for packages, and from a warning about each."""
    root = Path(tfmemlint_fixtures.__path__[0])
    setup = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    installed = {path for pattern in setup["package-data"]["tfmemlint_fixtures"] for path in root.glob(pattern)}
    assert {path.name for path in installed} == {"case.toml", "measure_bad.py", "measure_good.py"}
    assert {path.parent for path in installed} == {path.parent for path in root.glob("*/measure_bad.py")}
    assert sum(path.stat().st_size for path in installed) < 100_000
    assert [path.name for path in root.iterdir() if path.is_dir() and path.name.isidentifier()] in ([], ["__pycache__"])


def loaded_after(code: str, *arguments: str) -> set[str]:
    """The names of the modules that a Python process has loaded after this code."""
    code += "\nimport sys\nprint('\\n', *sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_entry_points_load_nothing_heavy() -> None:
    loaded = loaded_after("import tfmemlint.cli, tfmemlint.flake8_plugin, tfmemlint.fix.apply, tfmemlint.report.text")
    assert not loaded & {"libcst", "rich", "tfmemlint_rules", "tensorflow", "numpy", "pathspec", "tfmemlint.model.file"}


CHECK = (
    "import sys\nfrom tfmemlint.cli import main\nassert main(['check', '--isolated', '--no-cache', sys.argv[1]]) == 0"
)


def test_files_without_tensorflow_load_neither_libcst_nor_rules(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("import os\nprint(os.name)\n")
    loaded = loaded_after(CHECK, str(path))
    assert "tfmemlint.run.runner" in loaded
    assert not any(name.split(".")[0] in ("libcst", "tfmemlint_rules", "rich", "hashlib") for name in loaded)
    assert not loaded & {"tfmemlint.lint.engine", "tfmemlint.project.projects", "tfmemlint.text.limits"}


def test_estimates_load_neither_rules_nor_what_was_not_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import tensorflow as tf\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(3)])\n"
        "model.compile('sgd', 'mse')\nmodel.fit(tf.zeros((64, 5)), tf.zeros((64, 3)))\n"
    )
    loaded = loaded_after(CHECK.replace("'check', '--isolated', '--no-cache'", "'estimate', '--isolated'"), str(path))
    assert {"tfmemlint.estimate.engine", "libcst"} <= loaded
    assert not any(name.split(".")[0] in ("tfmemlint_rules", "rich", "tempfile") for name in loaded)
    assert not any(name.startswith(("libcst.matchers", "libcst.codemod", "tfmemlint.verify")) for name in loaded)
    assert not loaded & {"tfmemlint.rule", "tfmemlint.lint.git", "tfmemlint.cli.estimate.older"}


def test_files_in_which_nothing_is_found_are_not_parsed(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    no_parser = "import libcst\nlibcst.parse_module = None\n"
    for program in ("version = tf.__version__\n", "ds = tf.data.Dataset.range(9).cache()\n"):
        path.write_text(f"import tensorflow as tf\n{program}")
        loaded_after(no_parser + CHECK, str(path))
    path.write_text(f"{path.read_text()}match ds:\n    case 1:\n        pass\n")
    with pytest.raises(AssertionError):  # what the first pass has no tree of
        loaded_after(no_parser + CHECK, str(path))
