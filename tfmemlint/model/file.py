"""One file as rules see it: names, calls by API name, values, contexts and places, all made on demand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.finding import Elsewhere, Span
from tfmemlint.model import pointing, versions
from tfmemlint.model.call_graph import CallGraph
from tfmemlint.model.calls import Call
from tfmemlint.model.contexts import Contexts
from tfmemlint.model.effects import Effects
from tfmemlint.model.evaluate import Evaluator
from tfmemlint.model.inferred_by_use import ShownModels, shown_models
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Value
from tfmemlint.syntax.program import Program
from tfmemlint.syntax.reaching import is_guarded
from tfmemlint.syntax.scopes import Definition, Definitions, ScopeNode
from tfmemlint.syntax.spans import MakeSpans, Offsets, generated
from tfmemlint.syntax.tree import Node
from tfmemlint.text.source import Source

if TYPE_CHECKING:
    from tfmemlint.config.settings import Config
    from tfmemlint.project.siblings import Sibling, Siblings
    from tfmemlint.project.texts import Text
    from tfmemlint.syntax.program import Assigned
    from tfmemlint.syntax.reaching import Flow
    from tfmemlint.syntax.remembered import Own


class File(Program):
    """The model of one parsed file. `config` holds the limits that rules ask for (bytes); `siblings` leads to the other
    modules of its project, None where they are not to be followed.

    What is asked about a node is answered for those of linked modules, too; what is asked by a name is about this file.
    """

    def __init__(
        self, source: Source, module: cst.Module, config: Config, siblings: Siblings | None = None,
        spans: MakeSpans = generated,
    ) -> None:  # fmt: skip
        known = siblings.kept(source) if siblings is not None else None
        super().__init__(module, known if known is not None and known.module is module else None)
        self.source = source
        self.config = config
        self.siblings = siblings
        self._make_spans = spans
        self.linked: dict[str, Sibling] = {}
        """The modules that were followed, by their paths."""
        self._by_tree: dict[int, Sibling] = {}
        self.values = Evaluator(self)
        self.contexts = Contexts(self)
        self._scopes_seen: dict[int, ScopeNode] = {}
        self._flows_seen: dict[int, Flow] = {}
        self._took_elsewhere = False
        self.answers: dict[tuple[Any, ...], Any] = {}
        """What functions marked with `once_per_file` have answered."""

    # -- modules -----------------------------------------------------------------------------------------------------

    def link(self, path: str) -> Program | None:
        """The module of the project in this file, which is this one where it leads back to it; None where it is not
        there, cannot be read or is one too many."""
        if self.siblings is None or path == self.siblings.path:
            return None if self.siblings is None else self
        found = self.linked.get(path)
        if found is None:
            found = self.siblings.program(path, self.source.text)
            if found is not None:
                self.linked[path] = self._by_tree[id(found.tree)] = found
                self.tree.linked.append(found.tree)
                self.values.memo.more(len(found.tree))
        return found

    def has(self, path: str, digest: bytes) -> bool:
        """Whether these bytes of a file are a module of the project, which is linked then."""
        found = self.link(path)
        return found is not None and getattr(found, "digest", None) == digest

    def home(self, node: Node) -> File | Sibling:
        """The module that holds a node: this one, or one of those that are linked."""
        tree = self.tree.owner(node) if self.linked else self.tree
        return self if tree is self.tree else self._by_tree[id(tree)]

    @cached_property
    def within_reach(self) -> tuple[Program, ...]:
        """The modules of the project that this file imports, and those that they import, each once."""
        found: dict[int, Program] = {id(self): self}
        wanted: list[Program] = [self]
        for program in wanted:  # grows by what each imports
            for statement in program.tree.of(cst.Import, cst.ImportFrom):
                for each in self.values.imports.run_by(statement):
                    if id(each) not in found:
                        found[id(each)] = each
                        wanted.append(each)
        return tuple(wanted[1:])

    def is_own(self, node: Node) -> bool:
        """Whether a node is one of this file itself."""
        return node in self.tree

    def scope_of(self, node: Node) -> ScopeNode:
        scope = self._scopes_seen.get(id(node))
        if scope is None:
            home = self.home(node)
            self._scopes_seen[id(node)] = scope = super().scope_of(node) if home is self else home.scope_of(node)
        return scope

    def flow(self, scope: ScopeNode) -> Flow:
        flow = self._flows_seen.get(id(scope))
        if flow is None:
            home = self.home(scope)
            flow = self._flows_seen[id(scope)] = super().flow(scope) if home is self else home.flow(scope)
        return flow

    def own(self, scope: ScopeNode) -> Own:
        home = self.home(scope)
        return super().own(scope) if home is self else home.own(scope)

    def returns(self, function: cst.FunctionDef) -> list[cst.Return]:
        """The return statements of a function, nested functions left out."""
        return self.own(function).returns

    def yields(self, function: cst.FunctionDef | cst.Lambda) -> bool:
        """Whether a function is a generator."""
        return self.own(function).yields

    def uses_of(self, definition: Definition) -> list[cst.Name]:
        home = self.home(definition.node)
        return super().uses_of(definition) if home is self else home.uses_of(definition)

    def written(self, expression: cst.BaseExpression) -> cst.BaseExpression:
        home = self.home(expression)
        return super().written(expression) if home is self else home.written(expression)

    def assigned(self, scope: ScopeNode) -> Assigned:
        home = self.home(scope)
        return super().assigned(scope) if home is self else home.assigned(scope)

    def inner_writes(self, name: str, scope: ScopeNode) -> tuple[Definition, ...]:
        home = self.home(scope)
        return super().inner_writes(name, scope) if home is self else home.inner_writes(name, scope)

    def called(self, call: cst.Call) -> cst.BaseExpression:
        home = self.home(call)
        return super().called(call) if home is self else home.called(call)

    # -- calls -------------------------------------------------------------------------------------------------------

    def calls(self, *names: str) -> Iterator[Call]:
        """All calls of these canonical API names, in source order."""
        return iter(_calls(self, names)) if not self.values.memo.computing else self._find_calls(names, self)

    def calls_within_reach(self, *names: str) -> Iterator[Call]:
        """All calls of these names in this file, and in the modules within its reach where importing them may lead
        there: what stands below a main guard is left out."""
        yield from self.calls(*names)
        for program in self.within_reach:
            yield from (call for call in self._find_calls(names, program) if not is_guarded(self.tree, call.node))

    def _find_calls(self, names: tuple[str, ...], program: Program) -> Iterator[Call]:
        wanted = frozenset(names)
        words: dict[str, None] = {}
        for name in names:
            for word in knowledge.words(name):
                words[word] = None
                words.update(dict.fromkeys(program.renamed.get(word, ())))
        nodes = {id(node): node for word in words for node in program.calls_by_word.get(word, ())}
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
        places, home = self.home(definition.node).places(definition.name), definition.scope
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
    def may_be_version_1(self) -> bool:
        """Whether the program may run on TensorFlow 1: it, or a module that it imports or that imports it, is written
        for that, and it does not use what hardly any program for that has."""
        return versions.may_be_version_1(self)

    @cached_property
    def around(self) -> tuple[Text, ...]:
        """What the texts tell of the modules of the project that this file imports, however far, and of those that
        import it: which versions of libraries the program runs on shows in any of them."""
        return self.siblings.around(self.source.text) if self.siblings is not None else ()

    @cached_property
    def says_version_2(self) -> bool:
        """Whether the program uses what hardly any program for TensorFlow 1 has; False where nothing tells."""
        return versions.says_version_2(self)

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
    def spans(self) -> Offsets:
        """Offsets of all nodes; made only for files with findings."""
        return self._make_spans(self.tree, self.source.text)

    def span(self, node: Node) -> Span:
        """The characters of a node, without the whitespace around it; those of its own text for a node of another
        module, which `took_elsewhere` tells."""
        home = self.home(node)
        self._took_elsewhere |= home is not self
        return Span(*home.spans[node])

    def took_elsewhere(self) -> bool:
        """Whether the characters of a node of another module were asked for since this was asked."""
        taken, self._took_elsewhere = self._took_elsewhere, False
        return taken

    def text(self, node: Node) -> str:
        """The node's source text."""
        home = self.home(node)
        start, end = home.spans[node]
        return home.source.text[start:end]

    def reads_alike(self, one: Node, other: Node) -> bool:
        """Whether two pieces of code are the same text of one module; in another, words stand for something else."""
        return self.home(one) is self.home(other) and self.text(one) == self.text(other)

    def source_of(self, node: Node) -> Source:
        """The text that holds a node: that of this file, or of the module that it belongs to."""
        return self.home(node).source

    def elsewhere(self, where: Call | Node | Span) -> Elsewhere | None:
        """The place of something in another module; None for what stands in this file."""
        return pointing.elsewhere(self, where)

    def place(self, where: Call | Node | Span) -> Span:
        """Where a finding about something points: a call's method name, a statement's first token, else the node."""
        return pointing.place(self, where)


@once_per_file
def _calls(file: File, names: tuple[str, ...]) -> list[Call]:
    return list(file._find_calls(names, file))
