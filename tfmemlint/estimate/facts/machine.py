"""Follows a program statement by statement on abstract values: both ways where a condition is not known, loops turn by
turn where their items are.

What is written goes through `put`, which remembers what stood there, so that one way can be taken back before the other
is followed, and what both leave be joined.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as MappingOf
from collections.abc import Sequence as SequenceOf
from typing import TYPE_CHECKING, Any

import libcst as cst

from tfmemlint.estimate.facts import (
    applying,
    assigning,
    calls,
    expressions,
    imported,
    known,
    lacking,
    looping,
    networks,
    origins,
    stepping,
)  # fmt: skip
from tfmemlint.estimate.facts.recorded import Record
from tfmemlint.estimate.facts.state import Changes, Outcome, State
from tfmemlint.estimate.facts.values import EXITS, NONE, Closure, Env, Kind, Object, Traced, ancestry, join
from tfmemlint.model.values import Array, Const, Unknown, Value

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.asked import Arguments
    from tfmemlint.estimate.facts.given import Given
    from tfmemlint.estimate.facts.stepping import Batch
    from tfmemlint.model.file import File

MOST_WORK = 200_000
"""Statements and expressions that are followed in one file."""

MOST_WORK_AGAIN = 50_000
"""Those of them that are kept for functions that train and that nothing calls."""

DEEPEST = 24
"""Calls of the program's functions in each other."""


class TooMuchWork(Exception):
    """A program needs more work than is done for one file."""


class Machine(State):
    """The state of a program that is followed."""

    def __init__(self, file: File, given: Given) -> None:
        super().__init__()
        self.file = file
        self.given = given
        self.evaluator = file.values
        if given.facts:
            self.evaluator.stated = lambda node, found: origins.filled(self, node, found)
        self.record = Record()
        self.work = 0
        self.deepest = DEEPEST
        self.running: list[Closure] = []
        self.calling: list[cst.CSTNode | None] = []
        self.modules: dict[int, Env] = {}
        self.serial = 0
        self.names: dict[str, int] = {}
        self.settings: dict[str, Value] = {}
        self.tapes: list[Object] = []
        self.yields: list[list[Value]] = []
        self.batches: list[Batch] = []
        """The data of the loops that are being followed."""
        self.built: dict[Any, tuple[list[Traced], list[Traced]] | None] = {}
        """The symbolic inputs and outputs of `Sequential` models."""
        self.literals: dict[int, Value] = {}
        """The values of numbers and texts, by the identity of their nodes."""
        self.starred: dict[tuple[int, str], Value | None] = {}
        """What star imports give names, by the module and the name."""
        self.reached: set[int] = set()
        """The calls that were come to, by the identity of their nodes."""
        self.within: dict[int, Env] = {}
        """The names in a function when it was followed last, by the identity of its node."""
        self.texts: dict[int, str | None] = {}
        """Expressions as Python prints them, by the identity of their nodes."""
        self.used: set[str] = set()
        """The expressions of which was needed what the user says."""
        self.quiet = 0
        """How many loops are followed for what they change alone."""
        self.events: list[Any] = []
        self.taken: list[Any] = []
        """The gradients that were taken, by their numbers."""

    def spend(self) -> None:
        """One piece of work; raises TooMuchWork beyond what is done for a file."""
        self.work += 1
        if self.work > MOST_WORK:
            raise TooMuchWork

    def again(self) -> None:
        """Allow some work more, for what is looked at by itself."""
        self.work = min(self.work, MOST_WORK - MOST_WORK_AGAIN)

    def tensor_of(self, value: Value) -> Traced | None:
        """The tensor that a value is, if it is one."""
        return self.record.number(value) if isinstance(value, Array) else None

    # -- statements --------------------------------------------------------------------------------------------------

    def run_module(self, module: cst.Module, env: Env, name: str) -> None:
        """Follow a module from its beginning to its end, or as far as the work allows."""
        env.names["__name__"] = Const(name)
        env.names["__file__"] = Unknown("a path")
        self.block(module.body, env)

    def block(self, body: SequenceOf[cst.CSTNode], env: Env) -> Outcome:
        """Follow statements one after the other."""
        for index, statement in enumerate(body):
            self.spend()
            if statement.__class__ is cst.If:
                assert isinstance(statement, cst.If)
                ended, outcome = self._if(statement, body[index + 1 :], env)
                if ended or outcome is not None:
                    return outcome
                continue
            outcome = self._statement(statement, env)
            if outcome is not None:
                return outcome
        return None

    def suite(self, suite: cst.BaseSuite | None, env: Env) -> Outcome:
        """Follow the body of a compound statement."""
        return self.block(suite.body, env) if suite is not None else None

    def _statement(self, statement: cst.CSTNode, env: Env) -> Outcome:
        kind = statement.__class__  # a class test is far cheaper than isinstance on libcst's nodes
        if kind is cst.SimpleStatementLine:
            return self.block(statement.body, env)  # type: ignore[attr-defined]
        follow = _FOLLOWED.get(kind)
        if follow is not None:
            return follow(self, statement, env)
        assigning.follow(self, statement, env)
        return None

    def returned(self, statement: cst.Return, env: Env) -> Outcome:
        """`return`."""
        return "return", self.value(statement.value, env) if statement.value is not None else NONE

    def expression(self, statement: cst.Expr, env: Env) -> Outcome:
        """An expression that stands alone."""
        return ("raise", NONE) if self.value(statement.value, env) is EXITS else None

    def attempted(self, statement: cst.Try, env: Env) -> Outcome:
        """`try`: handlers are followed where the body certainly raises."""
        outcome = self.suite(statement.body, env)
        if outcome is not None and outcome[0] == "raise":
            outcome = None
            for handler in statement.handlers[:1]:
                outcome = self.suite(handler.body, env)
        elif outcome is None and statement.orelse is not None:
            outcome = self.suite(statement.orelse.body, env)
        last = self.suite(statement.finalbody.body, env) if statement.finalbody is not None else None
        return last or outcome

    # -- conditions --------------------------------------------------------------------------------------------------

    def _if(self, statement: cst.If, rest: SequenceOf[cst.CSTNode], env: Env) -> tuple[bool, Outcome]:
        """Follow a condition; True where what stands behind it was followed, too."""
        test = self.value(statement.test, env)
        sure = known.truth(test)
        if sure is not None:
            return False, self.suite(statement.body, env) if sure else self._otherwise(statement, env)
        one, first = self.branch(lambda: self.suite(statement.body, env))
        other, second = self.branch(lambda: self._otherwise(statement, env))
        if one is not None and one[0] == "raise":
            self.apply(second)
            return False, other
        if other is not None and other[0] == "raise":
            self.apply(first)
            return False, one
        if (one is None) == (other is None):
            self.merge(first, second, lacking.of(test))
            return False, self._both(one, other, env)
        left, kept, on = (one, first, second) if one is not None else (other, second, first)
        end, behind = self.branch(lambda: self._behind(on, rest, env))
        self.merge(kept, behind, lacking.of(test))
        return True, self._both(left, end, env)

    def _behind(self, changes: Changes, rest: SequenceOf[cst.CSTNode], env: Env) -> Outcome:
        self.apply(changes)
        return self.block(rest, env)

    def _otherwise(self, statement: cst.If, env: Env) -> Outcome:
        orelse = statement.orelse
        if isinstance(orelse, cst.If):
            return self.block([orelse], env)
        return self.suite(orelse.body, env) if orelse is not None else None

    def _both(self, one: Outcome, other: Outcome, env: Env) -> Outcome:
        """How two ways end that were both followed: what one returns is kept for the end of the function."""
        returned = [each[1] for each in (one, other) if each is not None and each[0] == "return"]
        if len(returned) == 2:
            return "return", join(returned[0], returned[1])
        env.returns += returned
        return one if one == other else None

    # -- expressions -------------------------------------------------------------------------------------------------

    def value(self, node: cst.CSTNode, env: Env) -> Value:
        """What an expression is."""
        self.spend()
        return expressions.value(self, node, env)

    def attribute(self, base: Value, name: str) -> Value:
        """`base.name`."""
        return expressions.attribute(self, base, name)

    def assign(self, target: cst.CSTNode, value: Value, env: Env) -> None:
        """Give a target its value."""
        assigning.assign(self, target, value, env)

    # -- calls -------------------------------------------------------------------------------------------------------

    def call(self, target: Value, given: Arguments, node: cst.Call) -> Value:
        """What calling a value gives."""
        return calls.call(self, target, given, node)

    def unknown(self, target: Value, given: Arguments, node: cst.Call) -> Value:
        """What a call gives of which is not known what it calls."""
        return calls.unknown(self, target, given, node)

    def asked(self, target: Value, given: Arguments, node: cst.Call) -> Value:
        """What the model says that a call of a library gives."""
        return calls.asked(self, target, given, node)

    def run(
        self, function: Closure, positions: SequenceOf[Value], names: MappingOf[str, Value],
        node: cst.CSTNode | None, open_: bool = False,
    ) -> Value:  # fmt: skip
        """What a function of the program returns."""
        return calls.run(self, function, positions, names, node, open_)

    # -- models ------------------------------------------------------------------------------------------------------

    def through(self, model: Object, tensor: Traced, training: bool | None) -> Value:
        """A tensor through the layers of a `Sequential`."""
        return applying.through(self, model, tensor, training)

    def parts(self, owner: Object) -> list[Object]:
        """The layers and models that one holds."""
        return networks.parts(self, owner)

    def shown(self, owner: Object, name: str) -> Value | None:
        """An attribute that Keras gives a layer or model."""
        return networks.shown(self, owner, name)

    def drawn(self, over: Value, item: Value) -> Value:
        """One element of a pipeline, each of its arrays a tensor of its own."""
        return stepping.drawn(self, over, item)

    def method(self, kind: Kind, name: str) -> tuple[Closure, Kind] | None:
        """A method of a class of the program, and the class that has it."""
        for each in ancestry(kind):
            found = each.env.names.get(name)
            if isinstance(found, Closure):
                return found, each
        return None


_FOLLOWED: dict[type, Callable[[Machine, Any, Env], Outcome]] = {
    cst.For: looping.follow, cst.While: looping.follow, cst.With: looping.entered, cst.Try: Machine.attempted,
    cst.FunctionDef: assigning.define_function, cst.ClassDef: assigning.define_class, cst.Import: imported.follow,
    cst.ImportFrom: imported.follow, cst.Return: Machine.returned, cst.Expr: Machine.expression,
    cst.Break: lambda *_: ("break", NONE), cst.Continue: lambda *_: ("continue", NONE),
    cst.Raise: lambda *_: ("raise", NONE),
}  # fmt: skip
"""How statements are followed; all others give something its value."""
