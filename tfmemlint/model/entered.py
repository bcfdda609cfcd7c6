"""What an attribute holds when a method begins that sets it anew, from the order in which methods are called."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model import constructed
from tfmemlint.model.constructed import DEPTH, Defined
from tfmemlint.model.values import Class
from tfmemlint.syntax.scopes import OUTER, Binds, Definition, ScopeNode, dotted, written

if TYPE_CHECKING:
    from tfmemlint.model.evaluate import Evaluator

Words = list[tuple[str, bool]]
"""The names of methods in the order in which they are called, each with whether it certainly is."""


def entered(evaluator: Evaluator, node: cst.ClassDef, name: str, found: Defined, method: ScopeNode) -> Defined | None:
    """The definitions of an attribute, of those `found`, that stand when a method begins which is called from one place
    and in no loop: by another method of its object (`self._group(); self._mix()`), or behind others of an object that
    is made there (`Feed(x).group().mix()`). None where that is not seen, or where it depends on what happens."""
    return _Order(evaluator, node, name, found).entering(method)


@dataclass
class _Order:
    """One attribute of a class, and the methods that were looked at on the way to where the first of them is called."""

    evaluator: Evaluator
    node: cst.ClassDef
    name: str
    found: Defined
    inner: list[ScopeNode] = field(default_factory=list)

    def entering(self, method: ScopeNode) -> Defined | None:
        file = self.evaluator.file
        callers = self.evaluator.call_graph.callers(method)
        if self.inner and callers == ():  # other code begins here, with an object that it has made
            own = self._run_by(method, [*self.inner])
            return [d for d in self.found if d.scope not in own]
        if callers is None or len(callers) != 1 or len(self.inner) > DEPTH:
            return None
        call = callers[0].node
        home, func = file.contexts.function(call), call.func
        if not isinstance(func, cst.Attribute) or file.contexts.comprehension(call) is not None:
            return None
        if isinstance(home, cst.FunctionDef) and file.class_of(home) is not None:
            if dotted(func.value) == constructed.receiver(home):
                self.inner.append(method)
                return self._from_method(home, call)
        return self._from_outside(func.value, call)

    def _from_method(self, home: cst.FunctionDef, call: cst.Call) -> Defined | None:
        """What stands where a method of the object calls another one."""
        file, order = self.evaluator.file, self.evaluator.tree.order
        if file.contexts.loop(call) is not None or home in self.inner:
            return None
        before = file.flow(home).at(self.evaluator.tree.statement(call))
        reaching = before.get(f"{constructed.receiver(home)}.{self.name}", (OUTER,))
        own = written(reaching)
        if own and OUTER in reaching:
            return None
        since = max((order(d.node) for d in own), default=-1)
        calls = self.evaluator.classes.own_calls(home)
        last = self._last_of([(word, certain) for each, word, certain in calls if since < order(each) < order(call)])
        if last is None or last or own:
            return own if last == [] else last
        if home is constructed.constructor(self.evaluator, self.node):
            return [d for d in self.found if isinstance(d.scope, cst.ClassDef)] or None
        return self.entering(home)

    def _from_outside(self, receiver: cst.BaseExpression, call: cst.Call) -> Defined | None:
        """What stands where code that has made an object calls a method of it, by whichever name it has for it."""
        tree = self.evaluator.tree
        made, chained = _chain(receiver)
        links, between = list(chained), dict[cst.Call, bool]()
        for _ in range(DEPTH):
            definition = self._named(made, call) if isinstance(made, cst.Name) else None
            if definition is None or not isinstance(definition.value, cst.BaseExpression):
                break
            between.update(self._called_between(definition, call))
            made, chained = _chain(definition.value)
            links += chained
        run = {**between, **dict.fromkeys(links, True)}
        target = self.evaluator.callee(made, None) if isinstance(made, cst.Call) else None
        init = constructed.constructor(self.evaluator, target.node) if isinstance(target, Class) else None
        if init is None or not all(map(self._gives_itself, links)):
            return None
        calls = sorted(run, key=lambda each: (tree.last(each), -tree.order(each)))
        last = self._last_of([(self._word(each), run[each]) for each in calls])
        return constructed.last_set(self.evaluator, self.node, init, self.found, []) or None if last == [] else last

    def _named(self, name: cst.Name, call: cst.Call) -> Definition | None:
        """The assignment that gives a name its object, where a call of a method does not find what it left before."""
        file, tree = self.evaluator.file, self.evaluator.tree
        definition = file.only_definition(name)
        if definition is None or definition.binds is not Binds.VALUE or definition.path:
            return None
        again = any(not tree.contains(loop, definition.node) for loop in file.contexts.loops(call))
        return None if again else definition

    def _called_between(self, definition: Definition, end: cst.Call) -> dict[cst.Call, bool]:
        """The calls of methods of what a name stands for between its definition and another call, each with whether it
        certainly runs."""
        tree = self.evaluator.tree
        block, first, last = tree.parent(tree.statement(definition.node)), tree.order(definition.node), tree.order(end)
        methods = self.evaluator.file.home(definition.node).method_calls.items()
        calls = [call for (_, path), found in methods if path == definition.name for call in found]
        between = [call for call in calls if first < tree.order(call) < last]
        return {call: tree.parent(tree.statement(call)) is block for call in between}

    def _word(self, call: cst.Call) -> str:
        called = self.evaluator.file.called(call)
        return called.attr.value if isinstance(called, cst.Attribute) else ""

    def _gives_itself(self, call: cst.Call) -> bool:
        """Whether a method, as far as the class has it, certainly returns its own object."""
        method = self.evaluator.classes.method(self.node, self._word(call))
        returns = self.evaluator.file.returns(method) if method is not None else ()
        own = constructed.receiver(method) if method is not None else ""
        return all(isinstance(each.value, cst.Name) and each.value.value == own for each in returns)

    def _last_of(self, words: Words) -> Defined | None:
        """What the last of some methods leaves that sets the attribute; empty where none does, None where it may."""
        for word, certain in reversed(words):
            method = self.evaluator.classes.method(self.node, word)
            run = [*self.inner]
            last = constructed.last_set(self.evaluator, self.node, method, self.found, run) if method else []
            if last is None or (last and not certain):
                return None
            if last:
                return last
        return []

    def _run_by(self, method: ScopeNode, run: list[ScopeNode]) -> list[ScopeNode]:
        """The methods that a method of an object runs, itself among them, and those of `run`."""
        if isinstance(method, cst.FunctionDef) and len(run) <= 4 * DEPTH:
            run.append(method)
            for _, word, _ in self.evaluator.classes.own_calls(method):
                called = self.evaluator.classes.method(self.node, word)
                if called is not None and called not in run:
                    self._run_by(called, run)
        return run


def _chain(expression: cst.BaseExpression) -> tuple[cst.BaseExpression, list[cst.Call]]:
    """What the first method of a chain is called on, and the calls: `Feed(x)` and both of `Feed(x).group().mix()`."""
    calls: list[cst.Call] = []
    while isinstance(expression, cst.Call) and isinstance(expression.func, cst.Attribute):
        calls.append(expression)
        expression = expression.func.value
    return expression, calls

