"""What functions of other modules do when this file calls them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Class, Function
from tfmemlint.query.facts import Fact, Wrapped, decorated_by, given_by
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.repetition.may_repeat import may_repeat
from tfmemlint.syntax.program import names_in
from tfmemlint.syntax.tree import called_word, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.program import Program


@cache
def imported_calls(*names: str, again: bool = True) -> Fact[Call]:
    """Each call of these APIs, or of those whose names begin with one that ends in a dot, in functions of other modules
    that this file calls, directly or through others of theirs, `FOLLOWED_CALLS` deep; with `again`
    only where a loop may be around.

    What the function does is right wherever it is called once, so that a finding stands where this file calls it.
    """
    words = frozenset(word for name in names if not name.endswith(".") for word in knowledge.words(name))
    beginnings = tuple(name for name in names if name.endswith("."))
    begun = words.union(*(knowledge.words_needed(name) for name in beginnings)) if beginnings else None

    def found(file: File) -> Iterator[Call]:
        for function in _reached_by(file, again, names):
            home = file.home(function)
            for node in file.own(function).calls:
                may = _may_run(file, home, node, begun) if begun is not None else called_word(node) in words
                if may or called_word(node) in home.renamed:
                    call = file.call(node)
                    name = call.name or ""
                    if name in names or (beginnings and name.startswith(beginnings)):
                        yield call

    return Fact(found, *names)


@cache
def imported_functions_given_to(api: str) -> Fact[Wrapped]:
    """Each function that an API is given, as `facts.functions_given_to`, in a function of another module that this file
    calls."""
    words = knowledge.words(api)

    def given(file: File) -> Iterator[Wrapped]:
        for function in _reached_by(file, True, (api,)):
            for node in file.own(function).calls:
                call = file.call(node) if called_word(node) in words else None
                yield from given_by(file, call) if call is not None and call.name == api else ()
            for inner in walk(function.body, cst.FunctionDef):
                yield from decorated_by(file, inner, api)

    return Fact(given, api)


@once_per_file
def _words(file: File, names: tuple[str, ...]) -> frozenset[str] | None:
    """The words by which functions of other modules are called that lead to one of some APIs; None for any."""
    if file.siblings is None:
        return frozenset()
    return file.siblings.words_leading_to(file.source.text, names, FOLLOWED_CALLS)


def _reached_by(file: File, again: bool, names: tuple[str, ...]) -> list[cst.FunctionDef]:
    """The functions of other modules that this file calls, of those that may lead to one of some APIs."""
    return _reached(file, again, _words(file, names)) if _entries(file, again) else []


@once_per_file
def _entries(file: File, again: bool) -> list[cst.Call]:
    """The calls of this file that may run functions of other modules; with `again` only those that may run again."""
    own = [node for node in file.tree.of(cst.Call) if not _in_chain(node)] if file.siblings is not None else []
    return [node for node in own if not again or may_repeat(file, node, FOLLOWED_CALLS)]


@once_per_file
def _reached(file: File, again: bool, by: frozenset[str] | None) -> list[cst.FunctionDef]:
    """The functions of other modules that this file calls by some words (None: any), and those that they call; with
    `again` only where a loop may be around."""
    level = _entries(file, again)
    level = level if by is None else [node for node in level if _may_run(file, file, node, by)]
    found: dict[cst.FunctionDef, None] = {}
    for _ in range(FOLLOWED_CALLS):
        entered = [each for node in level for each in _entered(file, node) if each not in found]
        found.update(dict.fromkeys(entered))
        inner = (node for each in dict.fromkeys(entered) for node in file.own(each).calls)
        level = [node for node in inner if called_word(node) in _own_words(file, file.home(node))]
        level = level if by is None else [node for node in level if called_word(node) in by]
    return list(found)


def _may_run(file: File, program: Program, call: cst.Call, by: frozenset[str]) -> bool:
    """Whether a call of a module may run what others call by one of some words: it is made by such a word, or by a name
    that the module gives to whatever it has."""
    word = called_word(call)
    if not word or word in by:
        return True
    if isinstance(call.func, cst.Attribute):
        return word in program.set_attributes
    return word in _variables(file, program)


@once_per_file
def _variables(file: File, program: Program) -> frozenset[str]:
    """The names that are bound in a module to anything but a function or class that stands in it, or to an import that
    keeps its name."""
    bound = (node.target for node in program.tree.of(cst.AssignTarget))
    names = {name for target in bound for name in names_in(target)}
    names.update(parameter.name.value for parameter in program.tree.of(cst.Param))
    for alias in program.tree.of(cst.ImportAlias):
        names |= {alias.evaluated_alias} if alias.evaluated_alias else set()
    return frozenset(names)


def _in_chain(call: cst.Call) -> bool:
    """Whether a call is a later link of a chain, as a pipeline's steps are: methods of what libraries give."""
    before = call.func.value if isinstance(call.func, cst.Attribute) else None
    return (
        isinstance(before, cst.Call)
        and isinstance(before.func, cst.Attribute)
        and isinstance(before.func.value, cst.Call)
    )


def _entered(file: File, node: cst.Call) -> Iterator[cst.FunctionDef]:
    """The functions of other modules that a call runs; of a class its `__init__`."""
    for target in file.call(node).target.options:
        function: object = target.node if isinstance(target, Function) else None
        if isinstance(target, Class):
            function = file.values.classes.method(target.node, "__init__")
        if isinstance(function, cst.FunctionDef) and not file.is_own(function):
            yield function


@once_per_file
def _own_words(file: File, program: Program) -> frozenset[str]:
    """The words by which a module calls what it defines or imports itself; all others lead to what is known."""
    defined = (node.name.value for node in program.tree.of(cst.FunctionDef, cst.ClassDef))
    aliases = (alias.evaluated_alias or alias.evaluated_name for alias in program.tree.of(cst.ImportAlias))
    return frozenset(defined) | frozenset(aliases)
