"""Tools for people who work on rules: `python -m tfmemlint.dev COMMAND`, run in the root of a checkout or of a pack.

- `new-rule NAME` writes a rule's module and its first case, ready to be filled in;
- `bless` writes the `findings.txt` and `fixed.py` of cases as the rules have them now;
- `docs` writes a page for each rule and their index, and the examples that are installed with the rules;
- `pictures` draws the pictures of the README and the site from what the tool prints;
- `dump-model FILE` prints what the model knows about a program;
- `layers` lists the packages of the tool, what each may import, and what points the wrong way;
- `lintcheck BEFORE AFTER` compares the findings of two runs;
- `release` tries all that a release needs and publishes nothing;
- `bench` compares the speed of linting with that of parsing;
- `probe-tensorflow` asks an installed TensorFlow for the facts that the model holds as data;
- `probe-estimate [SCRIPT]` measures what training steps take, for the tables that `estimate` is tested against.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from tfmemlint.cli.output import silence_closed_pipes
from tfmemlint.dev.docs import write_docs
from tfmemlint.dev.dump import dump_model
from tfmemlint.dev.layers import layers
from tfmemlint.dev.lintcheck import RunError, compare, read_run, report
from tfmemlint.dev.new_rule import NewRuleError, new_rule
from tfmemlint.testing.cases import CaseError
from tfmemlint.testing.checks import Case, bless, cases, load_case

# Commands whose arguments belong to another program.
_PASSED_ON = {
    "bench": "compare linting with parsing",
    "probe-tensorflow": "write the model's facts",
    "probe-estimate": "measure training steps",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 for success, 1 for `docs --check` and `pictures --check` that found something stale and
    `lintcheck` that found a difference, 2 for wrong usage."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["bench"]:
        return _bench(words[1:])
    if words[:1] == ["probe-tensorflow"]:
        from tfmemlint.dev.probe.run import main as probe

        return probe(words[1:])
    if words[:1] == ["probe-estimate"]:
        from tfmemlint.dev.probe.steps import main as probe_steps

        return probe_steps(words[1:])
    options = _parser().parse_args(words)
    try:
        return int(options.run(options))
    except BrokenPipeError:  # `dump-model FILE | head`
        silence_closed_pipes()
        return 0
    except OSError as error:
        print(f"tfmemlint.dev: {error.filename}: {error.strerror}", file=sys.stderr)
    except (CaseError, NewRuleError, RunError) as error:
        print(f"tfmemlint.dev: {error}", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tfmemlint.dev", description="Tools for people who work on rules.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    new = commands.add_parser("new-rule", help="write a rule's module and its case folder")
    new.add_argument("name", help="what the rule reports, such as cache-after-repeat; reads after 'allow'")
    new.add_argument("--call", metavar="API", help="the API that the rule is about, such as tf.image.resize")
    new.add_argument("--code", help="the rule's code, such as TFM305 (default: the next of its family)")
    new.add_argument("--family", help="the beginning of its code, such as TFM3 (default: the family of --call)")
    _add_rules(new)
    _add_fixtures(new)
    new.set_defaults(run=_new_rule)

    blessing = commands.add_parser("bless", help="write findings.txt and fixed.py of cases as they are now")
    blessing.add_argument("cases", nargs="*", help="codes or folders (default: all cases)")
    _add_fixtures(blessing)
    blessing.set_defaults(run=_bless)

    docs = commands.add_parser("docs", help="write the rules' pages")
    docs.add_argument("--out", type=Path, default=Path("docs/rules"), help="the folder of pages (default: docs/rules)")
    docs.add_argument("--prefix", default="TFM", help="pages for rules whose codes start so (default: TFM)")
    docs.add_argument("--check", action="store_true", help="write nothing; exit 1 and name the pages that are stale")
    _add_rules(docs)
    _add_fixtures(docs)
    docs.set_defaults(run=_docs)

    drawing = commands.add_parser("pictures", help="draw the pictures of the README and the site")
    drawing.add_argument("--out", type=Path, default=Path("docs"), help="the folder of the pictures (default: docs)")
    drawing.add_argument("--verified", type=Path, metavar="FILE", help="take the figures of this output of `verify`")
    drawing.add_argument("--check", action="store_true", help="write nothing; exit 1 and name those that are stale")
    drawing.set_defaults(run=_pictures)

    dump = commands.add_parser("dump-model", help="print what the model knows about a program")
    dump.add_argument("file", type=Path)
    dump.set_defaults(run=_dump)

    shown = commands.add_parser("layers", help="list packages, what each may import, and what points the wrong way")
    shown.set_defaults(run=lambda _: layers())

    check = commands.add_parser("lintcheck", help="compare the findings of two runs on the same projects")
    check.add_argument("before", type=Path, help="what `tfmemlint check --output-format jsonl` wrote before a change")
    check.add_argument("after", type=Path, help="the same of a run after it; the projects may lie in another folder")
    check.set_defaults(run=_lintcheck)

    release = commands.add_parser("release", help="try what a release needs, and publish nothing")
    release.set_defaults(run=_release)

    for name, words in _PASSED_ON.items():
        commands.add_parser(name, help=f"{words}; takes its own arguments, see {name} --help")
    return parser


def _add_rules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rules", type=Path, default=Path("rules"), help="the folder of rule modules (default: rules)")


def _add_fixtures(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fixtures", type=Path, default=Path("fixtures"), help="the cases' folder (default: fixtures)")


def _new_rule(options: argparse.Namespace) -> int:
    where = (options.rules, options.fixtures)
    for path in new_rule(options.name, options.code, *where, family=options.family, api=options.call):
        print(path)
    print("next: fill in bad.py and good.py, write the handler, then run pytest --bless", file=sys.stderr)
    return 0


def _bless(options: argparse.Namespace) -> int:
    chosen = []
    for word in options.cases:
        found = _cases_named(word, options.fixtures)
        if not found:
            raise CaseError(f"{word} is no case, rule's folder or code in {options.fixtures}")
        chosen += found
    for case in chosen or cases(options.fixtures):
        for path in bless(case):
            print(path)
    return 0


def _cases_named(word: str, fixtures: Path) -> list[Case]:
    """The cases that a code, a rule's folder or a case's folder stands for, with or without the folder of all."""
    folder = Path(word) if Path(word).is_dir() else fixtures / word
    if (folder / "bad.py").exists():
        return [load_case(folder)]
    return [case for case in cases(fixtures) if case.code == word or case.folder.parent.resolve() == folder.resolve()]


def _docs(options: argparse.Namespace) -> int:
    where = {"rules": options.rules, "fixtures": options.fixtures}
    changed = write_docs(options.out, **where, prefix=options.prefix, check=options.check)
    for path in changed:
        print(f"{path}: stale; run `python -m tfmemlint.dev docs`" if options.check else path)
    return 1 if changed and options.check else 0


def _pictures(options: argparse.Namespace) -> int:
    from tfmemlint.dev import verified
    from tfmemlint.dev.pictures import write_pictures

    if options.verified:
        verified.keep(options.verified, options.out)
    changed = write_pictures(options.out, check=options.check)
    for path in changed:
        print(f"{path}: stale; run `python -m tfmemlint.dev pictures`" if options.check else path)
    return 1 if changed and options.check else 0


def _dump(options: argparse.Namespace) -> int:
    sys.stdout.writelines(f"{line}\n" for line in dump_model(options.file.read_bytes(), str(options.file)))
    return 0


def _release(_: argparse.Namespace) -> int:
    from tfmemlint.dev.release import release

    return release(Path())


def _lintcheck(options: argparse.Namespace) -> int:
    before, after = read_run(options.before), read_run(options.after)
    differences = compare(before, after)
    sys.stdout.writelines(f"{line}\n" for line in report(differences, len(before), len(after)))
    return 1 if differences else 0


def _bench(words: Sequence[str]) -> int:
    if not Path("benchmarks/speed.py").exists():
        print("tfmemlint.dev: benchmarks/ is not here; run this in the root of a checkout", file=sys.stderr)
        return 2
    sys.argv = ["benchmarks.speed", *words]
    runpy.run_module("benchmarks.speed", run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
