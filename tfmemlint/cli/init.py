"""`tfmemlint init`: sets a project up, adding to files and taking nothing from them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tfmemlint.cli import output
from tfmemlint.cli.added import Refused, with_hook, with_table
from tfmemlint.cli.arguments import Parser
from tfmemlint.cli.output import tell
from tfmemlint.cli.usage import UsageError
from tfmemlint.config.paths import leads_away
from tfmemlint.config.settings import FILE_NAMES, Configs
from tfmemlint.config.toml import LARGEST
from tfmemlint.files.bounded_read import read_regular
from tfmemlint.files.replace_file import replace_file
from tfmemlint.fix.write import write_atomically

BASELINE = "tfmemlint-baseline.json"
HOOKS = ".pre-commit-config.yaml"

_DESCRIPTION = """Set a project up: write the table [tool.tfmemlint] into its pyproject.toml, or a tfmemlint.toml where
it has none. What is there stays as it is: nothing is written where tfmemlint is configured already, and a file to which
nothing can be added with certainty is left alone, with what to add by hand."""


@dataclass(frozen=True)
class _Change:
    """One file to write: its path, its bytes as they are (None where there is no such file) and as they are to be."""

    path: str
    before: bytes | None
    after: bytes
    what: str


def init_parser() -> Parser:
    """The parser of `init`."""
    parser = Parser("tfmemlint init", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="the project (default: .)")
    parser.add_argument(
        "--into", choices=FILE_NAMES, metavar="FILE", help="pyproject.toml (default if there is one) or tfmemlint.toml"
    )
    parser.add_argument("--pre-commit", action="store_true", help=f"add the hook to {HOOKS}, too")
    parser.add_argument("--baseline", action="store_true", help=f"accept all that is found now, in {BASELINE}")
    parser.add_argument("--diff", action="store_true", help="print what would be written, and write nothing")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    return parser


def init(words: Sequence[str], main: Callable[[Sequence[str]], int]) -> int:
    """Set a project up; the exit code. `main` is the command line, which makes the baseline. Raises UsageError, before
    anything is written, where a file cannot be added to."""
    options = init_parser().parse_args(words)
    if not os.path.isdir(options.folder):
        raise UsageError(f"{options.folder}: no such folder")
    changes = list(_changes(options.folder, options.into, options.pre_commit, options.baseline))
    for change in changes:
        if options.diff:
            output.write_bytes(output.unified_diff(change.path, change.before or b"", change.after))
        elif options.dry_run:
            print(f"would write {change.what} to {change.path}")
        else:
            _write(change)
            tell(f"wrote {change.what} to {change.path}")
    return _baseline(options.folder, options.diff or options.dry_run, main) if options.baseline else 0


def _changes(folder: str, into: str | None, pre_commit: bool, baseline: bool) -> Iterator[_Change]:
    config = Configs().for_directory(folder)
    if config.path and os.path.samefile(os.path.dirname(config.path), folder):
        tell(f"{config.path} configures tfmemlint already; it stays as it is")
        if baseline and not config.baseline:
            tell(f'add baseline = "{BASELINE}" to it')
    else:
        if config.path:
            tell(f"{config.path} will not govern this folder any more")
        project = os.path.join(folder, "pyproject.toml")
        path = os.path.join(folder, into or ("pyproject.toml" if os.path.isfile(project) else "tfmemlint.toml"))
        before = _read(path)
        after = with_table(before or b"", os.path.basename(path), BASELINE if baseline else None)
        yield _checked(path, before, after, "the configuration")
    if pre_commit:
        path = os.path.join(folder, HOOKS)
        before = _read(path)
        if before is not None and b"tfmemlint" in before:
            tell(f"{path} has tfmemlint already; it stays as it is")
        else:
            yield _checked(path, before, with_hook(before or b""), "the pre-commit hook")


def _checked(path: str, before: bytes | None, after: bytes | Refused, what: str) -> _Change:
    if isinstance(after, Refused):
        raise UsageError(f"{path}: {after.reason}; nothing was written. Add by hand: {after.text}")
    return _Change(os.path.normpath(path), before, after, what)


def _read(path: str) -> bytes | None:
    """The bytes of a file, None where there is none. Raises UsageError where it cannot be read."""
    if not os.path.lexists(path):
        return None
    if leads_away(path):
        raise UsageError(f"{path}: a link to {os.path.realpath(path)}; add to that file yourself")
    try:
        return read_regular(path, LARGEST)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None


def _write(change: _Change) -> None:
    try:
        if change.before is None:
            replace_file(change.path, change.after, lambda: _require_absent(change.path))
        elif remark := write_atomically(change.path, change.before, change.after):
            tell(f"warning: {change.path}: {remark}")
    except OSError as error:
        raise UsageError(f"{change.path}: cannot be written: {error.strerror or error}") from None


def _require_absent(path: str) -> None:
    if os.path.lexists(path):
        raise OSError("a file of that name was made meanwhile")


def _baseline(folder: str, dry: bool, main: Callable[[Sequence[str]], int]) -> int:
    path = os.path.normpath(os.path.join(folder, BASELINE))
    if os.path.lexists(path):
        tell(f"{path} is there already; `tfmemlint check --write-baseline` renews it")
        return 0
    if dry:
        print(f"would accept what is found now in {path}", file=sys.stderr)
        return 0
    return main(["check", f"--write-baseline={path}", folder])
