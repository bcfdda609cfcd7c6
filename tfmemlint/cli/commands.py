"""The command line: arguments to commands, and what goes wrong to one line and an exit code.

Exit codes: 0 clean, 1 findings that fail the run or a step that does not fit, 2 wrong usage or configuration or a
path that is not there, 3 internal error.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from tfmemlint import __version__
from tfmemlint.cli.usage import USAGE, UsageError

INTERNAL, INTERRUPTED = 3, 130

COMMANDS = {
    "check": "lint files and directories, and repair them with --fix",
    "merge": "make one report of what the shards of a run found",
    "audit": "lint many repositories and write one report",
    "rule": "print the page of a rule",
    "rules": "list all rules",
    "config": "show the configuration in effect, or what a key means",
    "estimate": "say how much GPU memory a training step takes, without running it",
    "verify": "run flagged code before and after its repair and measure both",
    "run": "run a program and measure the memory it uses",
    "server": "serve editors over the language server protocol",
    "init": "set a project up: its configuration, and on wish the pre-commit hook and a baseline",
    "doctor": "say what is installed and in effect here, and what is amiss",
    "completion": "print a shell's script that completes words",
}

_HELP = """usage: tfmemlint COMMAND ...

Finds, prices and repairs memory anti-patterns in TensorFlow and Keras code.

commands:
{commands}

`tfmemlint COMMAND --help` says more about each. `tfmemlint --fix PATHS` is `tfmemlint check --fix PATHS`.

exit codes:
  0  clean, or only findings below --fail-on
  1  findings (or, with --diff, repairs) remain, or a step does not fit
  2  wrong usage or configuration, no rules, a path that is not there
  3  the tool itself failed
"""


def process() -> int:
    """`main` for a process that does nothing else, and ends with it."""
    # What is imported is no garbage, and to look for some in it takes a tenth of the time of one small file. Where much
    # is read, little is left for it: `lint.let_go`.
    gc.set_threshold(250_000, 20, 100)
    code = main()
    gc.freeze()  # else Python looks for garbage in all there is before it gives everything back: another fifth
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; nothing is raised for anything a user can do."""
    words = list(sys.argv[1:] if argv is None else argv)
    from tfmemlint.cli.output import silence_closed_pipes, tell

    try:
        return _run(words)
    except BrokenPipeError:
        silence_closed_pipes()
        return 1
    except KeyboardInterrupt:
        tell("interrupted")
        return INTERRUPTED
    except SystemExit as exit_:  # argparse, after printing what was asked for
        return exit_.code if isinstance(exit_.code, int) else USAGE
    except Exception as error:
        if known := _expected(error):
            tell(f"error: {known}")
            return USAGE
        if "--verbose" in words or "-v" in words:
            import traceback

            for line in traceback.format_exc().splitlines():
                tell(line)
        tell(f"internal error: {type(error).__name__}: {error}; --verbose shows where")
        return INTERNAL


def _expected(error: Exception) -> str | None:
    """The message of an error that says all there is to say, or None for one that is our own fault."""
    from tfmemlint.config.settings import ConfigError
    from tfmemlint.lint.registry import RegistryError

    kinds: tuple[type[Exception], ...] = (ConfigError, RegistryError, UsageError)
    if "tfmemlint.lint.baseline" in sys.modules:
        kinds += (sys.modules["tfmemlint.lint.baseline"].BaselineError,)
    if "tfmemlint.run.fleet" in sys.modules:
        kinds += (sys.modules["tfmemlint.run.fleet"].FleetError,)
    if "tfmemlint.lint.git" in sys.modules:
        kinds += (sys.modules["tfmemlint.lint.git"].GitError,)
    return str(error) if isinstance(error, kinds) else None


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        stream = sys.stdout if words else sys.stderr
        stream.write(_HELP.format(commands="\n".join(f"  {name:12}{text}" for name, text in COMMANDS.items())))
        return 0 if words else USAGE
    if words[0] in ("-V", "--version"):
        print(f"tfmemlint {__version__}")
        return 0
    command, *rest = words
    if command not in COMMANDS and any(word in ("--fix", "--diff") for word in words):
        command, rest = "check", words
    if command == "check":
        if "--watch" in rest:
            from tfmemlint.cli.watch import watch

            return watch(rest, main)
        from tfmemlint.cli.check import check

        return check(rest)
    if command == "audit":
        from tfmemlint.cli.audit import audit

        return audit(rest)
    if command == "merge":
        from tfmemlint.cli.merge import merge

        return merge(rest)
    if command in ("rule", "rules", "config"):
        from tfmemlint.cli import info

        return info.COMMANDS[command](rest)
    if command == "estimate":
        from tfmemlint.cli.estimate.commands import estimate_main

        return estimate_main(rest)
    if command in ("verify", "run"):
        from tfmemlint.cli.verify.commands import run_main, verify_main

        return verify_main(rest) if command == "verify" else run_main(rest)
    if command == "server":
        from tfmemlint.cli.server import server_main

        return server_main(rest)
    if command == "init":
        from tfmemlint.cli.init import init

        return init(rest, main)
    if command == "doctor":
        from tfmemlint.cli.doctor import doctor

        return doctor(rest)
    if command == "completion":
        from tfmemlint.cli.completion import completion

        return completion(rest)
    raise UsageError(_unknown(command, words))


ELSEWHERE = {
    "explain": "rule", "describe": "rule", "lint": "check", "format": "check --fix", "fix": "check --fix",
    "list": "rules", "linter": "rules", "profile": "run", "measure": "verify", "show-settings": "config",
}  # fmt: skip
"""What other tools call a command -> ours."""


def _unknown(command: str, words: Sequence[str]) -> str:
    import difflib
    import os

    line = " ".join(words)
    near = [ELSEWHERE[command]] if command in ELSEWHERE else difflib.get_close_matches(command, COMMANDS, 1, 0.7)
    if near and not os.path.exists(command):
        return f"no command '{command}'; did you mean `tfmemlint {near[0]}`?"
    return f"no command '{command}'; to lint, write `tfmemlint check {line}`"
