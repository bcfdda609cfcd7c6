"""Statements that raise and that a program may do without, as the last resort: code of strangers does not always run.

A cell that its author gave up, a check of the surroundings, a picture that is drawn: what raises is left out, and what
it would give a name to is made up by that name. A program without them is believed only where it confirms.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from tfmemlint.syntax.scopes import dotted
from tfmemlint.syntax.tree import Node, walk
from tfmemlint.verify.child.usual import holds_settings, words_of
from tfmemlint.verify.plan.across import Slices
from tfmemlint.verify.plan.slicing import Home
from tfmemlint.verify.run.runs import Failure, Run

MOST = 8
"""Statements that are left out of one program."""

FRAME = re.compile(r'File "([^"\n]+)", line \d+, in ([^\n]+)\n[ ]*([^\n]+)')
RUNS = "program.py"
FREES = frozenset({"clear", "close", "collect", "del", "delete", "empty", "free", "gc", "pop", "release", "reset"})
"""Words of the names of what frees memory, without which a program would grow that does not."""

NUMBERS = frozenset({"acc", "accuracy", "cost", "err", "error", "loss", "score"})
"""Words of the names of what a step of training gives."""

SHOWN = 60


@dataclass(frozen=True)
class LeftOut:
    """A statement that is left out: what is replaced in it, and by what."""

    statement: Node
    node: Node
    code: str
    words: str


def further(slices: Slices, run: Run, held: Sequence[Node], known: Sequence[LeftOut]) -> list[LeftOut]:
    """What else a program is to do without: the statement that raised in a run, or the tests that kept it from the
    places that it is about."""
    if run.out_of_memory or len(known) >= MOST:
        return []
    if run.error is None:
        return [] if run.marks or run.reached else guards(slices, held, known)
    return left_out(slices, run.error, held, known)


def left_out(slices: Slices, error: Failure, held: Collection[Node], known: Sequence[LeftOut]) -> list[LeftOut]:
    """The statement nearest to where a program raised that it can do without; none where there is none before one of
    those that it is about, which are `held`."""
    gone = {id(each.statement) for each in known}
    for path, function, text in reversed(FRAME.findall(error.traceback)):
        found = [
            each
            for home in _homes(slices, path)
            for each in _statements(home, text.strip(), function)
            if id(each) not in gone
        ]
        if any(slices.file.tree.contains(each, inner) for each in found for inner in held):
            return []
        made = next((made for each in found if (made := _without(slices, each)) is not None), None)
        if made is not None:
            return [made]
    return []


def guards(slices: Slices, held: Iterable[Node], known: Sequence[LeftOut]) -> list[LeftOut]:
    """The tests of settings that keep a program from the places that it is about: `if args.train:`."""
    gone = {id(each.node) for each in known}
    found: dict[int, LeftOut] = {}
    for node in held:
        inner = node
        for above in slices.file.tree.ancestors(node):
            if isinstance(above, cst.If) and id(above.test) not in gone and inner is above.body and _of_settings(above):
                words = f"{_shown(slices, above.test)} was taken to be so: what is flagged needs it"
                found[id(above)] = LeftOut(above, above.test, "True", words)
            inner = above
    return list(found.values())


def _of_settings(branch: cst.If) -> bool:
    """Whether nothing but settings are tested: `args.mode == "train"`."""
    names = {dotted(each) for each in walk(branch.test, cst.Attribute)} - {None}
    heads = {name.rpartition(".")[0].rpartition(".")[2] for name in names if name is not None}
    plain = not any(True for _ in walk(branch.test, cst.Call))
    return plain and bool(heads) and all(holds_settings(head) for head in heads)


def _shown(slices: Slices, node: Node) -> str:
    home = slices.file.home(node)
    span = home.span(node)
    text = " ".join(home.source.text[span.start : span.end].split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def _homes(slices: Slices, path: str) -> Iterator[Home]:
    """The modules of a program that a path of a traceback may be."""
    for part in slices:
        name = slices.path(part.home).replace("\\", "/").rsplit("/", 2)
        if path.endswith(f"/{RUNS}") if part.runs else path.replace("\\", "/").endswith("/".join(name[-2:])):
            yield part.home


def _statements(home: Home, text: str, function: str) -> Iterator[cst.SimpleStatementLine]:
    """The statements of a module with that line of text, in a function of that name."""
    for statement in home.tree.of(cst.SimpleStatementLine):
        around = (each.name.value for each in home.tree.ancestors(statement) if isinstance(each, cst.FunctionDef))
        if function.startswith("<") or next(around, "") == function.rpartition(".")[2]:
            span = home.span(statement)
            lines = home.source.text[span.start : span.end].split("\n")
            if any(line.strip() == text for line in lines):
                yield statement


def _without(slices: Slices, statement: cst.SimpleStatementLine) -> LeftOut | None:
    """What stands for a statement, None for one that is more than a call, a check, an assignment or a return."""
    names = (name.value for name in walk(statement, cst.Name))
    if len(statement.body) != 1 or any(not FREES.isdisjoint(words_of(name)) for name in names):
        return None
    small = statement.body[0]
    shown = _shown(slices, small)
    if isinstance(small, (cst.Expr, cst.Raise, cst.Assert, cst.AugAssign)):
        return LeftOut(statement, small, "pass", f"{shown} raised and was left out")
    if isinstance(small, cst.Return) and small.value is not None:
        return LeftOut(statement, small.value, _made("returned"), f"{shown} raised: what it gives was made up")
    if isinstance(small, cst.Assign) and len(small.targets) == 1:
        code = _of(small.targets[0].target)
        said = f"{shown} raised: what it gives was made up"
        return None if code is None else LeftOut(statement, small.value, code, said)
    return None


def _of(target: Node) -> str | None:
    if isinstance(target, (cst.Tuple, cst.List)):
        items = [_of(each.value) for each in target.elements]
        return None if None in items else f"({', '.join(filter(None, items))},)"
    name = dotted(target) if isinstance(target, (cst.Name, cst.Attribute)) else None
    return None if name is None else _made(name.rpartition(".")[2])


def _made(name: str) -> str:
    if not NUMBERS.isdisjoint(words_of(name)):
        return "0.5"
    return f'tfmemlint_thing("made").{name}' if not name.startswith("_") else f'tfmemlint_thing("{name}")'
