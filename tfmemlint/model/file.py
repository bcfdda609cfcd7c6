"""One file as rules see it: names, calls by API name, values, contexts and places, all made on demand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.finding import Span
from tfmemlint.model import versions
from tfmemlint.model.call_graph import CallGraph
from tfmemlint.model.calls import Call
from tfmemlint.model.contexts import Contexts
from tfmemlint.model.effects import Effects
from tfmemlint.model.evaluate import Evaluator
from tfmemlint.model.inferred_by_use import ShownModels, shown_models
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Value
from tfmemlint.syntax.program import Program
from tfmemlint.syntax.scopes import Definition, Definitions, ScopeNode, own_nodes
from tfmemlint.syntax.spans import Spans
from tfmemlint.syntax.tree import Node
from tfmemlint.text.source import Source

if TYPE_CHECKING:
    from tfmemlint.config.settings import Config


class File(Program):
    """The model of one parsed file. `config` holds the limits that rules ask for (bytes)."""

    def __init__(self, source: Source, module: cst.Module, config: Config) -> None:
        super().__init__(module)
        self.source = source
        self.config = config
        self.values = Evaluator(self)
        self.contexts = Contexts(self)
        self._left: dict[int, list[Node]] = {}
        self.answers: dict[tuple[Any, ...], Any] = {}
        """What functions marked with `once_per_file` have answered."""

    # -- calls -------------------------------------------------------------------------------------------------------

    def calls(self, *names: str) -> Iterator[Call]:
        """All calls of these canonical API names, in source order."""
        return iter(_calls(self, names)) if not self.values.memo.computing else self._find_calls(names)

    def _find_calls(self, names: tuple[str, ...]) -> Iterator[Call]:
        wanted = frozenset(names)
        words: dict[str, None] = {}
        for name in names:
            for word in knowledge.words(name):
                words[word] = None
                words.update(dict.fromkeys(self.renamed.get(word, ())))
        nodes = {id(node): node for word in words for node in self.calls_by_word.get(word, ())}
        order, last = self.tree.order, self.tree.last
        found: dict[int, Call] = {}
        # A chain is asked from its beginning on: the first question would be as deep as it is long otherwise.
        for node in sorted(nodes.values(), key=lambda each: (last(each), -order(each))):
            call = self.values.call(node)
            if call.names and wanted.issuperset(call.names):
                found[order(node)] = call
        for place in sorted(found):
            yield found[place]

    def call(self, node: cst.Call) -> Call:
        """The call object of a call expression."""
        return self.values.call(node)

    def value(self, node: Node) -> Value:
        """What an expression can be, over all callers of the code around it."""
        return self.values.value(node)

    @property
    def call_graph(self) -> CallGraph:
        """Who calls the file's functions, and who is given them."""
        return self.values.call_graph

    # -- names -------------------------------------------------------------------------------------------------------

    def readers(self, definition: Definition) -> list[cst.Name]:
        """The Name nodes that may read a definition, in its own scope and in functions inside of it."""
        places, home = self.places(definition.name), definition.scope
        inside = [use for use in places.captured(home) if any(d is definition for d in self._from_outside(use, home))]
        return sorted([*places.reading(definition), *inside], key=self.tree.order)

    def _from_outside(self, name: cst.Name, home: ScopeNode) -> Definitions:
        """What a name can be that a function inside of `home` reads and does not bind."""
        scope = self.scope_of(name)
        parent = self.tree.parent(name)
        if scope is home or (isinstance(parent, cst.Attribute) and parent.attr is name):
            return ()
        if self.flow(scope).bindings.get(name.value):
            return ()
        for outer in self.scopes_around(scope):
            if outer is home:
                return self.values.functions.visible(name.value, scope, outer, None)
            if self.flow(outer).bindings.get(name.value):
                break
        return ()

    @cached_property
    def before_version_2(self) -> bool:
        """Whether the program is written for TensorFlow 1."""
        return versions.before_version_2(self)

    @cached_property
    def says_version_2(self) -> bool:
        """Whether the program uses what hardly any program for TensorFlow 1 has; False where nothing tells."""
        return versions.says_version_2(self)

    def returns(self, function: cst.FunctionDef) -> list[cst.Return]:
        """The return statements of a function, nested functions left out."""
        return [node for node in self._leaves(function) if isinstance(node, cst.Return)]

    def yields(self, function: cst.FunctionDef | cst.Lambda) -> bool:
        """Whether a function is a generator."""
        return any(isinstance(node, cst.Yield) for node in self._leaves(function))

    def _leaves(self, function: cst.FunctionDef | cst.Lambda) -> list[Node]:
        """The `return` and `yield` of a function itself."""
        found = self._left.get(id(function))
        if found is None:
            found = self._left[id(function)] = list(own_nodes(function, cst.Return, cst.Yield))
        return found

    @cached_property
    def shown_models(self) -> ShownModels:
        """What the file uses as only Keras models are used."""
        return shown_models(self)

    # -- order -------------------------------------------------------------------------------------------------------

    @cached_property
    def effects(self) -> Effects:
        """The order of TensorFlow's effects as the program runs."""
        return Effects(self)

    # -- places ------------------------------------------------------------------------------------------------------

    @cached_property
    def spans(self) -> Spans:
        """Offsets of all nodes; made only for files with findings."""
        return Spans(self.module, self.source.text)

    def span(self, node: Node) -> Span:
        """The characters of a node, without the whitespace around it."""
        return Span(*self.spans[node])

    def text(self, node: Node) -> str:
        """The node's source text."""
        start, end = self.spans[node]
        return self.source.text[start:end]

    def place(self, where: Call | Node | Span) -> Span:
        """Where a finding about something points: a call's method name, a statement's first token, else the node."""
        if isinstance(where, Span):
            return where
        if isinstance(where, Call):
            return self.span(where.name_node)
        span = self.span(where)
        if isinstance(where, (cst.BaseCompoundStatement, cst.SimpleStatementLine, cst.BaseSmallStatement)):
            text = self.source.text
            end = span.start
            while end < span.end and (text[end].isalnum() or text[end] == "_"):
                end += 1
            return Span(span.start, max(end, span.start + 1))
        return span


@once_per_file
def _calls(file: File, names: tuple[str, ...]) -> list[Call]:
    return list(file._find_calls(names))
