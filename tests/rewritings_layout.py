"""Rewritings that move code: chains over several variables, arguments into variables, programs into functions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import libcst as cst
from rewritings import NotApplied, Rewriter, assigned, dotted, nodes

_LATER = (cst.Lambda, cst.IfExp, cst.BooleanOperation, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp,
          cst.Await, cst.NamedExpr, cst.Yield)  # fmt: skip
"""What holds code that does not run exactly once, or not yet."""


class Hoist(Rewriter):
    """Takes parts of a statement's expressions out into assignments before it."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__(module)
        self._wanted: set[int] = set()
        self._made: list[list[cst.SimpleStatementLine]] = []

    @abstractmethod
    def wanted(self, root: cst.BaseExpression) -> Sequence[cst.BaseExpression]:
        """The parts of an expression that a statement evaluates first."""

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, (cst.SimpleStatementLine, cst.For)):
            self._made.append([])
            root = self._root(node)
            if root is not None:
                self._wanted.update(id(part) for part in self.wanted(root))
        return True

    def _root(self, node: cst.SimpleStatementLine | cst.For) -> cst.BaseExpression | None:
        if isinstance(node, cst.For):
            return node.iter
        small = node.body[0] if len(node.body) == 1 else None
        if isinstance(small, (cst.Assign, cst.AnnAssign, cst.Return, cst.Expr, cst.AugAssign)):
            return small.value
        return None

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        result = super().on_leave(original_node, updated_node)
        if id(original_node) in self._wanted:
            self.changed += 1
            name = next(self.fresh)
            target = cst.AssignTarget(cst.Name(name))
            plain = result.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
            self.origins.append((plain, original_node))
            self._made[-1].append(cst.SimpleStatementLine([cst.Assign([target], plain)]))
            return cst.Name(name)
        if isinstance(original_node, (cst.SimpleStatementLine, cst.For)):
            made = self._made.pop()
            if made:
                return cst.FlattenSentinel([*made, result])
        return result


def _is_super(node: cst.Call) -> bool:
    return isinstance(node.func, cst.Name) and node.func.value == "super"


class SplitChains(Hoist):
    """`ds = a.map(f).batch(2)` becomes `v = a.map(f)` and `ds = v.batch(2)`."""

    def wanted(self, root: cst.BaseExpression) -> Sequence[cst.BaseExpression]:
        found = []
        node: cst.CSTNode = root
        while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func.value
            if isinstance(node, cst.Call) and not _is_super(node):
                found.append(node)
        return found


def _is_dtype(arg: cst.Arg) -> bool:
    """A dtype with a name of its own is a decision, which rules respect."""
    return arg.keyword is not None and arg.keyword.value == "dtype"


class NameArguments(Hoist):
    """`model.fit(ds.batch(2))` becomes `v = ds.batch(2)` and `model.fit(v)`."""

    def wanted(self, root: cst.BaseExpression) -> Sequence[cst.BaseExpression]:
        calls = () if isinstance(root, _LATER) else nodes(root, cst.Call, _LATER)
        return [arg.value for call in calls for arg in call.args
                if not arg.star and isinstance(arg.value, (cst.Call, cst.Lambda)) and not _is_dtype(arg)]  # fmt: skip


class NameNumbers(Rewriter):
    """`ds.batch(32)` becomes `ds.batch(V1)` with `V1 = 32` at the top of the module."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__(module)
        self.values: dict[str, str] = {}

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        value = updated_node.value
        if not isinstance(value, (cst.Integer, cst.Float)):
            return updated_node
        self.changed += 1
        name = self.values.setdefault(value.value, next(self.fresh).upper())
        return updated_node.with_changes(value=cst.Name(name))

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        place = len(head(updated_node.body))
        lines = [cst.parse_statement(f"{name} = {value}") for value, name in self.values.items()]
        body = list(updated_node.body)
        return updated_node.with_changes(body=[*body[:place], *lines, *body[place:]])


def head(body: Sequence[cst.CSTNode]) -> Sequence[cst.CSTNode]:
    """The docstring and the imports that a module starts with."""
    for i, line in enumerate(body):
        small = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
        text = isinstance(small, cst.Expr) and isinstance(small.value, cst.SimpleString)
        if not text and not isinstance(small, (cst.Import, cst.ImportFrom)):
            return body[:i]
    return body


class _Main(Rewriter):
    def __init__(self, module: cst.Module) -> None:
        super().__init__(module)
        if any(nodes(module, cst.Global)) or any(nodes(module, cst.ImportStar)) or {"main", "__name__"} & self.names:
            raise NotApplied

    def wrapped(self, module: cst.Module, before: Sequence[Any], inside: Sequence[Any]) -> cst.Module:
        """The module with some statements as they were and others in a function that is called at the end."""
        if not inside:
            raise NotApplied
        self.changed += 1
        main = cst.FunctionDef(cst.Name("main"), cst.Parameters(), cst.IndentedBlock(inside))
        return module.with_changes(body=[*before, main, cst.parse_statement("main()")])


class WholeMain(_Main):
    """Everything but the imports at the top goes into `def main()`, functions and classes too."""

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        top = len(head(updated_node.body))
        return self.wrapped(updated_node, updated_node.body[:top], updated_node.body[top:])


class StatementsMain(_Main):
    """Statements that run go into `def main()`; imports, functions, classes and what those read stay outside."""

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        stay = (cst.FunctionDef, cst.ClassDef)
        read = {name.value for line in updated_node.body if isinstance(line, stay) for name in nodes(line, cst.Name)}
        before, inside = [], []
        for line in updated_node.body:
            small = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
            simple = isinstance(small, (cst.Import, cst.ImportFrom)) or (
                isinstance(small, cst.Assign) and not any(nodes(small, cst.Call)) and dotted(small.targets[0].target)
            )
            (before if isinstance(line, stay) or simple else inside).append(line)
        outside = {name.value for line in before for name in nodes(line, cst.Name)} | read
        if any(assigned(line, (cst.FunctionDef, cst.Lambda)) & outside for line in inside):
            raise NotApplied
        return self.wrapped(updated_node, before, inside)


class Guarded(Rewriter):
    """Everything but imports, functions and classes goes below `if __name__ == "__main__":`."""

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        top = len(head(updated_node.body))
        inside = updated_node.body[top:]
        if not inside or "__name__" in self.names:
            raise NotApplied
        self.changed += 1
        test = cst.parse_expression('__name__ == "__main__"')
        return updated_node.with_changes(body=[*updated_node.body[:top], cst.If(test, cst.IndentedBlock(inside))])
