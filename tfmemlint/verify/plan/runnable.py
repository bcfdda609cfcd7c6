"""Which statements can run in a program of their own: what they need is there, and they leave nothing behind."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.syntax.scopes import Binds, Definition
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.plan.statements import asked_of, is_empty

if TYPE_CHECKING:
    from tfmemlint.verify.plan.slicing import Slice

HERE = frozenset((
    *("tensorflow", "keras", "tf_keras", "numpy", "absl", "sklearn", "tf", "np"),
    *("easydict", "addict", "yacs", "click", "gym", "gymnasium"),
))  # fmt: skip
LIBRARIES = HERE | sys.stdlib_module_names
"""Libraries that are there, or for whose parts that prepare data something does the same."""

OF_DATA = frozenset((
    *("pandas", "scipy", "cv2", "PIL", "skimage", "imageio", "h5py", "tqdm", "joblib", "polars", "librosa"),
    *("soundfile", "nltk", "imutils", "matplotlib"),
))  # fmt: skip
"""Libraries that data is made with: what they do to something that is kept is a part of it."""

NOT_REPEATED = ("save", "export", "write", "to_csv", "dump", "upload", "push")
TAKES = (
    "fit", "fit_generator", "train_on_batch", "evaluate", "evaluate_generator", "test_on_batch",
    "predict", "predict_generator", "predict_on_batch", "load_weights", "summary",
)  # fmt: skip
"""Methods that give a model data or show it, which no program runs that makes the model alone."""


class Runnable:
    """What runs of one module. With `beside_kept` what is kept already counts as running: it does in any case."""

    def __init__(self, part: Slice, libraries: frozenset[str] | None = LIBRARIES, beside_kept: bool = False) -> None:
        """`libraries` are those that are there; with None any may be, as what is left out would cost more."""
        self._part, self._libraries, self._beside_kept = part, libraries, beside_kept
        self._known: dict[int, bool] = {}
        self._elsewhere: dict[int, Runnable] = {id(part): self}

    def runs(self, unit: Node) -> bool:
        """Whether a statement, with all that it needs, uses only libraries that are there and writes no result; where
        only models are made, whether it gives them no data."""
        known = self._known.get(id(unit))
        if known is None:
            self._known[id(unit)] = True  # while it is looked at: a loop of needs adds nothing
            known = self._known[id(unit)] = all(map(self._is_runnable, self._part.header(unit)))
        return known

    def _is_runnable(self, node: Node) -> bool:
        if isinstance(node, cst.Call):
            word = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
            return not word.startswith(NOT_REPEATED) and not (self._part.slices.models_only and word in TAKES)
        if isinstance(node, cst.ImportAlias):
            return all(self._leads(each) for each in self._bound_by(node))
        if not isinstance(node, cst.Name):
            return True
        for definition in self._part.definitions(node):
            if self._beside_kept and self._runs_already(definition):
                continue
            if definition.binds is Binds.IMPORT:
                if not self._is_there(definition, node):
                    return False
                continue
            found = self._part.unit(definition.node)
            if found is not None and not self.runs(found):
                return False
        return True

    def _runs_already(self, definition: Definition) -> bool:
        if definition.binds is Binds.IMPORT:
            return id(definition.node) in self._part.needed
        return self._part.holds(definition.node)

    def _bound_by(self, alias: cst.ImportAlias) -> list[Definition]:
        return [
            each for each in self._part.home.bound_within(self._part.file.tree.statement(alias)) if each.node is alias
        ]

    def _leads(self, definition: Definition) -> bool:
        """Whether an import leads to a library that is there, or into the project."""
        own = self._part.file.values.imports.leads_to(definition) is not None
        return own or self._has(definition)

    def _has(self, definition: Definition) -> bool:
        return self._libraries is None or definition.api.partition(".")[0] in self._libraries

    def _is_there(self, definition: Definition, use: cst.Name) -> bool:
        """Whether an import leads to a library that is there, or to code of the project that runs here."""
        if self._libraries is not None and self._has(definition):
            return True
        led = self._part.slices.leads(definition, asked_of(self._part.file, use))
        if led is None:
            return self._libraries is None
        return all(self._in(other).runs(unit) for other, unit in led)

    def _in(self, part: Slice) -> Runnable:
        """What runs of another module, by the same libraries."""
        found = self._elsewhere.get(id(part))
        if found is None:
            found = self._elsewhere[id(part)] = Runnable(part, self._libraries, self._beside_kept)
            found._elsewhere = self._elsewhere
        return found


class Changes:
    """What runs of the statements of one module that change something which is kept. What fills a container that begins
    empty has to, and what compiles a model, whatever libraries they need: nothing works without."""

    def __init__(self, part: Slice) -> None:
        self._part = part
        self._changing, self._filling = (Runnable(part, each, beside_kept=True) for each in (LIBRARIES | OF_DATA, None))

    def run(self, statement: Node, changed: Sequence[Definition]) -> bool:
        """Whether a statement runs that changes what one of these definitions binds."""
        needed = _compiles(statement) or any(is_empty(self._part.file, each) for each in changed)
        return (self._filling if needed else self._changing).runs(statement)


def _compiles(statement: Node) -> bool:
    first = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    call = first.value if isinstance(first, cst.Expr) else None
    function = call.func if isinstance(call, cst.Call) else None
    return isinstance(function, cst.Attribute) and function.attr.value == "compile"
