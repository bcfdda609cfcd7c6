"""`tfmemlint audit`: many repositories linted, one report."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tfmemlint import __version__
from tfmemlint.cli.arguments import Parser, add_executor, jobs_of
from tfmemlint.cli.output import tell, tolerant
from tfmemlint.cli.parts import outcomes_of, read_part
from tfmemlint.cli.usage import USAGE, UsageError
from tfmemlint.config.paths import leads_away
from tfmemlint.files.bounded_read import digest_of, read_regular
from tfmemlint.files.replace_file import replace_file
from tfmemlint.lint.registry import fingerprint
from tfmemlint.report import audit as report
from tfmemlint.report.audit import Audited
from tfmemlint.run.clone import RunError, clone, is_url, run_bounded

_DESCRIPTION = """Lint many repositories and write one report by rule, repository and bytes. Repositories are folders or
addresses, of which git fetches the newest commit. Their code is read and never run, their configuration is left aside.
One that fails, or takes too long, does not stop the others; the exit code is 2 then."""
_LIST = 4 << 20
"""Bytes of the list of repositories."""


def audit_parser() -> Parser:
    """The parser of `audit`."""
    parser = Parser("tfmemlint audit", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("list", metavar="FILE", help="a text with a folder or an address in each line")
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="how to print the report")
    parser.add_argument("-o", "--output-file", metavar="FILE", help="write the report to a file")
    parser.add_argument("--html", metavar="FILE", help="write a page, too, that needs nothing but itself")
    parser.add_argument("--folder", metavar="DIR", help="keep what was found there, and go on from it")
    parser.add_argument("--timeout", type=_seconds, default=600, metavar="SECONDS", help="for each repository (600)")
    parser.add_argument("--select", metavar="RULES", help="run these rules only")
    parser.add_argument("--preview", action="store_true", help="run the advice rules too, which are off by default")
    parser.add_argument("-j", "--jobs", type=jobs_of, default=0, metavar="N", help="processes to use (default: auto)")
    add_executor(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print the report and errors only")
    return parser


def _seconds(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number over 0")
    return int(text)


def audit(words: Sequence[str]) -> int:
    """Run `audit` with these arguments; the exit code. Raises UsageError."""
    options = audit_parser().parse_args(words)
    names = list(_names(options.list))
    if not names:
        raise UsageError(f"{options.list}: no repositories in it")
    with tempfile.TemporaryDirectory(prefix="tfmemlint-audit-") as temporary:
        folder = options.folder or temporary
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--folder {folder}: {(error.strerror or str(error)).lower()}") from None
        audited = []
        for number, name in enumerate(names, 1):
            audited.append(_audited(name, options, folder, temporary))
            if not options.quiet:
                last = audited[-1]
                tell(f"[{number}/{len(names)}] {name}: {last.failure or f'{len(last.findings)} findings'}")
    _write(options, audited)
    return USAGE if any(each.failure for each in audited) else 0


def _names(path: str) -> Iterator[str]:
    """The repositories of a list, each once; relative folders are below that of the list."""
    try:
        lines = read_regular(path, _LIST).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror or str(error)).lower() if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"{path}: {why}") from None
    found = (line.partition(" #")[0].strip() for line in lines if not line.lstrip().startswith("#"))
    yield from dict.fromkeys(name for name in found if name)


def _audited(name: str, options: argparse.Namespace, folder: str, temporary: str) -> Audited:
    """What is found in one repository; never raises for what is in it."""
    started = time.perf_counter()
    words = f"{name} {fingerprint()} {options.select} {options.preview}"
    key = digest_of(words.encode("utf-8", "surrogateescape")).hex()
    kept, place = os.path.join(folder, f"{key}.json"), os.path.join(temporary, key)
    made = Audited(name, place)
    try:
        if not is_url(name):
            made.folder = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(options.list)), name))
            if not os.path.isdir(made.folder):
                raise RunError("no such folder")
            _lint(made.folder, options, kept, temporary)
        elif os.path.exists(kept):
            made.commit = read_regular(f"{kept}.commit", 1 << 10).decode("ascii", "replace")
        else:
            made.commit = clone(name, place, options.timeout)
            replace_file(f"{kept}.commit", made.commit.encode())
            _lint(place, options, kept, temporary)
        _take(made, kept)
    except (RunError, OSError, ValueError) as error:
        made.failure = " ".join(str(error).split())
        for path in (kept, f"{kept}.commit"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
    finally:
        if is_url(name):
            shutil.rmtree(place, ignore_errors=True)
    made.seconds = time.perf_counter() - started
    return made


def _lint(place: str, options: argparse.Namespace, kept: str, temporary: str) -> None:
    """Have another process lint a folder. It works elsewhere, so that nothing that lies there is imported."""
    command = [sys.executable, "-m", "tfmemlint", "check", "--isolated", "--no-cache", "--quiet", "--exit-zero"]
    command += ["--shard", "1/1", "--part", os.path.abspath(kept), "--output-format", "concise"]
    command += ["--jobs", str(options.jobs or "auto")]
    command += ["--select", options.select] if options.select else []
    command += ["--preview"] if options.preview else []
    command += ["--executor", options.executor] if options.executor else []
    with contextlib.suppress(FileNotFoundError):
        os.unlink(kept)  # of an earlier audit
    empty = os.path.join(temporary, "empty")
    os.makedirs(empty, exist_ok=True)
    run_bounded([*command, place], options.timeout, folder=empty, codes=(0, 1, 2, 3))
    if not os.path.exists(kept):
        raise RunError("tfmemlint itself failed; `tfmemlint check --isolated` shows how")


def _take(made: Audited, path: str) -> None:
    part = read_part(path)
    found = sorted(outcomes_of(part), key=lambda pair: pair[0])
    results = [outcome.result for _, outcome in found]
    if is_url(made.name):  # where it was cloned, perhaps by an earlier audit: beside the folder that was worked in
        key = os.path.basename(path).removesuffix(".json")
        made.folder = os.path.join(os.path.dirname(os.fsdecode(part.folder)), key)
    made.results = [replace(each, path=os.path.relpath(each.path, made.folder)) for each in results]
    made.read, made.skipped = len(found), part.skipped
    made.remarks = [message for message, fails, _ in part.problems if fails]


def _write(options: argparse.Namespace, audited: Sequence[Audited]) -> None:
    written = report.as_json(audited, __version__) if options.output_format == "json" else report.text(audited)
    for path, content in ((options.output_file, written), (options.html, report.page(audited) if options.html else "")):
        if path is None:
            continue
        if "\0" in path or leads_away(path):
            raise UsageError(f"{path!r}: no name of a file, or a link to elsewhere; name the file itself")
        try:
            replace_file(path, content.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise UsageError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    if options.output_file is None:
        with tolerant(sys.stdout) as out:
            out.write(written)
