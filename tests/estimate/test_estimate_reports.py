"""What the formats say of an estimate: each figure, what is not known, and that the pictures need nothing else."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from made import MIB, NO_BATCH, NO_UNITS, estimate, reported, step

from tfmemlint.estimate.answer import Moment
from tfmemlint.estimate.measured import MeasuredHeld, MeasuredStep
from tfmemlint.estimate.step import Missing, Optimizer
from tfmemlint.report.estimates import FORMATS, Options, Reported, render
from tfmemlint.report.estimates.curve import columns, in_text, parts
from tfmemlint.report.estimates.reported import Before, Budget, Place
from tfmemlint.report.estimates.stack import bands

SVG = "{http://www.w3.org/2000/svg}"
TEXT = """\
train.py:41  model.fit(...)  Sequential, 2 layers, batch 48, SGD(momentum=0.9), float32

  weights            1 MiB
  optimizer slots    1 MiB
  one batch of data  2 MiB
  step               200 MiB, most in the backward pass of conv2d (line 11)
  peak               204 .. 284 MiB
  T4, 16 GiB         fits into the 14 GiB that can be used; largest batch about 3 400

  alive at the peak
    conv2d  line 11  96 MiB  ████████████████████████  kept for backward
    dense   line 12  80 MiB  ████████████████████      gradient
    conv2d  line 11  24 MiB  ██████                    output

  204 MiB
  │                              █████
  │                    ▁▁▁▁▁▂▂▂▂▂█████
  │     ▄▄▄▄▄▅▅▅▅▅▇▇▇▇▇███████████████
  │▃▃▃▃▃██████████████████████████████▅▅▅▅▅
  │████████████████████████████████████████
  └───────────────┬────┬─────────▲─────────
   forward        loss  backward and update

  what would save
    batch 24        -100 MiB, peak from 104 MiB
    mixed_bfloat16  -84 MiB, peak from 120 MiB
"""


def text(found: Reported, width: int = 44, **options: Any) -> str:
    return render("text", [found], Options(width, **options))


def record(found: Reported) -> dict[str, Any]:
    (made,) = json.loads(render("json", [found], Options()))
    return made  # type: ignore[no-any-return]


def unfinished(**changed: Any) -> Reported:
    """A step of which neither the batch nor some layer's units are known."""
    return reported(estimate(step(None, [NO_BATCH, NO_UNITS])), saves=None, **changed)


def test_text_says_all_there_is_to_say() -> None:
    assert text(reported()) == TEXT


def test_text_without_budget_and_changes_leaves_them_out() -> None:
    shown = text(reported(budget=None, saves=None))
    assert "can be used" not in shown and "what would save" not in shown
    assert shown.endswith("backward and update\n")


def test_what_holds_little_is_one_line() -> None:
    held = tuple(replace(estimate().held[0], layer=f"layer{number}", bytes=(20 - number) * MIB) for number in range(11))
    shown = text(reported(estimate(held=held)))
    assert "layer7  line 11  13 MiB  ████████████████ " in shown and "\n    3 more           33 MiB\n" in shown
    assert "layer8" not in shown


@pytest.mark.parametrize(
    ("high", "usable", "verdict"),
    [
        (284, 300, "fits"),
        (284, 284, "fits"),
        (284, 283, "may not fit"),
        (284, 204, "may not fit"),
        (284, 203, "does not fit"),
    ],
)
def test_the_verdict_rests_on_both_ends_of_the_interval(high: int, usable: int, verdict: str) -> None:
    found = reported(estimate(high=high * MIB), budget=Budget(1 << 30, usable * MIB, None, 40))
    assert (found.verdict, found.over) == (verdict, verdict == "does not fit")
    assert f"1 GiB card         {verdict} into the {usable} MiB that can be used; largest batch about 40" in text(found)
    assert record(found)["budget"] == {
        "bytes": 1 << 30, "usable": usable * MIB, "card": None, "verdict": verdict, "largest_batch": 40,
    }  # fmt: skip


def test_of_a_card_that_holds_not_one_example_so_is_said() -> None:
    found = reported(budget=Budget(1 << 30, 100 * MIB, None, 0))
    assert "does not fit into the 100 MiB that can be used, nor does one example\n" in text(found)


def test_a_lower_bound_is_called_one_and_never_fits() -> None:
    found = reported(estimate(step(missing=[NO_UNITS])))
    shown = text(found)
    assert "peak               at least 204 MiB\n" in shown
    assert "may not fit into the 14 GiB that can be used; largest batch at most about 3 400" in shown
    assert "  not known\n    the units of Dense 'dense' (line 12): left out\n" in shown
    made = record(found)
    assert (made["known"], made["budget"]["verdict"]) == (False, "may not fit")
    assert (made["bytes"]["low"], made["bytes"]["guess"], made["bytes"]["high"]) == (204 * MIB, None, None)
    assert made["model"]["parameters"] is None
    assert replace(found, budget=Budget(1, 1)).verdict == "does not fit"


def test_without_the_shape_of_the_input_no_batch_is_said_to_fit() -> None:
    found = reported(estimate(step(missing=[Missing("the shape of the input", 3, "--input")])))
    assert "may not fit into the 14 GiB that can be used\n" in text(found)


def test_without_a_batch_bytes_are_for_each_example() -> None:
    found = unfinished()
    shown = text(found)
    assert shown.startswith("train.py:41  model.fit(...)  Sequential, 2 layers, batch not known, SGD")
    assert "each example     at least 4 MiB\n  peak             not known without the batch size\n" in shown
    assert "the batch size (line 41): give --batch\n" in shown
    assert "alive at the peak" not in shown and "│" not in shown
    made = record(found)
    assert made["batch"] is None and made["bytes"]["per_example"] == 4 * MIB and made["bytes"]["weights"] == MIB
    for name in ("input", "step", "low", "guess", "high"):
        assert made["bytes"][name] is None
    for name in ("peak", "alive", "curve", "phases", "what_if"):
        assert made[name] is None
    assert {layer["kept"] for layer in made["layers"]} == {None}
    assert made["missing"] == [
        {"what": "the batch size", "line": 41, "cell": None, "option": "--batch", "name": None, "bounds": False},
        {"what": "the units of Dense 'dense'", "line": 12, "cell": None, "option": None, "name": None, "bounds": True},
    ]


def test_slots_of_an_unknown_optimizer_are_not_known() -> None:
    of = step()
    found = reported(estimate(replace(of, passes=(replace(of.passes[0], optimizer=None),))))
    assert "optimizer slots    not known\n" in text(found)
    assert (record(found)["bytes"]["slots"], record(found)["optimizer"]) == (None, None)


def test_predict_has_no_slots() -> None:
    of = step()
    forward = replace(of.passes[0], backward=False, optimizer=None, losses=())
    curve = tuple(Moment("conv2d", "forward", size * MIB) for size in (10, 200))
    shown = text(reported(estimate(replace(of, passes=(forward,), call="model.predict(x)"), curve=curve)))
    assert "slots" not in shown and "SGD" not in shown and "backward and update" not in shown


def test_of_a_compiled_step_no_figure_is_promised() -> None:
    shown = text(reported(estimate(step(mode="jit"))))
    assert "float32, jit\n" in shown and "204 .. 284 MiB, as a graph: XLA may use less or more\n" in shown


def test_what_changes_the_optimizers_memory_is_shown() -> None:
    of = step(mode="eager", precision="mixed_float16")
    passes = tuple(
        replace(of.passes[0], optimizer=Optimizer("Adam", arguments))
        for arguments in ({"learning_rate": 0.1}, {"amsgrad": True, "use_ema": False})
    )
    shown = text(reported(estimate(replace(of, passes=passes))))
    assert "batch 48, Adam and Adam(amsgrad), mixed_float16, eager\n" in shown


@pytest.mark.parametrize(
    ("was", "words"),
    [
        (None, "not there"),
        (estimate(low=102 * MIB, high=142 * MIB), "102 .. 142 MiB; now 102 MiB more (+100 %)"),
        (estimate(low=408 * MIB, high=1 << 30), "408 MiB .. 1 GiB; now 204 MiB less (-50 %)"),
        (estimate(), "204 .. 284 MiB; now the same"),
        (estimate(step(missing=[NO_UNITS])), "at least 204 MiB; now the same"),
        (estimate(step(None, [NO_BATCH])), "too little is known to compare"),
    ],
)
def test_a_comparison_says_how_the_peak_moved(was: Any, words: str) -> None:
    found = reported(before=Before("main", was))
    assert f"at main            {words}\n" in text(found)
    table = render("github", [found], Options())
    assert "| step | batch | peak | at main | fits |" in table
    assert re.sub(r"&#(\d+);", lambda match: chr(int(match[1])), table).count(words) == 2


def test_json_has_the_change() -> None:
    before = record(reported(before=Before("main", estimate(low=102 * MIB))))["before"]
    assert before == {"ref": "main", "low": 102 * MIB, "high": 284 * MIB, "change": 102 * MIB}
    gone = record(reported(before=Before("main", None)))["before"]
    assert gone == {"ref": "main", "low": None, "high": None, "change": None}


def test_the_table_of_layers_is_shown_when_asked_for() -> None:
    assert "layers" not in text(reported()).split("\n", 1)[1]
    table = text(reported(), per_layer=True).split("  layers\n")[1].split("\n\n")[0].splitlines()
    assert [re.split(r"\s{2,}", line.strip()) for line in table] == [
        ["line", "layer", "type", "output", "parameters", "kept", "gradients", "of the peak"],
        ["11", "conv2d", "Conv2D", "48 x 32 x 32 x 64", "1 792", "96 MiB", "7 KiB", "59 %"],
        ["12", "dense", "Dense", "48 x 10", "655 370", "4 MiB", "2.5 MiB", "39 %"],
    ]


def test_places_in_a_notebook_name_the_cell() -> None:
    found = reported(path="nb.ipynb", places={41: Place(3, 5), 11: Place(1, 4), 12: Place(2, 4)})
    shown = text(found, per_layer=True)
    assert shown.startswith("nb.ipynb:cell 5:3  model.fit(...)")
    assert "the backward pass of conv2d (line 1 of cell 4)" in shown
    assert "     4:2  dense" in shown
    made = record(found)
    assert (made["line"], made["cell"]) == (3, 5)
    assert (made["peak"]["line"], made["peak"]["cell"]) == (1, 4)


# -- JSON

_PLACE = {"line": (int, None), "cell": (int, None)}
SCHEMA: dict[str, Any] = {
    "version": int,
    "path": str,
    **_PLACE,
    "call": str,
    "model": {"name": str, "kind": str, "parameters": (int, None), "trainable": (int, None)},
    "batch": (int, None),
    "optimizer": (str, None),
    "precision": str,
    "mode": str,
    "known": bool,
    "missing": [{"what": str, **_PLACE, "option": (str, None), "name": (str, None), "bounds": bool}],
    "bytes": {
        "weights": int, "slots": (int, None), "input": (int, None), "step": (int, None), "low": (int, None),
        "guess": (int, None), "high": (int, None), "per_example": (int, None),
    },
    "peak": ({"op": str, "layer": (str, None), **_PLACE, "phase": str}, None),
    "alive": ([{"layer": (str, None), **_PLACE, "bytes": int, "why": str}], None),
    "layers": [
        {
            **_PLACE, "name": str, "type": str, "output": [(int, None)], "parameters": int, "kept": (int, None),
            "gradients": (int, None), "at_peak": (int, None),
        }
    ],
    "curve": ([[(int, None)]], None),
    "phases": ([[(str, int)]], None),
    "budget": (
        {"bytes": int, "usable": int, "card": (str, None), "verdict": (str, None), "largest_batch": (int, None)}, None
    ),
    "what_if": ([{"change": str, "low": int, "saves": int}], None),
    "before": ({"ref": str, "low": (int, None), "high": (int, None), "change": (int, None)}, None),
    "measured": (
        {
            "batch": (int, None),
            "bytes": {"variables": int, "input": (int, None), "step": int, "peak": int, "in_use": int},
            "alive": [{"layer": (str, None), "estimated": (int, None), "measured": (int, None),
                       "in_memory_of": (str, None)}],
            "ops": [{"op": str, "bytes": int, "layers": [str]}], "made_up": [str], "versions": dict,
        },
        None,
    ),
}  # fmt: skip
"""Keys in their order and what they hold: a type, a list of one kind, an object, or one of several of these."""


RAN = MeasuredStep(
    2 * MIB, 2 * MIB, 180 * MIB, 200 * MIB, 48, (MeasuredHeld("conv2d_1/Conv2D", 90 * MIB, (("conv2d", "Conv2D"),)),),
    (("conv2d", "Conv2D"), ("dense", "Dense")), ("a file",), (("tensorflow", "2.21.0"),),
)  # fmt: skip


def agrees(value: Any, schema: Any) -> bool:
    if isinstance(schema, tuple):
        return any(agrees(value, each) for each in schema)
    if isinstance(schema, Mapping):
        return isinstance(value, dict) and list(value) == list(schema) and all(
            agrees(value[key], schema[key]) for key in schema
        )  # fmt: skip
    if isinstance(schema, Sequence):
        return isinstance(value, list) and all(agrees(each, schema[0]) for each in value)
    return value is None if schema is None else type(value) is schema


EVERY = [
    reported(),
    reported(budget=None, saves=None),
    reported(estimate(step(missing=[NO_UNITS]))),
    unfinished(),
    unfinished(before=Before("main", estimate())),
    reported(before=Before("main", None), places={41: Place(3, 5)}),
    reported(estimate(curve=(), lives=(), held=(), layers=())),
    replace(reported(), measured=RAN),
    replace(unfinished(), measured=replace(RAN, data=None, batch=None)),
]


@pytest.mark.parametrize("found", EVERY)
def test_json_keeps_its_contract(found: Reported) -> None:
    made = record(found)
    wrong = [key for key in SCHEMA if not agrees(made.get(key), SCHEMA[key])]
    assert (wrong, list(made)) == ([], list(SCHEMA))


def test_json_has_the_figures() -> None:
    made = record(reported())
    assert made["model"] == {"name": "Sequential, 2 layers", "kind": "Sequential", "parameters": 657162,
                             "trainable": (7168 + 2621480) // 4}  # fmt: skip
    assert made["bytes"] == {
        "weights": MIB, "slots": MIB, "input": 2 * MIB, "step": 200 * MIB, "low": 204 * MIB, "guess": 244 * MIB,
        "high": 284 * MIB, "per_example": 4 * MIB,
    }  # fmt: skip
    assert made["curve"][:5] == [[0, 48 * MIB], [0, 96 * MIB], [1, 100 * MIB], [None, 110 * MIB], [1, 120 * MIB]]
    assert made["phases"] == [
        ["forward", 0], ["loss", 3], ["backward", 4], ["update", 5], ["backward", 6], ["update", 7],
    ]  # fmt: skip
    assert made["what_if"][0] == {"change": "batch 24", "low": 104 * MIB, "saves": 100 * MIB}


def test_json_of_nothing_is_an_empty_array() -> None:
    assert json.loads(render("json", [], Options())) == []


# -- pictures


def svg(found: Sequence[Reported]) -> ElementTree.Element:
    return ElementTree.fromstring(render("svg", found, Options()))


@pytest.mark.parametrize("found", EVERY)
def test_svg_is_xml_and_needs_nothing_from_outside(found: Reported) -> None:
    shown = render("svg", [found], Options())
    for node in ElementTree.fromstring(shown).iter():
        assert node.tag.startswith(SVG), node.tag
        assert node.tag not in (f"{SVG}script", f"{SVG}image", f"{SVG}use", f"{SVG}foreignObject")
        assert not any(name.endswith("href") or name.startswith("on") for name in node.attrib)
    assert "url(" not in shown and "@import" not in shown
    assert "prefers-color-scheme: dark" in shown


def test_svg_tells_layers_parts_and_the_peak() -> None:
    root = svg([reported()])
    words = [node.text for node in root.iter(f"{SVG}text")]
    for each in ("forward", "loss", "backward and update", "train.py:41 model.fit(...)", "conv2d: 176 MiB",
                 "204 MiB in the backward pass of conv2d (line 11)", "weights, slots and data: 4 MiB"):  # fmt: skip
        assert each in words
    titles = [node.text for node in root.iter(f"{SVG}title")]
    assert "backward of conv2d: 204 MiB" in titles and "dense: at most 4 MiB" in titles
    assert len(list(root.iter(f"{SVG}circle"))) == 1


def test_svg_draws_a_budget_that_is_near() -> None:
    near, far = (svg([reported(budget=Budget(1 << 30, size * MIB))]) for size in (250, 2000))
    told = [[node.text for node in root.iter(f"{SVG}text")] for root in (near, far)]
    assert "250 MiB can be used" in told[0]
    assert not any("can be used" in str(words) for words in told[1])


def test_svg_of_several_steps_has_one_below_the_other() -> None:
    moved = [node.attrib["transform"] for node in svg([reported(), unfinished(), reported()]) if node.tag == f"{SVG}g"]
    heights = [float(each.removeprefix("translate(0 ").removesuffix(")")) for each in moved]
    assert heights == sorted(set(heights)) and len(heights) == 3


def test_the_stack_adds_up_to_the_curve() -> None:
    found = estimate()
    drawn = columns(found, 100)
    stacked = bands(found, drawn)
    totals = [sum(each) for each in zip(*(band.bytes for band in stacked), strict=True)]
    assert totals == [moment.bytes + 4 * MIB for moment in found.curve]
    assert [(band.name, band.rank) for band in stacked] == [
        ("weights, slots and data", None), ("conv2d", 0), ("dense", 1), ("all else", None),
    ]  # fmt: skip
    assert [size // MIB for size in stacked[1].bytes] == [48, 96, 96, 96, 96, 96, 176, 48]


def test_a_coarse_curve_keeps_the_peak() -> None:
    drawn = columns(estimate(), 3)
    assert (len(drawn), max(column.bytes for column in drawn)) == (3, 200 * MIB)
    assert [(each.name, each.start, each.end) for each in parts(columns(estimate(), 8))] == [
        ("forward", 0, 3), ("loss", 3, 4), ("backward and update", 4, 8),
    ]  # fmt: skip


@pytest.mark.parametrize("width", [20, 43, 100, 120])
def test_the_curve_is_as_wide_as_it_may_be_and_no_wider(width: int) -> None:
    lines = in_text(estimate(), width)
    assert len(lines) == 1 + 5 + 2
    assert width - 8 <= max(map(len, lines)) <= width
    assert lines[-2].count("▲") == 1


def test_no_curve_without_moments_or_room() -> None:
    assert in_text(estimate(curve=()), 80) == []
    assert in_text(estimate(), 10) == []


def test_html_is_one_page_with_all_tables_and_the_picture() -> None:
    shown = render("html", [reported(), unfinished()], Options())
    assert shown.startswith("<!doctype html>") and shown.count("<section>") == 2
    assert shown.count('<svg class="curve"') == 1
    for words in ("alive at the peak", "what would save", "layers", "655 370", "mixed_bfloat16", "fits</span>",
                  "the batch size (line 41): give --batch"):  # fmt: skip
        assert words in shown
    assert not re.search(r"(src|href)=|url\(|@import|<script", shown)


# -- what comes from outside


@pytest.mark.parametrize("name", FORMATS)
def test_names_from_outside_stay_text(name: str) -> None:
    evil = "</text><script>alert(1)</script>|`x` [a](b) @you \x1b[31m\u202e"
    found = estimate()
    held = tuple(replace(each, layer=evil) for each in found.held)
    layers = tuple(replace(each, name=evil, kind=evil) for each in found.layers)
    lives = tuple(replace(each, layer=evil) for each in found.lives)
    of = replace(found.of, call=evil, model=evil)
    made = replace(found, of=of, held=held, layers=layers, lives=lives, peak=replace(found.peak, layer=evil))
    shown = render(name, [reported(made, path=f"{evil}.py")], Options(per_layer=True))
    assert "\x1b" not in shown and "\u202e" not in shown
    if name in ("svg", "html", "github"):
        assert "<script" not in shown
    if name == "svg":
        ElementTree.parse(io.StringIO(shown))
    if name == "github":
        assert "@you" not in shown and "](b)" not in shown
        rows = [line for line in shown.splitlines() if line.startswith("| ") and "script" in line]
        assert {row.count("|") for row in rows} == {3, 5, 7}


def test_nothing_found_is_a_report_too() -> None:
    assert render("text", [], Options()) == ""
    assert list(svg([]).iter(f"{SVG}text")) == []
    assert "No training step" in render("github", [], Options())
    assert "No training step" in render("html", [], Options())
