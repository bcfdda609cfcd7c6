"""A function read with shapes for its parameters: what each expression comes to, and whether it makes sense.

The shapes are tried out, not derived: an operation that needs another number of axes, or sizes that cannot be the
same, raises ConflictError, and the next try has other shapes. What is read here need not be complete, as the programs
are run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import libcst as cst

from tfmemlint.model.file import File
from tfmemlint.model.values import Function
from tfmemlint.syntax.scopes import dotted, parameters
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.plan import indices, operands, operations
from tfmemlint.verify.plan.objects import written
from tfmemlint.verify.plan.sizes import ConflictError, Output, Seen, Size, Tensor, broadcast, of_kind, product

DEEPEST = 3
"""Functions that are read inside each other."""

COMPARES = (cst.Equal, cst.NotEqual, cst.LessThan, cst.GreaterThan, cst.LessThanEqual, cst.GreaterThanEqual)

OF_NUMPY, COUNTS_OF_NUMPY = ("T", "real"), ("size", "nbytes")
"""What arrays have and tensors do not: arrays again, and numbers."""


class Reading:
    """Functions read one after the other, with these kinds of parameters: numbers of axes, by the id of the `Param`.
    What the first one, a constructor, makes attributes of its object is there in the next one. `free` are names and
    attributes, as they are written, that are tried out like parameters wherever nothing else tells what they are; each
    with its key among the kinds."""

    def __init__(
        self,
        file: File,
        functions: Sequence[cst.FunctionDef],
        kinds: Mapping[int, int],
        free: Mapping[str, int] | None = None,
    ) -> None:
        self.file = file
        self.given: dict[int, Seen] = {}
        """What each parameter is, by the id of its node."""
        self.arrays: set[int] = set()
        """The parameters that something needs an array of, or a number."""
        self.integers: set[int] = set()
        self.booleans: set[int] = set()
        self.of_numpy: set[int] = set()
        self.seen: dict[int, Tensor] = {}
        """The arrays that expressions come to, by the id of the node."""
        self.sizes: dict[int, Size] = {}
        """The numbers that names stand for, by the id of the node."""
        self._free = {path: of_kind(kinds[key], key) for path, key in (free or {}).items() if key in kinds}
        self.given.update({key: self._free[path] for path, key in (free or {}).items() if key in kinds})
        self._names: dict[str, Seen] = {}
        self._inside: list[cst.FunctionDef] = []
        self._returned: list[Seen] = []
        for function in functions:
            self._names = self._free | {path: value for path, value in self._names.items() if not path.isidentifier()}
            for parameter in parameters(function):
                kind = kinds.get(id(parameter))
                if kind is not None:
                    self.given[id(parameter)] = self._names[parameter.name.value] = of_kind(kind, id(parameter))
            self._suite(function.body.body)

    # -- what operations say -----------------------------------------------------------------------------------------

    def tells(self, value: Seen) -> None:
        """Note that an operation needs an array here, or a number."""
        if isinstance(value, Tensor):
            self.arrays |= value.sources

    def counts(self, value: Seen) -> None:
        """Note that a whole number is needed here. Raises ConflictError."""
        if isinstance(value, Tensor) and value.rank:
            raise ConflictError
        if isinstance(value, Size):
            root = value.root
            self.arrays |= {key for key, each in self.given.items() if isinstance(each, Size) and each.root is root}

    def data(self, value: Seen) -> Tensor | None:
        """An operand that has to be an array; None where it is not known. Raises ConflictError for a number."""
        if isinstance(value, Size) and any(value is each for each in self.given.values()):
            raise ConflictError
        self.tells(value)
        return value if isinstance(value, Tensor) else None

    # -- statements --------------------------------------------------------------------------------------------------

    def _suite(self, statements: Sequence[Node]) -> None:
        for statement in statements:
            if isinstance(statement, cst.SimpleStatementLine):
                for small in statement.body:
                    self._small(small)
            elif isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
                self._names.pop(statement.name.value, None)
            else:
                self._compound(statement)

    def _small(self, small: Node) -> None:
        if isinstance(small, cst.Assign):
            value = self.value(small.value)
            for target in small.targets:
                self._bind(target.target, value)
        elif isinstance(small, cst.AnnAssign) and small.value is not None:
            self._bind(small.target, self.value(small.value))
        elif isinstance(small, cst.AugAssign):
            left, right = self.value(small.target), self.value(small.value)
            self._bind(small.target, self._arithmetic(left, right))
        elif isinstance(small, (cst.Return, cst.Expr)) and small.value is not None:
            value = self.value(small.value)
            if isinstance(small, cst.Return):
                self._returned.append(value)

    def _compound(self, statement: Node) -> None:
        if isinstance(statement, cst.For):
            items = self.value(statement.iter)
            self._bind(statement.target, items.shaped(items.sizes[1:]) if isinstance(items, Tensor) else None)
        for name in ("test", "body", "orelse", "finalbody"):
            part = getattr(statement, name, None)
            if isinstance(part, cst.BaseExpression):
                self.value(part)
            elif isinstance(part, (cst.If, cst.For, cst.While, cst.Try)):
                self._compound(part)
            elif isinstance(part, cst.IndentedBlock):
                self._suite(part.body)
            elif isinstance(part, (cst.Else, cst.Finally)) and isinstance(part.body, cst.IndentedBlock):
                self._suite(part.body.body)

    def _bind(self, target: Node, value: Seen) -> None:
        if isinstance(target, (cst.Tuple, cst.List)):
            names = [element.value for element in target.elements]
            if isinstance(value, tuple) and len(value) != len(names):
                raise ConflictError
            for number, name in enumerate(names):
                self._bind(name, value[number] if isinstance(value, tuple) else None)
            return
        path = written(target)
        if path is not None:
            told = isinstance(value, Size) or (isinstance(value, Tensor) and value.sources)
            self._names[path] = value if told or path not in self._free else self._free[path]

    # -- expressions -------------------------------------------------------------------------------------------------

    def value(self, node: cst.BaseExpression) -> Seen:
        """What an expression comes to. Raises ConflictError."""
        found = self._value(node)
        if found is None and isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)):
            found = operands.known(self.file.value(node))
        if isinstance(found, Tensor):
            self.seen[id(node)] = found
        elif isinstance(found, Size) and isinstance(node, cst.Name):
            self.sizes[id(node)] = found
        return found

    def _value(self, node: cst.BaseExpression) -> Seen:
        if isinstance(node, cst.Name):
            return self._names.get(node.value)
        if isinstance(node, (cst.Integer, cst.UnaryOperation)):
            return operands.known(self.file.value(node)) or (
                self.value(node.expression) if isinstance(node, cst.UnaryOperation) else None
            )
        if isinstance(node, (cst.Tuple, cst.List)):
            return tuple(self.value(element.value) for element in node.elements)
        if isinstance(node, cst.BinaryOperation):
            left, right = self.value(node.left), self.value(node.right)
            if isinstance(node.operator, cst.MatrixMultiply):
                one, two = self.data(left), self.data(right)
                return product(one, two) if one is not None and two is not None else None
            if isinstance(left, tuple) and isinstance(right, tuple) and isinstance(node.operator, cst.Add):
                return (*left, *right)
            return self._arithmetic(left, right)
        if isinstance(node, cst.Comparison) and isinstance(node.comparisons[0].operator, COMPARES):
            found = self._arithmetic(self.value(node.left), self.value(node.comparisons[0].comparator))
            return replace(found, dtype="bool") if isinstance(found, Tensor) else found
        if isinstance(node, cst.IfExp):
            return self.value(node.body) or self.value(node.orelse)
        if isinstance(node, cst.Attribute):
            return self._attribute(node)
        if isinstance(node, cst.Subscript):
            return self._subscript(node)
        return self._call(node) if isinstance(node, cst.Call) else None

    def _arithmetic(self, left: Seen, right: Seen) -> Seen:
        if isinstance(left, Tensor) and isinstance(right, Tensor):
            return broadcast(left, right)
        return next((each for each in (left, right) if isinstance(each, Tensor)), None)

    def _attribute(self, node: cst.Attribute) -> Seen:
        path = written(node)
        if path is not None and path in self._names:
            return self._names[path]
        value = self.value(node.value) if node.attr.value in ("shape", *OF_NUMPY, *COUNTS_OF_NUMPY) else None
        if node.attr.value == "shape" and isinstance(value, (Tensor, Size)):
            tensor = self.data(value)
            return tensor.sizes if tensor is not None else None
        if isinstance(value, Tensor):
            self.of_numpy |= value.sources
            if node.attr.value in COUNTS_OF_NUMPY:
                return None
            return value.shaped(value.sizes[::-1]) if node.attr.value == "T" else value
        return None

    def _call(self, node: cst.Call) -> Seen:
        call = self.file.call(node)
        model = self._model(node.func)
        if model is not None:
            given = [self.value(arg.value) for arg in node.args]
            return model.of(given[0] if given else None)
        found = operations.of(self, call)
        if found is None:
            given = [self.value(arg.value) for arg in node.args]
            target = self.file.value(node.func) if call.name is None else None
            if isinstance(target, Function) and isinstance(target.node, cst.FunctionDef):
                return self._inlined(target.node, target.receiver is not None, node, given)
            if isinstance(node.func, cst.Attribute) and isinstance(node.func.value, cst.Call):
                self.value(node.func.value)
        return found

    def _model(self, func: cst.BaseExpression) -> Output | None:
        """The parameter that is a model and called here: `model(x)`, `model.predict(x)`."""
        if isinstance(func, cst.Attribute) and func.attr.value in ("predict", "predict_on_batch", "call", "apply"):
            func = func.value
        found = self._names.get(dotted(func) or "") if isinstance(func, (cst.Name, cst.Attribute)) else None
        return found if isinstance(found, Output) else None

    def _inlined(self, function: cst.FunctionDef, method: bool, node: cst.Call, given: Sequence[Seen]) -> Seen:
        """What a function of the project comes to with these arguments: the first thing that it returns."""
        if function in self._inside or len(self._inside) >= DEEPEST:
            return None
        names, returned = self._names, self._returned
        order = [each.name.value for each in parameters(function) if each.star not in ("*", "**")][method:]
        self._names = {path: value for path, value in names.items() if path.startswith("self.") and method}
        for number, (arg, value) in enumerate(zip(node.args, given, strict=True)):
            name = arg.keyword.value if arg.keyword else order[number] if number < len(order) and not arg.star else None
            if name in order:
                self._names[name] = value
        self._returned, self._inside = [], [*self._inside, function]
        self._suite(function.body.body)
        found = next((value for value in self._returned if value is not None), None)
        self._names, self._returned, self._inside = names, returned, self._inside[:-1]
        return found

    def _subscript(self, node: cst.Subscript) -> Seen:
        path = written(node)
        if path in self._names:
            return self._names[path]
        value = self.value(node.value)
        if path is not None and isinstance(value, (Tensor, Size)):
            raise ConflictError
        if isinstance(value, tuple):
            return indices.item(value, node, self.value)
        if not isinstance(value, Tensor):
            return None
        if any(not isinstance(each.slice, cst.Index) or indices.is_free(each.slice.value) for each in node.slice):
            self.tells(value)
        sizes, left = list(self._indexed(value, node)), value.rank - indices.taken(node)
        if left < 0:
            raise ConflictError
        ellipsis = next((n for n, size in enumerate(sizes) if size is None), len(sizes))
        head, tail = sizes[:ellipsis], sizes[ellipsis + 1 :]
        done = sum(indices.takes(each) for each in node.slice[: indices.dots(node)])
        middle = value.sizes[done : done + left]
        return value.shaped([size for size in (*head, *middle, *tail) if size is not None])

    def _indexed(self, value: Tensor, node: cst.Subscript) -> Iterator[Size | None]:
        """The sizes that the parts of an index leave; None for an ellipsis."""
        axis, dots = 0, indices.dots(node)
        for number, each in enumerate(node.slice):
            index = each.slice.value if isinstance(each.slice, cst.Index) else None
            if number == dots and dots < len(node.slice):
                yield None
                axis = value.rank - sum(indices.takes(later) for later in node.slice[number + 1 :])
                continue
            if indices.is_free(index):
                yield Size(1)
                continue
            if axis >= value.rank:
                raise ConflictError
            if index is None:
                whole = isinstance(each.slice, cst.Slice) and each.slice.lower is None and each.slice.upper is None
                yield value.sizes[axis] if whole else Size()
            else:
                by = self.value(index)
                if isinstance(by, Tensor):
                    self.integers |= by.alike
                    yield from by.sizes
            axis += 1
