"""The tools that are compared, and how each is told to read some files, without anybody's configuration."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from benchmarks import environments
from benchmarks.environments import Environment
from benchmarks.processes import Command

PARSE = Path(__file__).with_name("parse.py")


@dataclass(frozen=True)
class Tool:
    """A tool, or one way to run it."""

    name: str
    title: str
    """What it is called on the page."""
    environment: str
    """The environment that it is in."""
    words: Sequence[str]
    """Program and arguments; `{jobs}` and `{cache}` stand for what is asked for, and the files come last."""
    cache: Sequence[str] = ()
    """The arguments that let it keep results in the folder `{cache}`."""
    no_cache: Sequence[str] = ()
    codes: Sequence[int] = (0, 1)
    turns: int | None = None
    most_lines: int | None = None
    """Files with more lines than this are not given to it, as it would take too long."""
    notebooks: Literal["all", "told", "none"] = "none"
    """Whether it reads all notebooks, or those that name their language. For others their programs are written."""
    marker: str = ""
    """What a file must name for the tool to look into it."""
    keeps_in: str = ""
    """The folder, below the one that it runs in, in which it keeps results whatever it is told."""


_RUFF = ("ruff", "check", "--isolated", "--quiet", "--no-respect-gitignore", "--config", "exclude=[]")
_KEPT, _NOT_KEPT = ("--cache-dir", "{cache}"), ("--no-cache",)
_CHECK = (
    *("check", "--isolated", "--no-respect-gitignore", "--config", "exclude = []"),
    *("--output-format", "json", "--jobs", "{jobs}"),
)
LIBCST = Tool("libcst", "libcst, parse only", "tfmemlint", ("python", "-I", str(PARSE)), codes=(0,))
OURS = Tool(
    "tfmemlint", "tfmemlint", "tfmemlint", ("tfmemlint", *_CHECK), _KEPT, _NOT_KEPT, codes=(0, 1, 2), notebooks="all"
)
"""Exit code 2 is that of a file that does not parse, of which trees have some."""
RUFF = Tool("ruff", "ruff, `F` rules", "ruff", (*_RUFF, "--select", "F"), _KEPT, _NOT_KEPT, notebooks="told")
RUFF_ALL = Tool("ruff-all", "ruff, all rules", "ruff", (*_RUFF, "--select", "ALL"), _KEPT, _NOT_KEPT, notebooks="told")
FLAKE8 = Tool("flake8", "flake8", "flake8", ("flake8", "--isolated", "--jobs", "{jobs}"))
WITH_PLUGIN = Tool(
    "flake8-tfmemlint", "flake8 with tfmemlint", "flake8-tfmemlint", FLAKE8.words, keeps_in=".tfmemlint_cache"
)
FIXIT = Tool(
    "fixit",
    "Fixit",
    "fixit",
    ("fixit", "--quiet", "lint"),
    codes=range(4),  # a sum: something was found, a file could not be read
    turns=1,
    most_lines=45_000,
)
TORCHFIX = Tool(
    "torchfix", "TorchFix", "torchfix", ("torchfix", "-j", "{jobs}"), turns=1, most_lines=45_000, marker="torch"
)
PYLINT = Tool(
    "pylint",
    "pylint",
    "pylint",
    ("pylint", "--rcfile=/dev/null", "--persistent=n", "-j", "{jobs}"),
    codes=range(32),  # a sum of what kinds of messages there were
    turns=1,
    most_lines=15_000,
)
PEERS = (LIBCST, OURS, RUFF, RUFF_ALL, FLAKE8, FIXIT, TORCHFIX, PYLINT)
PACKAGES = {"tfmemlint": ("tfmemlint", "libcst"), "torchfix": ("torchfix", "libcst"), "fixit": ("fixit", "libcst")}
"""Whose versions are told of an environment, where it is not the package of its name alone."""


@dataclass
class Toolbox:
    """The tools that are here, and the folder in which they may keep what they like."""

    work: Path
    environments: dict[str, Environment] = field(default_factory=dict)

    def has(self, tool: Tool) -> bool:
        """Whether a tool can be run."""
        return tool.environment in self.environments

    def cache(self, tool: Tool) -> Path:
        """The folder of a tool's cache."""
        return self.work / "caches" / tool.name

    def command(self, tool: Tool, files: Sequence[str], cwd: Path, jobs: int = 1, kept: bool = False) -> Command:
        """The command that lets a tool read files; with `kept` it may use its cache."""
        words = [*tool.words, *(tool.cache if kept else tool.no_cache)]
        filled = [word.format(jobs=jobs, cache=self.cache(tool)) for word in words]
        environment = self.environments[tool.environment]
        program = environment.python if filled[0] == "python" else environment.program(filled[0])
        before = None
        if tool.keeps_in and not kept:
            before = partial(shutil.rmtree, cwd / tool.keeps_in, ignore_errors=True)
        return Command([program, *filled[1:], *files], cwd, tool.codes, before, turns=tool.turns)

    def versions(self) -> dict[str, str]:
        """The version of each tool, and in brackets that of the libcst which it brings."""
        found = {}
        for name, environment in self.environments.items():
            if name != "flake8-tfmemlint":
                (version, *others) = environment.versions(PACKAGES.get(name, (name,))).values()
                found[name] = f"{version} (libcst {others[0]})" if others else version
        return found


def toolbox(work: Path) -> Toolbox:
    """All tools, each in an environment of its own below `work`."""
    folder = work / "environments"
    made = {name: environments.made(folder, name) for name in environments.PINNED}
    built = environments.wheel(folder)
    made["tfmemlint"] = environments.ours(folder, built)
    made["flake8-tfmemlint"] = environments.ours(folder, built, plugin=True)
    return Toolbox(work, made)


def here(work: Path) -> Toolbox:
    """The tools that are installed beside this Python, without a look at the network."""
    names = ["tfmemlint", *(["ruff"] if Path(environments.HERE.program("ruff")).exists() else [])]
    return Toolbox(work, dict.fromkeys(names, environments.HERE))
