"""What flagged statements read: kept as the file has it, or made up as far as it is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from tfmemlint.finding import Edit, Span
from tfmemlint.model.file import File
from tfmemlint.model.values import Array, Dataset, Instance
from tfmemlint.syntax.scopes import Binds, Definition
from tfmemlint.syntax.tree import Node, walk
from tfmemlint.verify.plan.across import Slices
from tfmemlint.verify.plan.elements import Elements
from tfmemlint.verify.plan.examples import Example
from tfmemlint.verify.plan.made_up import code_for
from tfmemlint.verify.plan.objects import Parts, Path, paths
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.slicing import Home
from tfmemlint.verify.plan.statements import asked_of, changed_name, is_load


class Supplies:
    """What the names in the flagged statements stand for. `places` are those that the finding is about, of which
    nothing is replaced."""

    def __init__(
        self,
        file: File,
        slices: Slices,
        examples: Callable[[Home], dict[str, Example]],
        elements: Elements,
        images: Callable[[cst.Name], str | None],
        converted: Callable[[cst.Name], tuple[Node, str] | None],
        places: Sequence[Span],
    ) -> None:
        self.file, self.slices = file, slices
        self.made: dict[str, str] = {}
        """Code for names."""
        self.expressions: list[Edit] = []
        """Edits of the statements that put what is made up in the place of expressions."""
        self._parts: dict[str, Parts] = {}
        self._examples, self._elements, self._images, self._places = examples, elements, images, places
        self._converted = converted

    def has(self, word: str) -> bool:
        """Whether something is made up for a name."""
        return word in self.made or word in self._parts

    def given(self) -> Iterator[str]:
        """The code of all that is made up as a whole."""
        yield from self.made.values()
        yield from (edit.content for edit in self.expressions)

    def provide(self, name: cst.Name) -> bool:
        """Have there what a name stands for; whether that is known."""
        word = name.value
        if word in self.made or self._is_replaced(name):
            return True
        found = self.slices.of(name).definitions(name)
        if all(each.binds in (Binds.IMPORT, Binds.FUNCTION, Binds.CLASS) for each in found):
            if not self._provide_expression(name, self._elements.read):
                self._keep(name)
            return True
        example = self._examples(self.file).get(word)
        made = example.code if example is not None else self._code(name)
        if example is None and self._elements.names_things(name) and self._provide_expression(name, self._code):
            return True
        if made is not None:
            self.made[word] = made
            return True
        if self._provide_part(name) or self._provide_expression(name, self._code):
            return True
        images = self._images(name)
        if images is not None:
            self.made[word] = images
            return True
        if self._provide_converted(name):
            return True
        of_module = all(isinstance(each.scope, cst.Module) for each in found)
        if of_module:
            self._keep(name)
        return of_module or self._provide_around(name) or self._provide_made_here(name)

    def give(self, word: str, path: Path, code: str) -> None:
        """Have this there for a name, or at the end of a path from it."""
        if path:
            self._parts.setdefault(word, Parts()).add(path, code)
        else:
            self.made[word] = code

    def _keep(self, name: cst.Name) -> None:
        """Keep the code that gives a name its meaning, with all that it needs."""
        part = self.slices.of(name)
        for definition in part.definitions(name):
            part.need(definition, asked_of(self.file, name))

    def _code(self, node: Node) -> str | None:
        return self._elements.made(node) or code_for(self.file.value(node))

    def _provide_part(self, name: cst.Name) -> bool:
        """Make up what is read of something that is not known: `self.images`, `args.batch_size`, `len(x)`."""
        parts = self._parts.setdefault(name.value, Parts())
        for node, path in paths(self.file, name):
            if path and isinstance(self.file.tree.parent(node), cst.AssignTarget):
                return True
            made = self._code(node)
            if made is not None:
                parts.add(path, made)
                return True
        if not parts:
            del self._parts[name.value]
        return False

    def _provide_expression(self, name: cst.Name, code: Callable[[Node], str | None]) -> bool:
        """Make up what is computed of a name that is not known, before the flagged place: `records.map(decode)`. Of
        texts and names of files, what is made of them: nothing that they name is there."""
        node: Node = name
        found: tuple[Span, str] | None = None
        for above in self.file.tree.ancestors(name):
            inner = getattr(above, "value", None) if isinstance(above, (cst.Attribute, cst.Subscript)) else None
            node, before = above, node
            span = self.file.span(node)
            goes_on = inner is before or (isinstance(node, cst.Call) and node.func is before)
            if not goes_on or self._is_flagged(span):
                break
            made = code(node) if found is None else self._elements.made(node)
            named = made is not None and self._elements.names_things(node)
            if made is not None and (found is None or not named):
                if found is not None:
                    self._forget(found[0])
                found = span, made
                if not named:
                    break
            elif made is not None:
                self._forget(span)
        if found is not None:
            self._instead_of(*found)
        return found is not None

    def _provide_converted(self, name: cst.Name) -> bool:
        """Make up numbers in the place of what is turned to an array of a known dtype."""
        converted = self._converted(name)
        if converted is None or self._is_flagged(self.file.span(converted[0])):
            return False
        node, code = converted
        text = self.file.text(node)
        self._instead_of(self.file.span(node), code)
        self._elements.words[text] = f"{text} is {code}: it is turned to the dtype that counts"
        self._elements.sized = True
        return True

    def _instead_of(self, span: Span, code: str) -> None:
        """Put what is made up in the place of an expression, and of all that was made up inside it."""
        inner = [edit for edit in self.expressions if span.start <= edit.start and edit.end <= span.end]
        self.expressions = [edit for edit in self.expressions if edit not in inner]
        for edit in inner:
            self._forget(Span(edit.start, edit.end))
        self.expressions.append(Edit(span.start, span.end, code))

    def _forget(self, span: Span) -> None:
        """Say no more of an expression that it is made up."""
        self._elements.words.pop(self.file.source.text[span.start : span.end], None)

    def _provide_around(self, name: cst.Name) -> bool:
        """Make up the part of a pipeline, before the flagged place, that needs something unknown: `ds.map(parse)`."""
        for above in self.file.tree.ancestors(name):
            if not isinstance(above, cst.Call):
                continue
            span = self.file.span(above)
            if self._is_flagged(span):
                return False
            made = self._elements.made(above)
            if made is not None:
                self._instead_of(span, made)
                return True
        return False

    def _provide_made_here(self, name: cst.Name) -> bool:
        """Make once more what a function makes by a call of the library alone, of what is known, or by a function that
        is given nothing, and then leaves as it is: `ImageDataGenerator(rotation_range=9)`."""
        made = self.file.only_definition(name)
        value = made.value if made is not None and not made.path else None
        if not isinstance(value, cst.Call) or not self._is_of_library(value):
            return False
        if any(isinstance(each, (Array, Dataset)) for each in self.file.value(value).options):
            return False
        if self._is_flagged(self.file.span(value)) or made is None or self._is_changed(made, name):
            return False
        part = self.slices.of(name)
        read = [each for each in walk(value, cst.Name) if is_load(self.file, each) and part.definitions(each)]
        if not all(self.provide(each) for each in read):
            return False
        self.made[name.value] = self.file.text(value)
        return True

    def _is_of_library(self, call: cst.Call) -> bool:
        """Whether a call is one of the library, or gives one of its objects and is given nothing."""
        if (self.file.call(call).name or "").startswith("tf."):
            return True
        options = self.file.value(call).options
        return not call.args and all(
            isinstance(each, Instance) and (each.type_name or "").startswith("tf.") for each in options
        )

    def _is_changed(self, made: Definition, name: cst.Name) -> bool:
        """Whether a statement changes the object of a name before it is read there."""
        place, start = self.file.span(name).start, self.file.span(made.node).start
        changed = map(changed_name, self.file.tree.of(cst.SimpleStatementLine))
        return any(
            each is not None and each.value == name.value and start < self.file.span(each).start < place
            for each in changed
        )

    def _is_replaced(self, name: cst.Name) -> bool:
        at = self.file.span(name).start
        return any(edit.start <= at < edit.end for edit in self.expressions)

    def _is_flagged(self, span: Span) -> bool:
        """Whether a stretch holds a part of the finding, or of what the repair changes. What is inserted before or
        behind it leaves it as it is."""
        return any(
            (place.start < span.end and span.start < place.end) or span.start < place.start == place.end < span.end
            for place in self._places
        )

    def lines(self) -> Iterator[str]:
        """Statements that give the names what was made up for them. Raises PlanError."""
        for name, code in self.made.items():
            yield f"{name} = {code}"
        for name, parts in self._parts.items():
            made = parts.code()
            if made is None:
                raise PlanError(f"too little is known of {name}")
            yield f"{name} = {made}"
