"""`tfmemlint doctor`: what is installed and in effect here, and what is amiss."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, entry_points, version

from tfmemlint import __version__
from tfmemlint.cli.arguments import Parser
from tfmemlint.cli.output import tolerant
from tfmemlint.config.settings import Config, ConfigError, Configs
from tfmemlint.config.toml import LARGEST, read_toml
from tfmemlint.files.bounded_read import read_regular
from tfmemlint.shown import shown

OK, NOTE, WRONG = "ok", "note", "wrong"

_EXTRAS = {
    "server": ("pygls", "lsp"),
    "check --watch": ("watchfiles", "watch"),
    "completion": ("shtab", "completion"),
}
"""What needs a package that need not be there: the package and the extra that brings it."""

_DESCRIPTION = """Say what is installed and in effect here: versions, configuration, rule packs, flake8 and ruff, and
for verify TensorFlow, graphics cards and containment. Nothing of the project runs and TensorFlow is not imported.
exit codes: 0 nothing is amiss, 1 something is."""


@dataclass(frozen=True)
class Line:
    """One thing that was looked at: `state` is ok, note (nothing that linting needs) or wrong."""

    what: str
    state: str
    found: str


def doctor_parser() -> Parser:
    """The parser of `doctor`."""
    parser = Parser("tfmemlint doctor", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("path", nargs="?", default=".", metavar="PATH", help="the project to look at (default: .)")
    parser.add_argument("--python", default=sys.executable, metavar="FILE", help="the interpreter for verify")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    return parser


def doctor(words: Sequence[str]) -> int:
    """Print a line for each thing that is looked at; 1 where one is wrong, else 0."""
    options = doctor_parser().parse_args(words)
    if not os.path.exists(options.path):
        doctor_parser().error(f"{options.path}: no such file or directory")
    lines = list(_lines(os.path.abspath(options.path), options.python))
    with tolerant(sys.stdout) as out:
        if options.output_format == "json":
            out.write(json.dumps([asdict(line) for line in lines], indent=2) + "\n")
        else:
            width = max(len(line.what) for line in lines)
            out.writelines(f"{line.state:7}{line.what:{width}}  {shown(line.found)}\n" for line in lines)
    return int(any(line.state == WRONG for line in lines))


def _lines(path: str, python: str) -> Iterator[Line]:
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    where = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield Line("tfmemlint", OK, f"{__version__} in {where}")
    yield Line("Python", OK, f"{platform.python_version()} on {sys.platform}: {sys.executable}")
    yield Line("libcst", OK, _version("libcst") or "unknown version")
    yield from _configuration(path, folder)
    yield from _packs()
    yield _flake8()
    yield from _ruff(folder)
    for what, (package, extra) in _EXTRAS.items():
        found = _version(package)
        missing = f"needs {package}: pip install 'tfmemlint[{extra}]'"
        yield Line(what, OK if found else NOTE, f"{package} {found}" if found else missing)
    from tfmemlint.cli.machine import machine

    for what, fine, said in machine(python):
        yield Line(what, OK if fine else NOTE, said)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _configuration(path: str, folder: str) -> Iterator[Line]:
    from tfmemlint.lint.registry import RegistryError, load_rules, select

    try:
        config: Config = Configs().for_directory(folder)
        chosen = select(load_rules(), config)
    except ConfigError as error:
        yield Line("configuration", WRONG, str(error))
        return
    except RegistryError:  # told with the packs
        return
    source = config.path or "none found; the defaults hold"
    yield Line("configuration", OK, f"{source}: {len(chosen)} of {len(load_rules())} rules")
    if config.baseline and not os.path.exists(config.resolve(config.baseline)):
        missing = f"{config.resolve(config.baseline)} is not there; `tfmemlint check --write-baseline` makes it"
        yield Line("baseline", WRONG, missing)


def _packs() -> Iterator[Line]:
    from tfmemlint.lint.registry import RegistryError, load_rules, packs

    try:
        rules = load_rules()
    except RegistryError as error:
        yield Line("rule packs", WRONG, str(error))
        return
    counted = Counter(type(rule).__module__.partition(".")[0] for rule in rules)
    for point in packs():
        count = counted[point.value.partition(".")[0]]
        brought = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        yield Line(f"rule pack {point.name}", OK if count else WRONG, f"{count} rules, of {brought}")


def _flake8() -> Line:
    """Whether flake8, where it is installed beside us, finds the plugin."""
    found = _version("flake8")
    if found is None:
        return Line("flake8", NOTE, "not installed in this environment")
    if any(point.value.startswith("tfmemlint.") for point in entry_points(group="flake8.extension")):
        return Line("flake8", OK, f"{found}, with the plugin")
    return Line("flake8", WRONG, f"{found} does not find the plugin; install tfmemlint anew with pip")


def _ruff(folder: str) -> Iterator[Line]:
    """Whether the nearest configuration of ruff, where there is one, knows that `noqa: TFM...` is ours."""
    while True:
        for name in (".ruff.toml", "ruff.toml", "pyproject.toml"):
            path = os.path.join(folder, name)
            if (table := _ruff_table(path)) is not None:
                known = any("TFM".startswith(each) for each in _external(table))
                where = "[tool.ruff.lint]" if name == "pyproject.toml" else "[lint]"
                advice = f'add external = ["TFM"] to {where}, or ruff deletes comments such as `noqa: TFM305`'
                yield Line("ruff", OK if known else NOTE, f"{path}: {'knows our codes' if known else advice}")
                return
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _ruff_table(path: str) -> dict[str, object] | None:
    """The settings of ruff in a file; None where it has none, or cannot be read."""
    if not os.path.isfile(path):
        return None
    try:
        table = read_toml(read_regular(path, LARGEST))
    except (OSError, ValueError):
        return None
    if os.path.basename(path) != "pyproject.toml":
        return table
    tool = table.get("tool")
    found = tool.get("ruff") if isinstance(tool, dict) else None
    return found if isinstance(found, dict) else None


def _external(table: dict[str, object]) -> Iterator[str]:
    """The starts of codes that ruff leaves to others."""
    lint = table.get("lint")
    for found in (table, lint if isinstance(lint, dict) else {}):
        listed = found.get("external")
        yield from (each for each in listed if isinstance(each, str) and each) if isinstance(listed, list) else ()
