"""A virtual environment for each tool, with pinned versions, so that none finds the plugins or packages of another."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PINNED = {
    "flake8": ("flake8==7.5.0",),
    "ruff": ("ruff==0.17.6",),
    "fixit": ("fixit==2.2.1",),
    "torchfix": ("torchfix==0.7.0",),
    "pylint": ("pylint==4.1.4",),
}
OURS = ("libcst==1.9.0",)
"""What stands beside tfmemlint, and parses alone in the same environment."""
_SOURCE = ("tfmemlint", "rules", "fixtures", "pyproject.toml", "README.md", "LICENSE")
_ASK = """
import importlib.metadata as metadata, json, sys
print(json.dumps({name: metadata.version(name) for name in sys.argv[1:]}))
"""


@dataclass(frozen=True)
class Environment:
    """Where a tool is installed."""

    folder: Path
    """The folder of its programs."""
    python: str
    """The path of its Python."""

    def program(self, name: str) -> str:
        """The path of a program."""
        return str(self.folder / name)

    def versions(self, packages: Sequence[str]) -> dict[str, str]:
        """The versions of some packages that are installed in it."""
        done = subprocess.run([self.python, "-c", _ASK, *packages], stdout=subprocess.PIPE, check=True)
        found: dict[str, str] = json.loads(done.stdout)
        return found


HERE = Environment(Path(sys.executable).parent, sys.executable)
"""The environment of this process."""


def made(folder: Path, name: str) -> Environment:
    """The environment of a peer below `folder`; one that has what is pinned already stays as it is."""
    return _made(folder / name, PINNED[name])


def wheel(folder: Path) -> Path:
    """This checkout as a wheel below `folder`, built of a copy, as building leaves files behind."""
    with tempfile.TemporaryDirectory() as source:
        for name in _SOURCE:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, Path(source, name), ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, source)
        shutil.rmtree(folder / "wheel", ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder / "wheel")]
        subprocess.run([*pip, source], check=True)
    return next((folder / "wheel").glob("*.whl"))


def ours(folder: Path, built: Path, plugin: bool = False) -> Environment:
    """An environment with a wheel of this checkout, which has the same version each time, and with `plugin` flake8."""
    packages = (*OURS, *(PINNED["flake8"] if plugin else ()))
    environment = _made(folder / ("flake8-tfmemlint" if plugin else "tfmemlint"), packages)
    _pip(environment, [str(built)])
    _pip(environment, ["--force-reinstall", "--no-deps", str(built)])
    return environment


def _made(folder: Path, packages: Sequence[str]) -> Environment:
    environment, mark = Environment(folder / "bin", str(folder / "bin" / "python")), folder / "installed"
    if not mark.exists() or mark.read_text("utf-8") != "\n".join(packages):
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        _pip(environment, packages)
        mark.write_text("\n".join(packages), "utf-8")
    return environment


def _pip(environment: Environment, words: Sequence[str]) -> None:
    pip = [environment.python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, *words], check=True)
