"""Facts that wake rules: kinds of things that programs hold, each with what a file must name to hold one.

A rule's handler is called for each, `@on(traced_functions)`; the facts of one subject stand with its questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import libcst as cst

from tfmemlint.model.contexts import TRACED_METHODS, TRACERS, Loop
from tfmemlint.model.mapped import whole
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Api, Function
from tfmemlint.syntax.scopes import COMPREHENSIONS
from tfmemlint.syntax.tree import A, B, C, Node

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

T = TypeVar("T")


class Fact(Generic[T]):
    """A kind of thing that a program holds, as the objects of one class: tapes, traced functions, settings.

    `find` yields those of a file in the order of the code. `names` are what no file lacks that holds one, so that the
    others need not be read: an API (`tf.GradientTape`; for a class what derives from it, too), the beginning of many in
    a dot (`tf.random.`), or a word of the code (`for`). One of them is enough. A fact whose names leave out a way to
    write it is silent there; what they have too much costs time alone.
    """

    def __init__(self, find: Callable[[File], Iterable[T]], *names: str) -> None:
        self.find = find
        self.names = names

    def __repr__(self) -> str:
        return f"Fact({self.find.__name__})"

    def of(self, file: File) -> list[T]:
        """Those of a file, found once for all rules."""
        return _found(file, self)


@once_per_file
def _found(file: File, fact: Fact[T]) -> list[T]:
    return list(fact.find(file))


# -- any code ----------------------------------------------------------------------------------------------------------


@overload
def nodes(a: type[A], /) -> Fact[A]: ...
@overload
def nodes(a: type[A], b: type[B], /) -> Fact[A | B]: ...
@overload
def nodes(a: type[A], b: type[B], c: type[C], /) -> Fact[A | B | C]: ...
@cache
def nodes(*kinds: type[Node]) -> Fact[Any]:
    """Each node of exactly these classes of libcst; which files to read, the rule's names must say."""
    return Fact(lambda file: file.tree.of(*kinds))


# -- functions and classes --------------------------------------------------------------------------------------------

FunctionNode = cst.FunctionDef | cst.Lambda

TRACES = (*sorted(TRACERS), *sorted(TRACED_METHODS))
"""What no file lacks in which anything is traced: the APIs that trace, the methods that Keras traces."""


def _traced_functions(file: File) -> Iterator[FunctionNode]:
    for function in file.tree.of(cst.FunctionDef, cst.Lambda):
        if file.contexts.traced(_first(function)):
            yield function


def _first(function: FunctionNode) -> Node:
    body = function.body
    return body.body[0] if isinstance(body, cst.IndentedBlock) and body.body else body


traced_functions = Fact(_traced_functions, *TRACES)
"""Each function, method or lambda whose code runs while it is traced."""


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A function that an API is given: `where` is its call or the decorator, `made` the statement or call that makes
    what stands for the function then, `function` None where it is not of this module."""

    where: Call | Node
    made: Node
    function: FunctionNode | None


def given_by(file: File, call: Call) -> Iterator[Wrapped]:
    """The functions that a call is given as its first argument; none where it decorates one."""
    if not isinstance(file.tree.parent(call.node), cst.Decorator):
        functions = [option.node for option in call.value_of(0).options if isinstance(option, Function)]
        yield from (Wrapped(call, call.node, function) for function in functions or (None,))


def decorated_by(file: File, function: cst.FunctionDef, api: str) -> Iterator[Wrapped]:
    """A function as it is given to each of its decorators that is this API."""
    for decorator in function.decorators:
        called = decorator.decorator
        heads = (called.func, called) if isinstance(called, cst.Call) else (called,)
        if any(whole(file.value(head)) == Api(api) for head in heads):
            yield Wrapped(called, function, function)


@cache
def functions_given_to(api: str) -> Fact[Wrapped]:
    """Each function that is given to an API, as its argument (`tf.function(step)`) or by decorating it; several
    functions that one argument can be are several facts."""

    def functions_given(file: File) -> Iterator[Wrapped]:
        for call in file.calls(api):
            yield from given_by(file, call)
        for function in file.tree.of(cst.FunctionDef):
            yield from decorated_by(file, function, api)

    return Fact(functions_given, api)


@cache
def classes_deriving(base: str) -> Fact[cst.ClassDef]:
    """Each class of the file that derives from an API class, also through others of the file."""

    def deriving(file: File) -> Iterator[cst.ClassDef]:
        return (node for node in file.tree.of(cst.ClassDef) if file.values.classes.derives(node, base))

    return Fact(deriving, base)


# -- loops ------------------------------------------------------------------------------------------------------------


def _loops(file: File) -> Iterator[Loop]:
    yield from file.tree.of(cst.For, cst.While)


loops = Fact(_loops, "for", "while")
"""Each `for` and `while` statement."""


def _comprehensions(file: File) -> Iterator[cst.BaseComp]:
    for node in file.tree.of(*COMPREHENSIONS):
        assert isinstance(node, cst.BaseComp)
        yield node


comprehensions = Fact(_comprehensions, "for")
"""Each list, set and dictionary comprehension and generator expression."""


# -- calls ------------------------------------------------------------------------------------------------------------


@cache
def calls_passing(*keywords: str) -> Fact[Call]:
    """Each call that is passed one of these keywords, of whatever is called."""

    def passing(file: File) -> Iterator[Call]:
        for node in file.tree.of(cst.Call):
            if any(arg.keyword is not None and arg.keyword.value in keywords for arg in node.args):
                yield file.call(node)

    return Fact(passing, *keywords)


@cache
def calls_named(*words: str) -> Fact[Call]:
    """Each call by one of these words (`save`), of whatever is called."""

    def named(file: File) -> Iterator[Call]:
        nodes = {id(node): node for word in words for node in file.calls_by_word.get(word, ())}
        return (file.call(node) for node in sorted(nodes.values(), key=file.tree.order))

    return Fact(named, *words)


@cache
def calls_of_unknown(*words: str) -> Fact[Call]:
    """Each call by one of these words (`fit`) of which is not known what it calls: `load(path).fit(x)`."""

    def unknown(file: File) -> Iterator[Call]:
        return (call for call in calls_named(*words).of(file) if not call.target.known)

    return Fact(unknown, *words)


# -- attributes -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AttributeSet:
    """`target = value`, where the target is an attribute: `model.run_eagerly = True`."""

    statement: cst.Assign
    target: cst.Attribute
    value: cst.BaseExpression


@cache
def attributes_set(word: str) -> Fact[AttributeSet]:
    """Each assignment to an attribute of that name, of whatever object."""

    def attributes(file: File) -> Iterator[AttributeSet]:
        for statement in file.tree.of(cst.Assign):
            for each in statement.targets:
                if isinstance(each.target, cst.Attribute) and each.target.attr.value == word:
                    yield AttributeSet(statement, each.target, statement.value)

    return Fact(attributes, word)
