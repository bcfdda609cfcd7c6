"""How expressions and single statements read and bind names: the part of the flow analysis below control flow."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tfmemlint.syntax.environments import Env, Names
from tfmemlint.syntax.scopes import COMPREHENSIONS, Binds, Definition, Definitions, ScopeNode, dotted, parameters
from tfmemlint.syntax.tree import Node, children, push_children

_COMPREHENSIONS = frozenset(COMPREHENSIONS)


class Reader:
    """Reads one scope in the environment of the moment; `Flow` moves it from statement to statement."""

    def __init__(self, scope: ScopeNode) -> None:
        self.scope = scope
        self.uses: dict[int, Definitions] = {}
        self.bindings: dict[str, list[Definition]] = {}
        self._made: dict[tuple[int, str], Definition] = {}
        self._names = Names()
        self._nothing = Env.empty(self._names)
        self._env: Env | None = self._nothing
        self._recording = True
        self._dotted = False

    def made(self, node: Node, name: str) -> Definition | None:
        """The definition of a name that a statement or target makes."""
        return self._made.get((id(node), name))

    # -- environments ------------------------------------------------------------------------------------------------

    def _bind(self, name: str, binds: Binds, node: Node, value: Node | None = None, **more: Any) -> None:
        key = (id(node), name)
        definition = self._made.get(key)
        if definition is None:
            definition = self._made[key] = Definition(name, binds, node, self.scope, value=value, **more)
            self.bindings.setdefault(name, []).append(definition)
            self._dotted = self._dotted or "." in name or "[" in name
        self._env = (self._env or self._nothing).bind(self._names.named(name), (definition,))

    def _target(self, target: Node, binds: Binds, value: Node | None, path: tuple[int | slice, ...] = ()) -> None:
        if isinstance(target, (cst.Tuple, cst.List)):
            count = len(target.elements)
            star = next((i for i, e in enumerate(target.elements) if isinstance(e, cst.StarredElement)), count)
            for i, element in enumerate(target.elements):
                if i == star:
                    part = slice(star, star + 1 - count or None)
                    self._target(element.value, binds, value, (*path, part))
                else:
                    self._target(element.value, binds, value, (*path, i if i < star else i - count))
            return
        name = dotted(target)
        if name is not None:
            self._bind(name, binds, target, value, path=path)
        if not isinstance(target, cst.Name):
            self._visit_below(target)

    # -- expressions -------------------------------------------------------------------------------------------------

    def _visit_below(self, node: Node) -> None:
        for child in children(node):
            self._visit(child)

    def _visit(self, root: Node | None) -> None:
        if root is None or not self._recording:
            return
        stack: list[Any] = [root]
        uses, env, known = self.uses, self._env or self._nothing, self._names.get
        while stack:
            node = stack.pop()
            cls = node.__class__
            if cls is cst.Name:
                if (name := known(node.value)) is not None and (found := env.at(name)) is not None:
                    uses[id(node)] = found
            elif cls is cst.Attribute:
                if self._dotted and (name := known(dotted(node) or "")) is not None:
                    if (found := env.at(name)) is not None:
                        uses[id(node)] = found
                stack.append(node.value)
            elif cls is cst.Arg:
                stack.append(node.value)
            elif cls is cst.Lambda:
                stack.extend(param.default for param in parameters(node) if param.default is not None)
            elif cls in _COMPREHENSIONS:
                self._comprehension(node)
            elif cls is cst.NamedExpr:
                self._visit(node.value)
                self._target(node.target, Binds.VALUE, node.value)
                env = self._env or self._nothing
            else:
                if cls is cst.Subscript and self._dotted and (name := known(dotted(node) or "")) is not None:
                    if (found := env.at(name)) is not None:
                        uses[id(node)] = found
                push_children(stack, node)

    def _comprehension(self, node: Any) -> None:
        outside = self._env
        generator: cst.CompFor | None = node.for_in
        while generator is not None:
            self._visit(generator.iter)
            self._target(generator.target, Binds.ITEM, generator.iter)
            for condition in generator.ifs:
                self._visit(condition.test)
            generator = generator.inner_for_in
        if isinstance(node, cst.DictComp):
            self._visit(node.key)
            self._visit(node.value)
        else:
            self._visit(node.elt)
        self._env = outside

    # -- statements that bind names ----------------------------------------------------------------------------------

    def _assign(self, node: cst.Assign) -> None:
        self._visit(node.value)
        for target in node.targets:
            self._target(target.target, Binds.VALUE, node.value)

    def _ann_assign(self, node: cst.AnnAssign) -> None:
        self._visit(node.annotation)
        self._visit(node.value)
        name = dotted(node.target)
        if name is not None:
            self._bind(name, Binds.VALUE if node.value else Binds.UNKNOWN, node, node.value, annotation=node.annotation)

    def _aug_assign(self, node: cst.AugAssign) -> None:
        self._visit(node.value)
        self._visit(node.target)
        name = dotted(node.target)
        if name is not None:
            self._bind(name, Binds.AUGMENTED, node, node)

    def _import(self, node: cst.Import) -> None:
        for alias in node.names:
            path = _path(alias.name)
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                self._bind(alias.asname.name.value, Binds.IMPORT, alias, api=path)
            else:
                root = path.partition(".")[0]
                self._bind(root, Binds.IMPORT, alias, api=root)

    def _import_from(self, node: cst.ImportFrom) -> None:
        if isinstance(node.names, cst.ImportStar):
            return
        module = "." * len(node.relative) + (_path(node.module) if node.module else "")
        for alias in node.names:
            name = alias.asname.name if alias.asname is not None else alias.name
            if isinstance(name, cst.Name):
                path = f"{module}{'' if module.endswith('.') else '.'}{_path(alias.name)}"
                self._bind(name.value, Binds.IMPORT, alias, api=path)

    def _del(self, node: cst.Del) -> None:
        targets = [e.value for e in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
        for target in targets:
            self._visit(target)
            name = dotted(target)
            if name is not None:
                self._bind(name, Binds.UNKNOWN, target)


def _path(node: Node) -> str:
    return dotted(node) or ""
