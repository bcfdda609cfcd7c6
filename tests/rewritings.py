"""Other ways to write a whole program, made with libcst, that must change nothing in what is found.

A rewriting gives the new text and, for each place where a node of the new program starts, the line from which that node
comes, so that findings can be compared by place although lines moved. Where a program holds nothing to rewrite, or
something that makes the rewriting another program, it is not applied.
"""

from __future__ import annotations

import builtins
import contextlib
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, TypeVar

import libcst as cst

from tfmemlint.syntax.spans import Spans
from tfmemlint.syntax.tree import push_children

_Kind = TypeVar("_Kind", bound=cst.CSTNode)


@dataclass
class Rewritten:
    """A program written differently, and for each of its nodes the old one from which it comes."""

    old: cst.Module
    new: cst.Module
    origins: list[tuple[cst.CSTNode, cst.CSTNode]]

    @cached_property
    def text(self) -> str:
        return self.new.code

    @cached_property
    def lines(self) -> dict[int, int]:
        """The old line (from 1) of what starts at an offset of the new text."""
        before, after = _spans(self.old), Spans(self.new, self.text)
        ends = _line_ends(self.old)
        found: dict[int, int] = {}
        for new, old in self.origins:
            with contextlib.suppress(KeyError):
                found.setdefault(after[new][0], bisect_left(ends, before[old][0]) + 1)
        return found


@cache
def _spans(module: cst.Module) -> Spans:
    return Spans(module, module.code)


@cache
def _line_ends(module: cst.Module) -> list[int]:
    return [number for number, char in enumerate(module.code) if char == "\n"]


@cache
def parsed(text: str) -> cst.Module:
    """The tree of a program."""
    return cst.parse_module(text)


class NotApplied(Exception):
    """The program has nothing to rewrite, or the rewriting would make another program of it."""


class Rewriter(cst.CSTTransformer):
    """A transformer that remembers from which old node each new node comes."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__()
        self.module = module
        self.changed = 0
        self.origins: list[tuple[cst.CSTNode, cst.CSTNode]] = []
        self.names = {name.value for name in nodes(module, cst.Name)}
        self.fresh = (name for i in range(10_000) if (name := f"v{i}") not in self.names)

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        result = super().on_leave(original_node, updated_node)
        if isinstance(result, cst.CSTNode):
            self.origins.append((result, original_node))
        return result


def rewrite(text: str, make: Callable[[cst.Module], Rewriter]) -> Rewritten:
    """Apply a transformer to a program. Raises NotApplied where it changes nothing or must not be applied."""
    module = parsed(text)
    rewriter = make(module)
    new = module.visit(rewriter)
    if not rewriter.changed:
        raise NotApplied
    done = Rewritten(module, new, rewriter.origins)
    compile(done.text, "rewritten", "exec")
    return done


def nodes(root: cst.CSTNode, kind: type[_Kind], within: tuple[type[cst.CSTNode], ...] = ()) -> Iterator[_Kind]:
    """All nodes of a kind; those below nodes of the kinds `within` are left out."""
    stack: list[cst.CSTNode] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, kind):
            yield node
        if node is root or not isinstance(node, within):
            push_children(stack, node)


def dotted(node: cst.CSTNode) -> tuple[str, ...]:
    """The parts of `a.b.c`; empty for anything else."""
    if isinstance(node, cst.Name):
        return (node.value,)
    if isinstance(node, cst.Attribute) and (base := dotted(node.value)):
        return (*base, node.attr.value)
    return ()


def expression(parts: tuple[str, ...]) -> cst.BaseExpression:
    """`a.b.c` as a node."""
    node: cst.BaseExpression = cst.Name(parts[0])
    for part in parts[1:]:
        node = cst.Attribute(node, cst.Name(part))
    return node


def assigned(root: cst.CSTNode, within: tuple[type[cst.CSTNode], ...] = ()) -> set[str]:
    """Names that assignments, loops and `with` bind."""
    found: set[str] = set()
    targets: list[cst.CSTNode] = [node.target for node in nodes(root, cst.AssignTarget, within)]
    targets += [node.target for kind in (cst.AnnAssign, cst.AugAssign, cst.NamedExpr)
                for node in nodes(root, kind, within)]  # fmt: skip
    targets += [node.target for kind in (cst.For, cst.CompFor) for node in nodes(root, kind, within)]
    targets += [item.asname.name for item in nodes(root, cst.WithItem, within) if item.asname is not None]
    while targets:
        target = targets.pop()
        if isinstance(target, cst.Name):
            found.add(target.value)
        elif isinstance(target, (cst.Tuple, cst.List)):
            targets += [element.value for element in target.elements]
    return found


# -- names ------------------------------------------------------------------------------------------------------------


class RenameVariables(Rewriter):
    """Each variable gets a name that says nothing; parameters, functions, classes and imports keep theirs."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__(module)
        kept = {node.name.value for kind in (cst.FunctionDef, cst.ClassDef, cst.Param) for node in nodes(module, kind)}
        kept |= {node.keyword.value for node in nodes(module, cst.Arg) if node.keyword is not None}
        kept |= imported(module) | set(dir(builtins)) | class_names(module)
        self.new = {name: next(self.fresh) for name in sorted(assigned(module) - kept)}
        self._attributes: set[int] = set()

    def visit_Attribute(self, node: cst.Attribute) -> None:
        self._attributes.add(id(node.attr))

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        new = self.new.get(original_node.value)
        if new is None or id(original_node) in self._attributes:
            return updated_node
        self.changed += 1
        return updated_node.with_changes(value=new)


def imported(module: cst.Module) -> set[str]:
    """Names that import statements mention."""
    return {name.value for kind in (cst.Import, cst.ImportFrom) for node in nodes(module, kind)
            for name in nodes(node, cst.Name)}  # fmt: skip


def class_names(module: cst.Module) -> set[str]:
    """Names that class bodies bind: they are read as attributes too."""
    return {name for node in nodes(module, cst.ClassDef) for name in assigned(node.body, (cst.FunctionDef,))}


class Spell(Rewriter):
    """Writes API names that start with an alias of TensorFlow in another way and adds the imports that it needs."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__(module)
        self.tensorflow = self._alias(module)
        attributes = {id(node.attr) for node in nodes(module, cst.Attribute)}
        self.used = {name.value for name in nodes(module, cst.Name) if id(name) not in attributes} | set(dir(builtins))
        self.added: dict[str, str] = {}
        self.bound: dict[str, str] = {}

    def _alias(self, module: cst.Module) -> str:
        for node in nodes(module, cst.ImportAlias):
            if dotted(node.name) == ("tensorflow",) and node.asname is not None:
                if isinstance(node.asname.name, cst.Name) and node.asname.name.value not in assigned(module):
                    return node.asname.name.value
        raise NotApplied

    @abstractmethod
    def spelled(self, parts: tuple[str, ...]) -> tuple[str, ...] | None:
        """The other spelling of a name, TensorFlow's alias left out, or None to leave it."""

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        parts = dotted(original_node)
        new = self.spelled(parts[1:]) if len(parts) > 1 and parts[0] == self.tensorflow else None
        if new is None:
            return updated_node
        self.changed += 1
        return expression(new).with_changes(lpar=updated_node.lpar, rpar=updated_node.rpar)

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        body = list(updated_node.body)
        place = next(i for i, line in enumerate(original_node.body) if self._imports(line)) + 1
        lines = [cst.parse_statement(line) for line in self.added]
        return updated_node.with_changes(body=[*body[:place], *lines, *body[place:]])

    def _imports(self, line: cst.CSTNode) -> bool:
        return any(dotted(node.name) == ("tensorflow",) for node in nodes(line, cst.ImportAlias))

    def name_for(self, last: str, line: Callable[[str], str], known: str) -> str:
        """The name that an import of `known` binds: its last part where that is free."""
        for text, bound in self.added.items():
            if self.bound[text] == known:
                return bound
        name = next(self.fresh) if last in self.used or last in self.added.values() else last
        self.added[line(name)] = name
        self.bound[line(name)] = known
        return name


class FromImports(Spell):
    """`tf.data.Dataset` becomes `Dataset` of `from tensorflow.data import Dataset`."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__(module)
        self.inner = {id(node.value) for node in nodes(module, cst.Attribute)}

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        if id(original_node) in self.inner and not original_node.attr.value[0].isupper():
            return updated_node  # a part of a longer name
        return super().leave_Attribute(original_node, updated_node)

    def spelled(self, parts: tuple[str, ...]) -> tuple[str, ...] | None:
        first = next((i for i, part in enumerate(parts) if part[0].isupper()), len(parts) - 1)
        path, last, rest = parts[:first], parts[first], parts[first + 1 :]
        if path[:2] == ("compat", "v1") or rest or last in self.used:
            return None
        module = ".".join(("tensorflow", *path))

        def line(name: str) -> str:
            return f"from {module} import {last}" + ("" if name == last else f" as {name}")

        return (self.name_for(last, line, f"{module}.{last}"),)


class PartsByImport(FromImports):
    """`tf.data.Dataset` becomes `data.Dataset` of `from tensorflow import data`."""

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        return Spell.leave_Attribute(self, original_node, updated_node)

    def spelled(self, parts: tuple[str, ...]) -> tuple[str, ...] | None:
        if len(parts) != 1 or parts[0] not in ("data", "keras", "config", "image", "io", "nn", "random", "math"):
            return None
        last = parts[0]
        return (self.name_for(last, lambda n: f"from tensorflow import {last} as {n}", last),)


class PartsByName(PartsByImport):
    """`tf.data.Dataset` becomes `data.Dataset` with `data = tf.data`."""

    def spelled(self, parts: tuple[str, ...]) -> tuple[str, ...] | None:
        if parts not in (("data",), ("keras", "layers"), ("config", "experimental"), ("keras", "models"), ("image",)):
            return None
        path = ".".join((self.tensorflow, *parts))
        return (self.name_for(parts[-1], lambda n: f"{n} = {path}", path),)


@dataclass
class Rewriting:
    """A rewriting by its name; `share` is how many of the programs it must at least be applicable to."""

    name: str
    make: Callable[[cst.Module], Rewriter]
    share: float = 0.5
