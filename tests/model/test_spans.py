"""Offsets counted by our own walk are those of libcst's position provider."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest
import tfmemlint_fixtures
from libcst.metadata import MetadataWrapper, PositionProvider

from tfmemlint.model.spans import Spans

SAMPLES = sorted(Path(tfmemlint_fixtures.__path__[0]).glob("TFM[136]*/bad.py"))[:12]
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
