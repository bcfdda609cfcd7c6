"""The arguments of `tfmemlint check`, and the settings that they stand for."""

from __future__ import annotations

import argparse
import difflib
import os
from collections.abc import Sequence
from typing import Any, NoReturn

from tfmemlint.cli.usage import UsageError
from tfmemlint.config.selectors import Layer
from tfmemlint.config.settings import Configs, OutputFormat
from tfmemlint.finding import Severity
from tfmemlint.run.shards import Shard
from tfmemlint.units import Size, parse_size

# Their value is optional and must be joined with `=`, so that a path after them is a path.
_JOINED = ("--add-ignore", "--write-baseline", "--verify")


_NEED_FILES = (
    "--add-ignore", "--write-baseline", "--diff-base", "--verify", "--watch", "--timings", "--shard", "--executor",
)  # fmt: skip

# `--name` and `--no-name`; where neither is given the configuration decides.
_Flag = argparse.BooleanOptionalAction


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are one line, with the nearest option for one that is not known."""

    def error(self, message: str) -> NoReturn:
        _, _, words = message.partition("unrecognized arguments: ")
        wrong = next((word.partition("=")[0] for word in words.split() if word.startswith("-")), "")
        near = difflib.get_close_matches(wrong, self._option_string_actions, 1, 0.7) if wrong else []
        hint = f"did you mean {near[0]}?" if near else f"`{self.prog} --help` shows how"
        raise UsageError(f"{message}; {hint}")


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Read the arguments of `check`. Raises UsageError for wrong ones."""
    options = check_parser().parse_args([f"{word}=" if word in _JOINED else word for word in words])
    options.paths = options.paths or (["-"] if options.stdin_filename else ["."])
    options.inline = tuple(each for each in options.config if "=" in each and not os.path.exists(each))
    files = [each for each in options.config if each not in options.inline]
    if len(files) > 1:
        raise UsageError(f"--config names two files, {files[0]} and {files[1]}; name one")
    options.config_file = files[0] if files else None
    _refuse_contradictions(options)
    return options


def _refuse_contradictions(options: argparse.Namespace) -> None:
    modes = {
        "--fix": options.fix and not options.diff,
        "--diff": options.diff,
        "--add-ignore": options.add_ignore is not None,
        "--write-baseline": options.write_baseline is not None,
    }
    chosen = [name for name, given in modes.items() if given]
    if options.write_baseline is not None and options.diff_base:
        chosen = ["--write-baseline", "--diff-base"]  # it would accept a part of each file and forget the rest
    if options.verify is not None and chosen not in ([], ["--write-baseline"]):
        chosen = ["--verify", chosen[0]]  # it marks what is left to decide, and these have decided
    if options.watch and chosen in (["--add-ignore"], ["--write-baseline"]):
        chosen = ["--watch", *chosen]  # they accept what is there now, once
    if options.isolated and options.config_file:
        chosen = ["--isolated", "--config FILE"]
    if options.part is not None and options.shard is None:
        raise UsageError("--part is what one shard found; it needs --shard")
    if options.shard is not None and options.write_baseline is not None:
        chosen = ["--write-baseline", "--shard"]  # it would accept a part of the findings and forget the rest
    if options.part is not None and (options.verify is not None or chosen):
        chosen = ["--part", "--verify" if options.verify is not None else chosen[0]]
    if options.executor and options.fix and not options.diff:
        chosen = ["--executor", "--fix"]  # repairs are written where they are asked for
    if options.timings and chosen in (["--add-ignore"], ["--write-baseline"]):
        raise UsageError(f"--timings is about a report; it cannot be used with {chosen[0]}")
    if len(chosen) > 1:
        raise UsageError(f"{chosen[0]} and {chosen[1]} cannot be used together; leave one of them out")
    if "-" in options.paths:
        if len(options.paths) > 1:
            raise UsageError("- (standard input) and files cannot be read together; name one or the other")
        for name in _NEED_FILES:
            if name in chosen or getattr(options, name[2:].replace("-", "_")) not in (None, False):
                raise UsageError(f"{name} needs files; it cannot be used with standard input")


def configs(options: argparse.Namespace) -> Configs:
    """The configurations in effect under these arguments. Raises ConfigError."""
    return Configs(file=options.config_file, isolated=options.isolated, inline=options.inline, overrides=_set(options))


def _set(options: argparse.Namespace) -> dict[str, Any]:
    """The settings that the command line makes, by field name."""
    names = (
        "fix", "unsafe_fixes", "show_fixes", "preview", "exclude", "extend_exclude", "force_exclude",
        "include_markdown", "respect_gitignore", "least_cost", "min_bytes", "max_tensor", "gpu_memory", "fail_on",
        "output_format",
    )  # fmt: skip
    made: dict[str, Any] = {name: value for name in names if (value := getattr(options, name)) is not None}
    for name in ("exclude", "extend_exclude"):
        if name in made:
            made[name] = tuple(_from_here(pattern) for pattern in made[name])
    for name in ("baseline", "cache_dir"):
        if value := getattr(options, name):
            made[name] = os.path.abspath(value)
    made["command_line"] = Layer(
        select=options.select, extend_select=options.extend_select or (), ignore=options.ignore or ()
    )
    return made


def _from_here(pattern: str) -> str:
    """A pattern with a directory in it, which speaks of the working directory and not of a configuration's."""
    if "/" not in pattern.rstrip("/") or pattern.startswith(("!", "**")):
        return pattern
    return f"{os.getcwd().replace(os.sep, '/')}/{pattern.removeprefix('./').removeprefix('/')}"


class _Listed(argparse.Action):
    """Values parted by commas, of all the times that the option is given."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        before = getattr(namespace, self.dest) or ()
        words = tuple(word.strip() for word in values.split(",") if word.strip())
        if not words:
            parser.error(f"argument {option_string}: expected at least one value")
        setattr(namespace, self.dest, before + words)


def _size(text: str) -> Size:
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def jobs_of(text: str) -> int:
    """A number of processes; 0 for `auto`. Raises ArgumentTypeError."""
    if text == "auto":
        return 0
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes; write one, or auto")
    return int(text)


def _shard(text: str) -> Shard:
    try:
        return Shard.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _severity(text: str) -> Severity:
    try:
        return Severity(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is none of error, warning, info") from None


def check_parser() -> argparse.ArgumentParser:
    """The parser of `check`."""
    parser = Parser(
        "tfmemlint check",
        usage="tfmemlint check [OPTION ...] [PATH ...]",
        description="Lint files and directories; the working directory where none is named.",
        allow_abbrev=False,
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and directories, or - for standard input")
    _add_rules(parser.add_argument_group("rules"))
    _add_repairs(parser.add_argument_group("repairs"))
    _add_gates(parser.add_argument_group("what counts"))
    _add_output(parser.add_argument_group("output"))
    _add_files(parser.add_argument_group("files and configuration"))
    return parser


def _add_rules(group: argparse._ArgumentGroup) -> None:
    rules = "codes, starts of codes, names, ALL or ADVICE, parted by commas"
    group.add_argument("--select", action=_Listed, metavar="RULES", help=f"run these rules only ({rules})")
    group.add_argument("--extend-select", action=_Listed, metavar="RULES", help="run these rules too")
    group.add_argument("--ignore", "--extend-ignore", action=_Listed, metavar="RULES", help="do not run these rules")
    group.add_argument("--preview", action=_Flag, help="run the advice rules too, which are off by default")


def _add_repairs(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--fix", action=_Flag, help="apply safe fixes")
    group.add_argument("--unsafe-fixes", action=_Flag, help="apply unsafe fixes too, with --fix or --diff")
    group.add_argument("--diff", action="store_true", help="print what --fix would change, and change nothing")
    group.add_argument("--show-fixes", action=_Flag, help="list what was fixed")
    group.add_argument("--add-ignore", metavar="[=REASON]", help="write an ignore comment for each finding")


def _add_gates(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--fail-on", type=_severity, metavar="SEVERITY", help="error, warning (default) or info")
    group.add_argument("--exit-zero", action="store_true", help="exit 0 whatever is found")
    group.add_argument("--exit-non-zero-on-fix", action="store_true", help="exit 1 if anything was fixed")
    group.add_argument("--least-cost", type=_size, metavar="SIZE", help="leave out what is known to cost less (1MiB)")
    group.add_argument("--min-bytes", type=_size, metavar="SIZE", help="data of this size counts as large (64MiB)")
    group.add_argument("--max-tensor", type=_size, metavar="SIZE", help="the largest single tensor to allow")
    group.add_argument("--gpu-memory", type=_size, metavar="SIZE", help="the memory that a model must fit into")
    group.add_argument("--baseline", metavar="FILE", help="leave out the findings that this file accepts")
    group.add_argument("--write-baseline", metavar="[=FILE]", help="accept all findings in the baseline")
    group.add_argument(
        "--verify", metavar="[=PYTHON]",
        help="run what is found before and after its repair (docs/verify.md), and mark what the figures contradict",
    )  # fmt: skip
    group.add_argument("--diff-base", metavar="REF", help="report only what changed since a git revision")


def add_report(group: argparse._ArgumentGroup) -> None:
    """Add what is asked of a report, whichever command writes it."""
    formats = OutputFormat.__args__  # type: ignore[attr-defined]
    group.add_argument("--output-format", choices=formats, metavar="FORMAT", help=", ".join(formats))
    group.add_argument("-o", "--output-file", metavar="FILE", help="write the report to a file")
    group.add_argument("--statistics", action="store_true", help="count findings by rule")
    group.add_argument("--show-suppressed", action="store_true", help="show what comments silence, marked so")
    group.add_argument("--sort", choices=("place", "bytes"), default="place", help="by place, or most bytes first")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="whether to use colours")


def _add_output(group: argparse._ArgumentGroup) -> None:
    add_report(group)
    group.add_argument("--part", metavar="FILE", help="with --shard: write what `tfmemlint merge` takes, too")
    group.add_argument("--watch", action="store_true", help="lint again whenever a file changes, until Ctrl-C")
    group.add_argument("--show-files", action="store_true", help="print the files that would be read, and read none")
    group.add_argument("--timings", action="store_true", help="say on stderr where the time went, by stage and by rule")
    group.add_argument("-q", "--quiet", action="store_true", help="print findings and errors only")
    group.add_argument("-v", "--verbose", action="store_true", help="say what is read and why")


def add_executor(group: argparse._ActionsContainer) -> None:
    """Add the option that hands work to a cluster."""
    group.add_argument(
        "--executor", type=_executor, metavar="dask://HOST:PORT",
        help="let the workers of a dask cluster do the work, or `local` for one that is made here (docs/fleet.md)",
    )  # fmt: skip


def _executor(text: str) -> str:
    from tfmemlint.run.fleet import is_executor

    if not is_executor(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no executor; write dask://HOST:PORT, or local")
    return text


def _add_files(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--config", action="append", default=[], metavar="FILE|KEY=VALUE",
        help="use this configuration file for all files, its paths taken from here; or set a key (TOML)",
    )  # fmt: skip
    group.add_argument("--isolated", action="store_true", help="ignore all configuration files")
    group.add_argument("--exclude", action=_Listed, metavar="PATTERNS", help="leave out these paths only")
    group.add_argument("--extend-exclude", action=_Listed, metavar="PATTERNS", help="leave out these paths too")
    group.add_argument("--force-exclude", action=_Flag, help="leave excluded files out even when they are named")
    group.add_argument("--respect-gitignore", action=_Flag, help="leave out what git ignores (default)")
    group.add_argument("--include-markdown", action=_Flag, help="read code blocks of .md, .qmd and .rst files too")
    group.add_argument("--stdin-filename", metavar="FILE", help="the name of the file on standard input")
    group.add_argument("--shard", type=_shard, metavar="I/N", help="read this share of the files (docs/ci.md)")
    group.add_argument("-j", "--jobs", type=jobs_of, default=0, metavar="N", help="processes to use (default: auto)")
    add_executor(group)
    group.add_argument("-n", "--no-cache", action="store_true", help="neither read nor write the cache")
    group.add_argument("--cache-dir", metavar="DIR", help="where the cache is, anywhere (default: .tfmemlint_cache)")
