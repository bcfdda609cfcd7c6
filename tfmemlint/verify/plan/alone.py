"""The flagged statements alone, with made-up operands of the dtypes and shapes that are known of the user's.

What else a program does can hide what a statement costs, or keep it from being reached: data that is not there, a
module, a card, an old API elsewhere in the file. So the statements that the repair changes are taken out, what is known
of the names that they read is made up, and the figures count from there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from tfmemlint.finding import Edit, Finding, Span
from tfmemlint.model.file import File
from tfmemlint.model.values import Array, Dataset, Value
from tfmemlint.syntax.scopes import Binds, written
from tfmemlint.syntax.tree import Node, children
from tfmemlint.verify.child.usual import usual
from tfmemlint.verify.metrics import LOOKED_AT
from tfmemlint.verify.plan.across import Slices
from tfmemlint.verify.plan.composing import Composer, Texts
from tfmemlint.verify.plan.elements import Elements, is_known_in_part
from tfmemlint.verify.plan.examples import Example
from tfmemlint.verify.plan.made_up import code_for, converted_for, images_for
from tfmemlint.verify.plan.objects import dotted_path, operand_path
from tfmemlint.verify.plan.places import Places
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.roles import is_no_array, is_text
from tfmemlint.verify.plan.rounds import TRAINS
from tfmemlint.verify.plan.slicing import DEFINITIONS, Home
from tfmemlint.verify.plan.solving import FULL, Free, Solved, Solver, unpassed
from tfmemlint.verify.plan.statements import changed_name, is_load, is_setting
from tfmemlint.verify.plan.supplies import Supplies
from tfmemlint.verify.plan.wrapping import LOOK, USED

WORDS = "measured alone, with made-up operands of the same dtypes and shapes"
WORDS_SOLVED = "measured alone, with operands made up from their use"
RESULT = "tfmemlint_result"
MOST_STATEMENTS = 12
WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")
"""A name, and not that of an attribute."""

ELSEWHERE = (cst.Yield, cst.Await, cst.Break, cst.Continue, cst.Global, cst.Nonlocal, cst.Import, cst.ImportFrom)
"""What cannot stand where the statements are put."""


class Alone:
    """Makes the programs of one finding; `examples` gives those of a module."""

    def __init__(
        self, finding: Finding, file: File, examples: Callable[[Home], dict[str, Example]], solver: Solver
    ) -> None:
        self.finding, self.file, self.solver = finding, file, solver
        self.replaced: list[str] = []
        self.slices = Slices(file, file)
        self._examples = examples
        edits = finding.compared
        self._imports = [edit.content.strip() for edit in edits if _is_import(edit)]
        self._edits = [edit for edit in edits if not _is_import(edit)]
        self.guessed = self.cut = False
        """Whether numbers that steps are given were made up, and whether there is less data than is known of."""
        self.of_data = False
        """Whether data sets were made up."""
        self._elements = Elements(file, solver.target == FULL, finding.bytes or 0)
        places = [finding.span, *(Span(edit.start, edit.end) for edit in self._edits)]
        self._supplies = Supplies(
            file,
            self.slices,
            examples,
            self._elements,
            self._images,
            lambda name: converted_for(file, name, solver.target),
            places,
        )

    def texts(self) -> tuple[Texts, Texts | None]:
        """The program with the flagged statements and the one with the repaired ones, None where there is no repair.
        Raises PlanError."""
        block = self._block()
        start, end = self._stretch(block)
        if any(edit.start < start or end < edit.end for edit in self._edits):
            raise PlanError("the repair reaches beyond the flagged statements")
        self._solve([name for name in self._read(block) if not self._supplies.provide(name)], block[0])
        self.replaced += self._elements.words.values()
        self.solver.used |= self._elements.sized
        self.guessed, self.cut = self._elements.guessed, self._elements.cut
        part = self.slices.at(self.file)
        for word in sorted({word for edit in self._edits for word in WORD.findall(edit.content)}):
            if not self._supplies.has(word):
                part.name(word)
        self._keep_changes(self.file.span(block[0]).start)
        self.slices.close()
        if any(part.holds(statement) for statement in block):
            raise PlanError("the flagged statements need what they make")
        returned = [*self._returns(block), *self._supplies.expressions]
        self.of_data = any("tfmemlint_dataset(" in code for code in self._supplies.given())
        before, after = (self._cut(start, end, [*returned, *edits]) for edits in ((), self._edits))
        names = self._bound(block, any(edit.content.startswith(RESULT) for edit in returned))
        looks = self.finding.shows is not None and self.finding.shows.metric in LOOKED_AT
        tail = [f"{LOOK if looks else USED}{name})" for name in names]
        head = [*self._supplies.lines(), "tfmemlint_reset()"]
        flagged = self._program([*head, before, *tail])
        if not self.finding.compared:
            return flagged, None
        if before.split() == after.split():  # what a repair moves out of a block is the same without the block
            raise PlanError("the repair changes nothing in the programs")
        return flagged, self._program([*self._imports, *head, after, *tail])

    def _program(self, lines: Sequence[str]) -> Texts:
        composer = Composer(self.slices, self._examples, None)
        composer.add(lines)
        texts = composer.text()
        self.replaced += [note for note in composer.notes() if note not in self.replaced]
        return texts

    # -- the statements ----------------------------------------------------------------------------------------------

    def _block(self) -> list[cst.SimpleStatementLine]:
        """The flagged statement and those that the repair changes, with what stands between them."""
        places = Places(self.file)
        flagged = places.statement(self.finding.span)
        if flagged is None or is_setting(self.file, flagged) or self.file.contexts.mapped(flagged):
            raise PlanError("the flagged statement cannot stand alone")
        body = list(getattr(self.file.tree.parent(flagged), "body", ()))
        changed = [number for number, each in enumerate(body) if self._is_changed(each)]
        at = changed or [number for number, each in enumerate(body) if each is flagged]
        block = body[self._from_source(body, min(at)) : max(at) + 1] if at else []
        if not block or len(block) > MOST_STATEMENTS:
            raise PlanError("the repair changes statements too far from each other")
        for statement in block:
            if not isinstance(statement, cst.SimpleStatementLine) or any(
                isinstance(node, ELSEWHERE) for node in _walk(statement)
            ):
                raise PlanError("the flagged statement cannot stand alone")
        return block

    def _from_source(self, body: Sequence[Node], first: int) -> int:
        """The statement to begin with: further up, where the file's own steps make elements of which a part is not
        known, beside one that is. Raises PlanError where that is not in the same block."""
        statement = body[first]
        for name in self._read([statement]):
            if not any(is_known_in_part(each) for each in self.file.value(name).options):
                continue
            made = {self.file.tree.statement(each.node) for each in written(self.file.definitions(name))}
            at = [number for number, each in enumerate(body[:first]) if each in made]
            if len(made) != 1 or not at:
                raise PlanError("the flagged statement cannot stand alone")
            return self._from_source(body, at[0])
        return first

    def _is_changed(self, statement: Node) -> bool:
        span = self.file.span(statement)
        return any(span.start <= edit.start and edit.end <= span.end for edit in self._edits)

    def _stretch(self, block: Sequence[Node]) -> tuple[int, int]:
        """From the beginning of the first line of the statements to the end of the last."""
        starts, text = self.file.source.line_starts, self.file.source.text
        first = self.file.source.line_index(self.file.span(block[0]).start)
        while first and text[starts[first - 1] : starts[first]].lstrip().startswith("#"):
            first -= 1  # a repair takes the comments along that stand above what it moves
        last = self.file.source.line_index(max(0, self.file.span(block[-1]).end - 1))
        return starts[first], starts[last + 1] if last + 1 < len(starts) else len(text)

    def _cut(self, start: int, end: int, edits: Sequence[Edit]) -> str:
        """The statements after these edits, on the level of the module."""
        text, position = self.file.source.text, start
        parts: list[str] = []
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
            if edit.start < position:
                raise PlanError("the repair and the program change the same code")
            parts += (text[position : edit.start], edit.content)
            position = edit.end
        cut = "".join((*parts, text[position:end])).rstrip("\n")
        if all(not line.strip() or line.lstrip().startswith("#") for line in cut.split("\n")):
            return ""  # comments alone make no block
        return f"if True:\n{cut}" if cut[:1].isspace() else cut

    def _returns(self, block: Sequence[Node]) -> Iterator[Edit]:
        """Edits that give a name to what is returned."""
        for statement in block:
            for small in getattr(statement, "body", ()):
                if isinstance(small, cst.Return):
                    if small.value is None:
                        raise PlanError("the flagged statement cannot stand alone")
                    start = self.file.span(small).start
                    yield Edit(start, start + len("return"), f"{RESULT} =")

    def _bound(self, block: Sequence[Node], returned: bool) -> Iterator[str]:
        """The names that hold what the statements make, where that is data."""
        if returned:
            yield RESULT
        seen: set[str] = set()
        for statement in block:
            for bindings in self.file.flow(self.file.scope_of(statement)).bindings.values():
                for each in bindings:
                    if self.file.tree.statement(each.node) is statement and each.name.isidentifier():
                        value = self.file.values.definition(each, None)
                        if any(map(self._is_given, value.options)) and each.name not in seen:
                            seen.add(each.name)
                            yield each.name

    def _is_given(self, value: Value) -> bool:
        """Whether a value is data that a model would be given. Against the message's bytes arrays count as they are."""
        counted = isinstance(value, Array) and value.library == "np" and not self.finding.compared
        return isinstance(value, (Array, Dataset)) and not counted

    # -- what they read ----------------------------------------------------------------------------------------------

    def _read(self, block: Sequence[Node]) -> Iterator[cst.Name]:
        """The names whose values come from elsewhere."""
        inside = {id(node) for statement in block for node in _walk(statement)}
        for statement in block:
            for node in _walk(statement):
                if not isinstance(node, cst.Name) or not is_load(self.file, node):
                    continue
                found = self.slices.of(node).definitions(node)
                if found and not all(id(each.node) in inside for each in found):
                    yield node

    def _solve(self, unknown: Sequence[cst.Name], flagged: Node) -> None:
        """Make up what is read of parameters that nobody passes. Raises PlanError where their use does not tell it."""
        function = self.file.scope_of(flagged)
        solved: dict[str, Solved] = {}
        if unknown and isinstance(function, cst.FunctionDef):
            known = self.file.values.functions.parameter
            asked = [
                each
                for each in unpassed(function, self.file.class_of(function) is not None)
                if each.default is None
                and code_for(known(each, function, None)) is None
                and not is_no_array(self.file, each, [function])
            ]
            solved = self._operands(function, asked, unknown, flagged)
        for name in unknown:
            path = operand_path(self.file, name)
            word, found = dotted_path(name, path), solved.get(name.value)
            if is_text(self.file, name):
                path, found = (), Solved(repr(str(usual(name.value) or "text")), f"{word} is made up as a text")
            if found is None and path:
                found = solved.get(word) or self._elements.setting(name, word)
            if found is None:
                raise PlanError(self._elements.too_little(name, word))
            self._supplies.give(name.value, path if name.value not in solved else (), found.code)
            if found.words not in self.replaced:
                self.replaced.append(found.words)

    def _operands(
        self, function: cst.FunctionDef, asked: Sequence[cst.Param], unknown: Sequence[cst.Name], flagged: Node
    ) -> dict[str, Solved]:
        """What is made up for these names, by name: as parameters that nobody passes have it, else as their own use
        has it; and for attributes of what stands for an object, by what is written."""
        solved = self.solver.operands(function, asked, unknown, flagged)
        left = [name for name in unknown if name.value not in solved]
        if not left:
            return solved
        free = dict.fromkeys(dotted_path(name, operand_path(self.file, name)) for name in left)
        return self.solver.operands(function, asked, unknown, flagged, [Free(path) for path in free])

    def _images(self, name: cst.Name) -> str | None:
        """Code for images where a generator takes what a name stands for, which is images alone."""
        made = images_for(self.file, name, self.solver.target)
        if made is not None:
            self.solver.used = True
            self.replaced.append(f"{name.value} is {made}: a generator takes images alone")
        return made

    def _keep_changes(self, start: int) -> None:
        """Keep what is done to the kept objects before that place: `model.add(...)`, but not what trains them."""
        part = self.slices.at(self.file)
        for statement in self.file.tree.of(cst.SimpleStatementLine):
            root = changed_name(statement)
            if root is None or self.file.span(statement).start >= start or not part.runnable.runs(statement):
                continue
            made = [each for each in part.definitions(root) if each.binds is not Binds.IMPORT]
            if any(part.holds(each.node) for each in made) and not _trains(statement):
                part.keep(statement)


def _trains(statement: Node) -> bool:
    calls = (node.func for node in _walk(statement) if isinstance(node, cst.Call))
    return any(isinstance(called, cst.Attribute) and called.attr.value in TRAINS for called in calls)


def _is_import(edit: Edit) -> bool:
    return edit.start == edit.end and edit.content.startswith(("import ", "from "))


def _walk(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        at = stack.pop()
        yield at
        if not isinstance(at, DEFINITIONS):
            stack.extend(reversed(children(at)))
