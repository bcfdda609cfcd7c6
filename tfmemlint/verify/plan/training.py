"""A training step alone: what makes and compiles the model, and the call, with made-up data of the shapes that an
estimate has found.

What else a program does, such as reading data that is not there, may keep it from coming to its step, and takes nothing
from the bytes of that.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from tfmemlint.estimate.step import Loss, Pass, Tensor, TrainingStep
from tfmemlint.model.file import File
from tfmemlint.query.keras.versions import keras_2
from tfmemlint.syntax.tree import Node, walk
from tfmemlint.verify.plan.across import Slices
from tfmemlint.verify.plan.composing import Composer
from tfmemlint.verify.plan.import_path import dots_in, import_path, imported_by
from tfmemlint.verify.plan.left_out import LeftOut, further
from tfmemlint.verify.plan.made_up import in_place_of
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.slicing import Home
from tfmemlint.verify.plan.solving import SMALL, Solver
from tfmemlint.verify.plan.unset import Unset, unset
from tfmemlint.verify.plan.ways import Ways
from tfmemlint.verify.run.measure import Program, Step
from tfmemlint.verify.run.runs import Run

CALLS = ("fit", "fit_generator", "train_on_batch", "predict", "predict_generator", "predict_on_batch")
PLAIN = {"fit_generator": "fit", "predict_generator": "predict"}
"""Methods that take a pipeline, and those that take arrays."""
SPARSE = "sparse_categorical_crossentropy"
MOST_MADE_UP = 12
"""Statements that raised in whose place something is made up, or which are left out."""


class StepPlanner:
    """Makes the program of one step, which is run with `batch` examples; raises PlanError where that cannot be. Other
    programs of it are made after runs that failed, and `notes` say of the last one what was replaced."""

    def __init__(self, file: File, step: TrainingStep, batch: int, asked: Step) -> None:
        self._file, self._step, self._batch, self._asked = file, step, batch, asked
        self._call = self._found()
        self._made: dict[int, tuple[Node, str]] = {}
        self._left: list[LeftOut] = []
        self._unset: list[Unset] = []
        self._slices = Slices(file, file)
        self._source = ""
        self.notes: tuple[str, ...] = ()

    def _found(self) -> cst.Call:
        """The call that is the step. Raises PlanError where none stands at its line."""
        file = self._file
        for word in CALLS:
            for node in file.calls_by_word.get(word, ()):
                if file.is_own(node) and file.source.line_index(file.span(node).start) + 1 == self._step.line:
                    return node
        raise PlanError("only calls of fit, train_on_batch and predict in the file itself can")

    def program(self) -> Program:
        """The program. Raises PlanError."""
        file, call = self._file, self._call
        unit = file.tree.statement(call)
        if unit is None:
            raise PlanError("the step stands in no statement")
        ways = Ways(file, _no_examples, Solver(file, SMALL), unit)
        way = ways.to(unit)
        around = [each for each in file.tree.ancestors(unit) if isinstance(each, cst.FunctionDef)]
        slices = self._slices = Slices(file, way.entry, [*way.functions, *around[-1:]])
        code = self._code()
        slices.made = {**self._made, id(unit): (call, code)}
        slices.follows, slices.to_the_end = False, bool(way.lines)
        for node in (unit, *way.calls):
            slices.of(node).target(node)
        part = slices.of(unit)
        for name in walk(call.func, cst.Name):
            for definition in part.definitions(name):
                part.need(definition)
        slices.close()
        composer = Composer(slices, _no_examples, None)
        composer.add(list(way.lines))
        if id(unit) not in part.kept:  # it stands in a class or function that is kept as a whole
            composer.replace(call, code)
        for each in self._unset:
            composer.insert_after(each.statement, each.line)
        for gone in self._left:
            composer.replace(gone.node, gone.code)
        texts = composer.text()
        at = texts.source.find(code)
        if at < 0:
            raise PlanError("the step stands in another module than the one that runs")
        beyond = [*(each.words for each in self._unset), *(each.words for each in self._left)]
        self.notes = ("the step ran alone, with what makes its model", *ways.replaced, *composer.notes(), *beyond)
        self._source = texts.source
        line = texts.source.count("\n", 0, at) + 1
        return self._as_program(slices, texts.source, texts.modules, line)

    def _as_program(
        self, slices: Slices, source: str, modules: tuple[tuple[str, str], ...], line: int
    ) -> Program:
        path = slices.path(slices.entry)
        root = slices.siblings.layout.root if slices.siblings is not None and modules else None
        folders, package = import_path(path, root, dots_in(slices.entry), imported_by(slices.entry))
        return Program(
            source, 0, folders, os.path.dirname(path), package, substitute=True, root=root or "",
            keras_2=keras_2(slices.file), file=path, modules=modules, step=replace(self._asked, line=line),
        )  # fmt: skip

    def again(self, run: Run) -> Program | None:
        """The program with something in place of what raised; None where that is not known. Raises PlanError."""
        if run.error is None or len(self._made) + len(self._left) + len(self._unset) >= MOST_MADE_UP:
            return None
        return self.program() if self._make_up(run) else None

    def _make_up(self, run: Run) -> bool:
        """Note what stands in place of what raised; whether it is known."""
        missing = unset(self._slices, run)
        if missing is not None and missing not in self._unset:
            self._unset.append(missing)
            return True
        for unit in self._raised(run):
            found = in_place_of(self._file, unit)
            if found is not None and id(unit) not in self._made:
                self._made[id(unit)] = found
                return True
        more = further(self._slices, run, [self._call], self._left)
        self._left += more
        return bool(more)

    def _raised(self, run: Run) -> Iterator[Node]:
        """The kept statements that a run has failed in, the innermost first."""
        lines = self._source.split("\n")
        rows = run.error.lines if run.error is not None else ()
        raised = [lines[row - 1].strip() for row in reversed(rows) if 0 < row <= len(lines)]
        part = self._slices.at(self._slices.entry)
        for text in filter(None, raised):
            for unit in part.kept.values():
                if text == self._file.text(unit).partition("\n")[0].strip():
                    yield unit

    # -- the call ----------------------------------------------------------------------------------------------------

    def _code(self) -> str:
        """The call with made-up data."""
        func = self._call.func
        owner = " ".join(self._file.text(func.value).split()) if isinstance(func, cst.Attribute) else ""
        word = func.attr.value if isinstance(func, cst.Attribute) else ""
        if not owner:
            raise PlanError("whose method the step calls is not seen")
        trains = not word.startswith("predict")
        inputs, labels = self._data()
        given = [_together(list(map(self._array, inputs)))]
        if trains and labels:
            given.append(_together(list(map(self._array, labels))))
        plain = PLAIN.get(word, word)
        if not plain.endswith("on_batch"):
            given.append(f"batch_size={self._batch}")
        return f"{owner}.{plain}({', '.join(given)})"

    def _data(self) -> tuple[list[Tensor], list[Tensor]]:
        """What the model takes, and labels that its losses take."""
        (one, *others) = self._step.passes
        if others:
            raise PlanError("more than one model is trained in a step")
        taken = [one.graph.tensors[number] for number in one.graph.inputs]
        given = list(self._step.data)
        inputs = given[: len(taken)] if len(given) >= len(taken) else taken
        inputs = [one if _is_sized(one) else other for one, other in zip(inputs, taken, strict=True)]
        labels = given[len(taken) :]
        return inputs, labels if labels and all(map(_is_sized, labels)) else list(_labels(one))

    def _array(self, tensor: Tensor) -> str:
        first, *rest = tensor.shape or (None,)
        if not _is_sized(tensor) or tensor.dtype == "string":
            raise PlanError("not all sizes of its data are known")
        rows = self._batch * tensor.times if first is None else first
        return f'tfmemlint_array("{tensor.dtype}", {(rows, *rest)})'


def _is_sized(tensor: Tensor) -> bool:
    """Whether all sizes of a tensor but the number of examples are known."""
    return bool(tensor.shape) and None not in tensor.shape[1:]


def _labels(one: Pass) -> Iterator[Tensor]:
    """Labels for the losses of a pass, one for each output."""
    for number, loss in zip(one.graph.outputs, one.losses, strict=False):
        output = one.graph.tensors[number]
        yield _label(output, loss)


def _label(output: Tensor, loss: Loss) -> Tensor:
    if loss.kind == SPARSE:
        return Tensor(output.shape[:-1], "int64")
    return Tensor(output.shape, "float32")


def _together(codes: list[str]) -> str:
    return codes[0] if len(codes) == 1 else f"[{', '.join(codes)}]"


def _no_examples(home: Home) -> dict:  # type: ignore[type-arg]
    return {}
