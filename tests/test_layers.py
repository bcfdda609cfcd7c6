"""The layers of the package: who may import whom, what is imported only when it is needed, and what never is."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import tfmemlint_rules

import tfmemlint

PACKAGE = Path(tfmemlint.__path__[0])
RULES = Path(tfmemlint_rules.__path__[0])

# What each part of the package may import of the package; parts that are not named here are drivers and may import
# everything but the tools for developers.
MAY_IMPORT = {
    "finding": set(),
    "units": set(),
    "prefilter": set(),
    "selectors": {"units"},
    "patterns": set(),
    "toml": set(),
    "probe": {"model.knowledge"},
    "model": {"finding", "units"},
    "rule": {"finding"},
    "api": {"finding", "model", "rule", "units"},
    "replace_file": set(),
    "fix": {"bounded_read", "finding", "model", "replace_file"},
    "config_paths": {"units"},
    "config": {"bounded_read", "config_paths", "finding", "selectors", "shown", "toml", "units"},
    "registry": {"__init__", "config", "patterns", "rule", "selectors"},
    "directives": {"finding", "model", "selectors"},
    "reaches": {"directives", "finding"},
    "suppress": {"directives", "finding", "model", "reaches", "selectors"},
    "dispatch": {"finding", "model", "rule"},
    "bounded_read": set(),
    "own_folder": {"bounded_read"},
    "shown": set(),
    "parsing": {"finding", "model"},
    "engine": {
        *("config", "deep", "dispatch", "finding", "model", "parsing", "prefilter", "registry", "rule"),
        *("selectors", "suppress"),
    },
    "deep": set(),
    "usage": set(),
    "work": {"bounded_read", "cache", "config", "diff_base", "discover", "engine", "finding", "linter", "repair"},
    "processes": {"deep", "work"},
    "runner": {
        *("cache", "config", "deep", "discover", "engine", "linter", "prefilter", "processes", "registry", "repair"),
        "work",
    },
    "report": {"__init__", "baseline", "finding", "model", "selectors", "shown", "units"},
    "verify": {
        *("__init__", "config", "engine", "finding", "fix", "model", "selectors", "units"),
        *("cli_arguments", "cli_output", "discover", "linter", "registry", "report", "usage"),
    },
    "tfmemlint_rules": {"api", "finding", "fix.chains", "fix.edits", "fix.hoist", "model"},
}
# What they may name in annotations besides.
MAY_ANNOTATE = {
    "model": {"config"},
    "rule": {"model"},
    "dispatch": {"config"},
    "report": {"engine", "config"},
}
FOR_DEVELOPERS = ("dev", "testing")
# libcst's own visitors and metadata rebuild or annotate the whole tree, at a tenth of the speed of our index.
TOO_SLOW = ("CSTVisitor", "CSTTransformer", "MetadataWrapper", "matchers", "codemod", "metadata")
# The only modules that import what they examine, always in a process of their own.
EXECUTES = ("tfmemlint/dev/probe/", "tfmemlint/verify/child/")


MODULES = [*sorted(PACKAGE.rglob("*.py")), *sorted(RULES.glob("*.py"))]
every_module = pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(path.parents[1]).as_posix())


def part_of(path: Path) -> str:
    """The part of the package to which a module belongs: `finding`, `model`, ..."""
    if path.is_relative_to(PACKAGE):
        return path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "tfmemlint_rules"


def imports(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """The imported modules, and whether for type checkers alone."""
    for_types = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for child in node.body
        for inner in ast.walk(child)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node in for_types) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node in for_types
            yield from ((f"{node.module}.{alias.name}", node in for_types) for alias in node.names)


def within(module: str, parts: set[str]) -> bool:
    return any(module == part or module.startswith(f"{part}.") for part in parts)


@every_module
def test_imports_point_one_way(path: Path) -> None:
    part = part_of(path)
    for name, for_types in imports(ast.parse(path.read_text("utf-8"))):
        if not name.startswith("tfmemlint."):
            continue
        module = name.removeprefix("tfmemlint.")
        if not (PACKAGE / module.split(".")[0]).is_dir() and not (PACKAGE / f"{module.split('.')[0]}.py").exists():
            module = "__init__"
        if not part.startswith(FOR_DEVELOPERS):
            assert not module.startswith(FOR_DEVELOPERS), f"{path.name} imports {name}, a tool for developers"
        if part in MAY_IMPORT and not within(module, {part}):
            allowed = MAY_IMPORT[part] | (MAY_ANNOTATE.get(part, set()) if for_types else set())
            if for_types or not is_prefix_of_any(module, allowed):
                assert within(module, allowed), f"{path.name} imports {name}; {part} may import only {sorted(allowed)}"


def is_prefix_of_any(module: str, allowed: set[str]) -> bool:
    """Whether this is the package of something allowed, as `fix` is of `fix.edits`."""
    return any(part.startswith(f"{module}.") for part in allowed)


@every_module
def test_modules_use_no_slow_or_executing_machinery(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    for name, _ in imports(tree):
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
    assert "tfmemlint.lint.engine" in loaded
    assert not any(name.split(".")[0] in ("libcst", "tfmemlint_rules", "rich") for name in loaded)


def test_files_without_a_word_of_any_rule_are_not_parsed(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("import tensorflow as tf\nversion = tf.__version__\n")
    no_parser = "import libcst\nlibcst.parse_module = None\n"
    loaded_after(no_parser + CHECK, str(path))
    path.write_text("import tensorflow as tf\nds = tf.data.Dataset.range(9).cache()\n")
    with pytest.raises(AssertionError):
        loaded_after(no_parser + CHECK, str(path))
