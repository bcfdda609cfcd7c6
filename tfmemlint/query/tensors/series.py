"""Windows of series: parts of a table, one behind the other, that a list collects and an array stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Array, Function
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.syntax.scopes import written

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.query.tensors.arrays import Entering

STACKS = frozenset({"np.array", "np.asarray", "np.stack"})
Path = tuple[int | slice, ...]
SCALERS = "sklearn.preprocessing."


def is_of_series(file: File, entering: Entering) -> bool:
    """Whether an array of unknown size that enters TensorFlow is certainly stacked of parts of a table that is read
    from a file, as it is or scaled by scikit-learn: prices, weather, passengers, of which there are mostly a few
    thousand rows. False where it is the table itself, in another shape."""
    array, origin = entering.array, entering.array.origin
    made = origin.value if origin is not None else None
    if origin is None or (isinstance(made, Array) and made.bytes is not None):
        return False
    if not (origin.name or "").startswith(SCALERS) and not knowledge.in_group(origin.name, "reads_data"):
        return False
    given = (arg.value for arg in entering.taker.node.args)
    return any(_Stacked(file).is_so(node) for node in given if _gives(file, node, array))


def _gives(file: File, node: cst.BaseExpression, array: Array) -> bool:
    return any(option == array for option in file.value(node).options)


class _Stacked:
    """Follows an expression back to where it certainly was made an array of a list, in whatever shape: through names,
    parts of it, and functions of the project that give it."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._seen: set[tuple[int, Path]] = set()

    def is_so(self, node: cst.CSTNode | None, path: Path = (), left: int = FOLLOWED_CALLS) -> bool:
        """Whether what stands there in what a node gives is such an array; `left` functions may still be gone into."""
        if node is None or (id(node), path) in self._seen:
            return False
        self._seen.add((id(node), path))
        if path and isinstance(node, (cst.Tuple, cst.List)):
            index = path[0]
            if isinstance(index, slice) or index >= len(node.elements):
                return False
            return self.is_so(node.elements[index].value, path[1:], left)
        if isinstance(node, cst.Name):
            found = written(self._file.definitions(node))
            return bool(found) and all(self.is_so(made.value, (*made.path, *path), left) for made in found)
        if isinstance(node, cst.Subscript) and not path:
            return self.is_so(node.value, (), left)
        return isinstance(node, cst.Call) and self._is_made(self._file.call(node), path, left)

    def _is_made(self, call: Call, path: Path, left: int) -> bool:
        targets = call.target.options
        functions = [each.node for each in targets if isinstance(each, Function)]
        if functions and left and len(functions) == len(targets):
            returned = [
                each.value
                for function in functions
                for each in (self._file.returns(function) if isinstance(function, cst.FunctionDef) else ())
            ]
            return bool(returned) and all(self.is_so(each, path, left - 1) for each in returned)
        if path:
            return False
        if call.name in STACKS:
            given = call.arg(0)
            return given is not None and not isinstance(given.value, Array)
        if not knowledge.in_group(call.name, "keeps_array"):
            return False
        if (call.name or "").startswith("np.ndarray."):
            return self.is_so(call.receiver_node, (), left)
        return bool(call.node.args) and self.is_so(call.node.args[0].value, (), left)
