"""Classes of the module: their API base, their methods and what their attributes hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model import knowledge, operations
from tfmemlint.model.scopes import OUTER, Definition
from tfmemlint.model.values import Api, Class, Const, Function, Instance, Unknown, Value, one_of

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.evaluate import Evaluator


class Classes:
    """Instances, attributes and methods of the classes that a module defines."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._attributes: dict[int, dict[str, list[Definition]]] = {}
        self._bases: dict[int, tuple[str | None, tuple[cst.ClassDef, ...]]] = {}

    def bases(self, node: cst.ClassDef) -> tuple[str | None, tuple[cst.ClassDef, ...]]:
        """The first API class among the ancestors, and the ancestors that this module defines, nearest first."""
        key = id(node)
        if key not in self._bases:
            self._bases[key] = (None, ())
            api, own = None, []
            for base in node.bases:
                for value in self._evaluator.value(base.value).options:
                    if isinstance(value, Api):
                        api = api or value.name
                    elif isinstance(value, Class) and value.node is not node:
                        above, further = self.bases(value.node)
                        api = api or above
                        own += [value.node, *further]
            self._bases[key] = (api, tuple(own))
        return self._bases[key]

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
            for statement in owner.body.body:
                if isinstance(statement, cst.FunctionDef) and statement.name.value == name:
                    return statement
        return None

    def methods(self, node: cst.ClassDef) -> list[cst.FunctionDef]:
        """The methods that the class itself defines."""
        return [statement for statement in node.body.body if isinstance(statement, cst.FunctionDef)]

    def attribute(self, instance: Instance, name: str, bound: bool) -> Value:
        """An attribute or method of an object (`bound`) or of its class."""
        assert instance.class_node is not None
        method = self.method(instance.class_node, name)
        if method is not None:
            return self._method(method, instance if bound else None)
        definitions = self.definitions(instance.class_node, name)
        if definitions:
            values = [self._evaluator.definition(d, None) for d in definitions]
            kept = [v for v in values if v != Const(None)]
            return one_of(kept or values)
        if instance.type_name is not None:
            return operations.attribute(Instance(instance.type_name, instance.call, instance.class_node), name)
        return Unknown(f"attribute {name} is not set in this file")

    def _method(self, method: cst.FunctionDef, receiver: Instance | None) -> Value:
        decorators = {d.decorator.value for d in method.decorators if isinstance(d.decorator, cst.Name)}
        defined = self._evaluator.functions.defined(method, None)
        assert isinstance(defined, Function)
        if decorators & {"property", "cached_property"}:
            return Unknown("a property")
        if "staticmethod" in decorators or receiver is None:
            return defined
        return Function(method, receiver=receiver, traced=defined.traced)

    def definitions(self, node: cst.ClassDef, name: str) -> list[Definition]:
        """All places in the class and its ancestors of this module that set an attribute, as they stand at a method's
        end."""
        found = []
        for owner in (node, *self.bases(node)[1]):
            found += self._table(owner).get(name, [])
        return found

    def _table(self, node: cst.ClassDef) -> dict[str, list[Definition]]:
        key = id(node)
        if key not in self._attributes:
            table: dict[str, list[Definition]] = {}
            for name, definitions in self._evaluator.file.flow(node).end.items():
                table.setdefault(name, []).extend(d for d in definitions if d is not OUTER)
            for method in self.methods(node):
                first = method.params.params[0].name.value if method.params.params else ""
                prefix = f"{first}."
                for name, definitions in self._evaluator.file.flow(method).end.items():
                    if first and name.startswith(prefix) and "." not in name[len(prefix) :]:
                        attribute = name[len(prefix) :]
                        table.setdefault(attribute, []).extend(d for d in definitions if d is not OUTER)
            self._attributes[key] = table
        return self._attributes[key]
