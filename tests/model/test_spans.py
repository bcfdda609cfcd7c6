"""Offsets counted by our own walk are those of libcst's position provider."""

from __future__ import annotations

import ast
from pathlib import Path

import libcst as cst
import pytest
import tfmemlint_fixtures
from constructs import programs
from libcst.metadata import MetadataWrapper, PositionProvider

from tfmemlint.syntax.spans import Spans
from tfmemlint.syntax.tree import walk
from tfmemlint.text.read import read_source

SAMPLES = sorted(Path(tfmemlint_fixtures.__path__[0]).glob("TFM[136]*/basic/bad.py"))[:12]
ODD = (
    "x = (\n  1,  # one\n)\n\n\nclass A:\n\tdef f(self, *, a: int = 1, **k) -> None:\n"
    "\t\treturn (a if a else [k][0:1])\n# end"
)


@pytest.mark.parametrize("text", [ODD, "", "\n", "a", *(path.read_text("utf-8") for path in SAMPLES)])
def test_spans_are_those_of_the_position_provider(text: str) -> None:
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    provided = wrapper.resolve(PositionProvider)
    spans = Spans(wrapper.module, text)
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def offset(place: object) -> int:
        return starts[place.line - 1] + place.column  # type: ignore[attr-defined]

    compared = 0
    for node, span in provided.items():
        if isinstance(node, cst.Module):
            continue
        assert spans[node] == (offset(span.start), offset(span.end)), type(node).__name__
        compared += 1
    assert compared or not text.strip()


def test_blanks_at_the_end_of_a_file_move_nothing() -> None:
    """libcst drops the empty line before them: the text that it generates is shorter than the file."""
    text = "class T:\n    def f(self):\n        a = 1\n\n  "
    module = cst.parse_module(text)
    spans = Spans(module, text)
    method = module.body[0].body.body[0]  # type: ignore[attr-defined]
    start, end = spans[method.body.body[0]]
    assert (module.code != text, text[start:end]) == (True, "a = 1")


def test_a_tree_of_another_text_is_refused() -> None:
    with pytest.raises(ValueError, match="positions unknown"):
        Spans(cst.parse_module("a = 1\n"), "a = 12\n")


ALIKE: tuple[tuple[type[ast.AST], type[cst.CSTNode] | tuple[type[cst.CSTNode], ...]], ...] = (
    (ast.Name, cst.Name),
    (ast.Call, cst.Call),
    (ast.Attribute, cst.Attribute),
    (ast.Subscript, cst.Subscript),
    (ast.Lambda, cst.Lambda),
    (ast.Return, cst.Return),
    (ast.ExceptHandler, (cst.ExceptHandler, cst.ExceptStarHandler)),
)
"""Kinds of nodes that Python's own tree has too, with the same places."""


def places_of_python(text: str, kind: type[ast.AST]) -> set[tuple[int, int]]:
    """Type parameters are no nodes of the index; Python has them from 3.12 on."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    tree = ast.parse(text)
    parameters = [each for node in ast.walk(tree) for each in getattr(node, "type_params", ())]
    left_out = {node for each in parameters for node in ast.walk(each)}
    return {
        (starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset)  # type: ignore[attr-defined]
        for node in ast.walk(tree)
        if isinstance(node, kind) and node not in left_out
    }


def test_places_are_those_of_python_wherever_blanks_stand() -> None:
    """libcst loses some of them: `except A :`, a line that is nothing but a backslash, a comment in a pattern."""
    texts = {read_source(program.encode(), "a.py").text for program in programs()}
    wrong, compared, lossy = {}, 0, 0
    for text in texts:
        try:
            module = cst.parse_module(text)
        except Exception:  # libcst does not know all places of a backslash, nor a line end behind `async`
            continue
        compared += 1
        lossy += module.code != text
        spans, nodes = Spans(module, text), list(walk(module))
        for python, ours in ALIKE:
            missing = places_of_python(text, python) - {spans[node] for node in nodes if isinstance(node, ours)}
            if missing:
                wrong[text] = (python.__name__, missing)
    assert not wrong
    assert (compared > 3000, lossy > 30) == (True, True)
