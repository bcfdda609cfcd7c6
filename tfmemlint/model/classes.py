"""Classes of the module: their API base, their methods and what their attributes hold."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model import constructed, made
from tfmemlint.model.binding import given_by
from tfmemlint.model.entered import entered
from tfmemlint.model.values import Api, Array, Class, Const, Dataset, Function, Instance, Unknown, Value, one_of
from tfmemlint.syntax.scopes import Definition, ScopeNode, decorated, dotted, written
from tfmemlint.syntax.tree import Tree

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.evaluate import Evaluator


PROPERTIES = frozenset({"property", "cached_property", "lazy_property", "abstractproperty"})
MOST_ANCESTORS = 100
"""Classes of the module that a class may derive from and still be understood."""

Bases = tuple["str | None", tuple[cst.ClassDef, ...]]
DATA_CLASSES = (Api("dataclasses.dataclass"), Api("typing.NamedTuple"), Api("attr.s"), Api("attrs.define"))


class Classes:
    """Instances, attributes and methods of the classes that a module defines."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._attributes: dict[int, dict[str, list[Definition]]] = {}
        self._bases: dict[int, Bases] = {}
        self._methods: dict[int, dict[str, cst.FunctionDef]] = {}
        self._initialised: dict[int, dict[int, list[str]]] = {}
        self._fields: dict[int, list[str]] = {}
        self._own_calls: dict[int, list[constructed.OwnCall]] = {}

    def bases(self, node: cst.ClassDef) -> Bases:
        """The first API class among the ancestors, and the ancestors that this module defines, nearest first.

        Of a class with more than MOST_ANCESTORS of them nothing is known.
        """
        known = self._bases.get(id(node))
        if known is None:
            nothing: Bases = (None, ())
            known = self._evaluator.general(("bases", id(node)), self._find_bases, node, start=nothing)
        return known

    def _find_bases(self, node: cst.ClassDef) -> Bases:
        found, stands = self._evaluator.memo.settled(lambda: self._bases_above(node))
        if stands:
            self._bases.update(found)
        return found[id(node)]

    def _bases_above(self, node: cst.ClassDef) -> dict[int, Bases]:
        """The bases of a class and of those above it that are not known."""
        found: dict[int, Bases] = {}
        waiting = [node]
        while waiting:  # a hierarchy may be deeper than Python's stack
            top = waiting[-1]
            missing = [] if id(top) in found else self._unknown_above(top, found)
            waiting += missing
            if not missing:
                waiting.pop()
                found[id(top)] = self._joined(top, ChainMap(found, self._bases))
        return found

    def _unknown_above(self, node: cst.ClassDef, found: dict[int, Bases]) -> list[cst.ClassDef]:
        found[id(node)] = (None, ())
        above = [value.node for value in self._above(node) if isinstance(value, Class)]
        return [each for each in reversed(above) if id(each) not in found and id(each) not in self._bases]

    def _joined(self, node: cst.ClassDef, bases: Mapping[int, Bases]) -> Bases:
        api, own = None, {}
        for value in self._above(node):
            if isinstance(value, Api):
                api = api or value.name
            elif value.node is not node:
                above, further = bases[id(value.node)]
                api = api or above
                own.update({id(each): each for each in (value.node, *further) if id(each) not in own})
        return (api, tuple(own.values())) if len(own) <= MOST_ANCESTORS else (None, ())

    def _above(self, node: cst.ClassDef) -> list[Api | Class]:
        """What a class is written to derive from."""
        options = (value for base in node.bases for value in self._evaluator.value(base.value).options)
        return [value for value in options if isinstance(value, (Api, Class))]

    def instance(self, node: cst.ClassDef, call: Call | None) -> Value:
        """An object of a class of this module."""
        return Instance(self.bases(node)[0], call, node)

    def derives(self, node: cst.ClassDef, name: str) -> bool:
        """Whether a class has the API class `name` (canonical) among its ancestors."""
        api = self.bases(node)[0]
        return api is not None and (api == name or name in knowledge.bases(api))

    def method(self, node: cst.ClassDef, name: str) -> cst.FunctionDef | None:
        """The method `name` as the class or its ancestors in this module define it."""
        for owner in (node, *self.bases(node)[1]):
            method = self._named(owner).get(name)
            if method is not None:
                return method
        return None

    def _named(self, node: cst.ClassDef) -> dict[str, cst.FunctionDef]:
        """The methods that a class itself defines, by name; of several of one name the first."""
        named = self._methods.get(id(node))
        if named is None:
            named = self._methods[id(node)] = {each.name.value: each for each in reversed(self.methods(node))}
        return named

    def made_by(self, function: cst.FunctionDef) -> list[str]:
        """The names by which calls make the objects that this `__init__` initialises: those of their classes, and of
        the first parameter of their class methods (`cls(...)`)."""
        tree = self._evaluator.file.home(function).tree
        known = self._initialised.get(id(tree))
        if known is not None:
            return known.get(id(function), [])
        found, stands = self._evaluator.memo.settled(lambda: self._find_initialised(tree))
        if stands:
            self._initialised[id(tree)] = found
        return found.get(id(function), [])

    def _find_initialised(self, tree: Tree) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for node in tree.of(cst.ClassDef):
            names = found.setdefault(id(self.method(node, "__init__")), [])
            names += [name for name in self._called(node) if name not in names]
        return found

    def _called(self, node: cst.ClassDef) -> list[str]:
        """The names by which a class is called: its own, and what its class methods call it."""
        takers = [each for each in self.methods(node) if decorated(each, "classmethod") and each.params.params]
        return list(dict.fromkeys([node.name.value, *(each.params.params[0].name.value for each in takers)]))

    def methods(self, node: cst.ClassDef) -> list[cst.FunctionDef]:
        """The methods that the class itself defines."""
        return [statement for statement in node.body.body if isinstance(statement, cst.FunctionDef)]

    def own_calls(self, method: cst.FunctionDef) -> list[constructed.OwnCall]:
        """The calls of methods of its own object in a method: see `constructed.own_calls`."""
        if id(method) not in self._own_calls:
            self._own_calls[id(method)] = constructed.own_calls(self._evaluator.file, method)
        return self._own_calls[id(method)]

    def attribute(self, instance: Instance, name: str, bound: bool, reader: ScopeNode | None = None) -> Value:
        """An attribute or method of an object (`bound`) or of its class; a method that is its `reader` before it sets
        it sees what others have set."""
        assert instance.class_node is not None
        method = self.method(instance.class_node, name)
        if method is not None:
            return self._method(method, instance if bound else None, instance.class_node)
        found = self.definitions(instance.class_node, name)
        definitions = self._entered(instance.class_node, name, found, reader)
        if definitions is None:
            definitions = constructed.left(self._evaluator, instance.class_node, found, reader)
        if definitions is None:
            return Unknown(f"attribute {name} may be set anew when the object is made")
        others = [d for d in definitions if d.scope is not reader]
        if others and len(others) < len(definitions) and reader and self._fresh(reader, others, name, instance):
            definitions = others
        if definitions:
            values = self.values(definitions, name, instance)
            kept = [v for v in values if v != Const(None)]
            return _one_dtype(definitions, reader, one_of(kept or values))
        if instance.type_name is not None:
            return Instance(instance.type_name, instance.call, instance.class_node).attribute(name)
        return Unknown(f"attribute {name} is not set in this file")

    def _entered(
        self, node: cst.ClassDef, name: str, found: list[Definition], reader: ScopeNode | None
    ) -> list[Definition] | None:
        """The definitions that a method finds when it begins which then sets the attribute anew; None if not seen."""
        sets = reader is not None and len({d.scope for d in found}) > 1 and any(d.scope is reader for d in found)
        return entered(self._evaluator, node, name, found, reader) if reader is not None and sets else None

    def _fresh(self, reader: ScopeNode, others: list[Definition], name: str, instance: Instance) -> bool:
        """Whether a method finds an attribute as others have left it: it runs once, or carries on a pipeline that it
        is not seen to carry on again."""
        assert instance.class_node is not None
        graph = self._evaluator.call_graph
        if graph.once(reader) or reader is constructed.constructor(self._evaluator, instance.class_node):
            return True
        left = (self._value(d, name, instance) for d in others)
        return graph.callers(reader) == () and all(isinstance(o, Dataset) for v in left for o in v.options)

    def _method(self, method: cst.FunctionDef, receiver: Instance | None, node: cst.ClassDef) -> Value:
        written = [dotted(d.decorator) or "" for d in method.decorators]
        decorators = {text.rpartition(".")[2] for text in written}
        defined = self._evaluator.functions.defined(method, None)
        assert isinstance(defined, Function)
        if decorators & PROPERTIES:
            return Unknown("a property") if receiver is None else self._evaluator.functions.read(method, receiver)
        if "classmethod" in decorators:
            return Function(method, receiver=Class(node), traced=defined.traced)
        if "staticmethod" in decorators or receiver is None:
            return defined
        return Function(method, receiver=receiver, traced=defined.traced)

    def definitions(self, node: cst.ClassDef, name: str) -> list[Definition]:
        """All places in the class and its ancestors of this module that set an attribute, as they stand at a method's
        end."""
        found: list[Definition] = []
        for owner in (node, *self.bases(node)[1]):
            overridden = any(d.scope is not None and isinstance(d.scope, cst.ClassDef) for d in found)
            found += [d for d in self._table(owner).get(name, []) if not (overridden and d.scope is owner)]
        return found

    def made_with(self, instance: Instance, name: str) -> Value | None:
        """What an attribute holds as long as its object lives: see `made.made_with`."""
        return made.made_with(self._evaluator, instance, name)

    def values(self, definitions: list[Definition], name: str, instance: Instance) -> list[Value]:
        """What definitions of an attribute give it, those left out that the constructor passed by when it made this
        object."""
        left = made.made_so(self._evaluator, instance, definitions)
        return [self._value(d, name, instance) for d in left]

    def _value(self, definition: Definition, name: str, instance: Instance) -> Value:
        """What a definition of an attribute gives it: for a field of a dataclass what its constructor is passed."""
        owner = definition.scope
        if isinstance(owner, cst.ClassDef) and definition.annotation is not None and self.is_data(owner):
            fields = self._field_names(owner)
            calls = [instance.call] if instance.call is not None else self._constructions(owner)
            given = [given_by(call, None, None, None).field(name, fields) for call in calls]
            if any(value is None for value in given) or not given:
                given.append(self._evaluator.definition(definition, None))
            return one_of(value for value in given if value is not None)
        return self._evaluator.definition(definition, made.making(self._evaluator, instance, owner))

    def is_data(self, node: cst.ClassDef) -> bool:
        """Whether Python makes the constructor from the annotated fields."""
        named = [*(d.decorator for d in node.decorators), *(base.value for base in node.bases)]
        plain = [n.func if isinstance(n, cst.Call) else n for n in named]
        return any(self._evaluator.value(n) in DATA_CLASSES for n in plain)

    def _field_names(self, node: cst.ClassDef) -> list[str]:
        """The annotated names of a class body, in order."""
        names = self._fields.get(id(node))
        if names is None:
            bindings = self._evaluator.file.flow(node).bindings.values()
            names = [d.name for found in bindings for d in found if d.annotation is not None]
            self._fields[id(node)] = names
        return names

    def _constructions(self, node: cst.ClassDef) -> list[Call]:
        """The calls in this file that make objects of a class."""
        file = self._evaluator.file
        by_word = file.home(node).calls_by_word
        calls = [file.call(found) for name in self._called(node) for found in by_word.get(name, ())]
        return [call for call in calls if Class(node) in call.target.options]

    def _table(self, node: cst.ClassDef) -> dict[str, list[Definition]]:
        key = id(node)
        if key not in self._attributes:
            table: dict[str, list[Definition]] = {}
            for name, definitions in self._evaluator.file.flow(node).end.items():
                table.setdefault(name, []).extend(written(definitions))
            for method in self.methods(node):
                first = constructed.receiver(method)
                prefix = f"{first}."
                for name, definitions in self._evaluator.file.flow(method).end.items():
                    if first and name.startswith(prefix) and "." not in name[len(prefix) :]:
                        attribute = name[len(prefix) :]
                        table.setdefault(attribute, []).extend(written(definitions))
            self._attributes[key] = table
        return self._attributes[key]


def _one_dtype(definitions: list[Definition], reader: ScopeNode | None, found: Value) -> Value:
    """What an attribute holds that several methods set, for code of none of them: of arrays of several dtypes no dtype
    is known, as nobody knows which method was the last."""
    setters = {d.scope for d in definitions}
    arrays = [option for option in found.options if isinstance(option, Array)]
    unclear = len(setters) > 1 and reader not in setters and len({array.dtype for array in arrays}) > 1
    return arrays[0].shared(arrays[1:]) if unclear and len(arrays) == len(found.options) else found
