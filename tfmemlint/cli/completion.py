"""`tfmemlint completion`: a script for a shell that completes commands, options, rules and files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence

from tfmemlint.cli.arguments import Parser, check_parser
from tfmemlint.cli.extras import extra
from tfmemlint.cli.output import tolerant

SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")
RULES = ("CODE", "CODES", "RULES")
FILES = ("FILE", "PATH", "PATHS", "SCRIPT", "FILE|KEY=VALUE", "PATH[:[CELL:]LINE]")
FOLDERS = ("DIR", "FOLDER")

_DESCRIPTION = """Print a script that lets a shell complete the words of tfmemlint. In bash:
eval "$(tfmemlint completion bash)"; in zsh: write it to a file _tfmemlint in a folder of $fpath; in fish:
tfmemlint completion fish | source."""


def completion_parser() -> Parser:
    """The parser of `completion`."""
    parser = Parser("tfmemlint completion", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    return parser


def completion(words: Sequence[str]) -> int:
    """Print the script; 0. Raises UsageError where shtab is not installed, or too old for this shell."""
    shell = completion_parser().parse_args(words).shell
    shtab = extra("shtab", "completion", "completion")
    if shell not in shtab.SUPPORTED_SHELLS:
        parser = completion_parser()
        parser.error(f"the shtab that is installed knows {', '.join(shtab.SUPPORTED_SHELLS)}, not {shell}")
    script = shtab.complete(_whole(shtab), shell)
    with tolerant(sys.stdout) as out:
        out.write(script if script.endswith("\n") else f"{script}\n")
    return 0


def _parsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The parser of each command."""
    from tfmemlint.cli.audit import audit_parser
    from tfmemlint.cli.doctor import doctor_parser
    from tfmemlint.cli.estimate.arguments import estimate_parser
    from tfmemlint.cli.info import config_parser, rule_parser, rules_parser
    from tfmemlint.cli.init import init_parser
    from tfmemlint.cli.merge import merge_parser
    from tfmemlint.cli.server import server_parser
    from tfmemlint.cli.verify.arguments import run_parser, verify_parser

    made = (
        check_parser, merge_parser, audit_parser, rule_parser, rules_parser, config_parser, estimate_parser,
        verify_parser, run_parser, server_parser, init_parser, doctor_parser, completion_parser,
    )  # fmt: skip
    for make in made:
        parser = make()
        yield parser.prog.rpartition(" ")[2], parser


def _whole(shtab: object) -> argparse.ArgumentParser:
    """One parser of all commands, whose options say what completes their values."""
    values = _values()
    whole = argparse.ArgumentParser("tfmemlint")
    whole.add_argument("--version", action="store_true", help="print the version")
    commands = whole.add_subparsers()
    for name, parser in _parsers():
        for action in parser._actions:
            _complete(action, values, shtab)
        # Each brings its own --help.
        commands.add_parser(name, parents=[parser], add_help=False, help=_short(parser), description=_short(parser))
    return whole


def _short(parser: argparse.ArgumentParser) -> str:
    """The first sentence on a command."""
    return " ".join((parser.description or "").split()).partition(". ")[0].rstrip(".")


def _values() -> Mapping[str, Sequence[str]]:
    """What may stand for each kind of value that is a word."""
    from tfmemlint.config.settings import keys
    from tfmemlint.lint.registry import all_known, load_rules

    known = all_known(load_rules())
    rules = (*(each.code for each in known), *(each.name for each in known))
    return {
        **dict.fromkeys(RULES, rules),
        "KEY": list(keys()),
        "SEVERITY": ("error", "warning", "info"),
    }


def _complete(action: argparse.Action, values: Mapping[str, Sequence[str]], shtab: object) -> None:
    """Let an option, or an argument, complete what its help calls its value."""
    kind = str(action.metavar or "").strip("[]=")
    action.help = (action.help or "").replace("\n", " ")
    if kind in values and action.choices is None:
        action.choices = values[kind]
    elif kind in FILES:
        action.complete = shtab.FILE  # type: ignore[attr-defined]
    elif kind in FOLDERS:
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
