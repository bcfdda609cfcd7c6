"""What is known of a gradient tape: its gradients, whether it escapes, its last use, what its block records."""

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.model.file import File
from tfmemlint.query.gradients.tapes import TAPE, Tape, tape_of, tape_of_gradient

PLAIN = "with tf.GradientTape() as t:\n    y = f(x)\n"
KEPT = "with tf.GradientTape(persistent=True) as t:\n    y = f(x)\n"


def first(file: File) -> Tape | None:
    return tape_of(file, next(file.calls(TAPE)))


def tape(program: str) -> Tape:
    found = first(model_of(program))
    assert found is not None
    return found


HELD = [
    (PLAIN, "t"),
    ("t = tf.GradientTape()\nwith t:\n    y = f(x)", "t"),
    ("t = tf.GradientTape()\nwith t as u:\n    y = f(x)", "u"),
    ("t = tf.GradientTape()\nwith t:\n    y = f(x)\nwith t:\n    z = f(x)", None),
    ("with tf.GradientTape():\n    y = f(x)", None),
    ("with tf.GradientTape() as self.t:\n    y = f(x)", None),
    ("t = tf.GradientTape()", None),
]


@pytest.mark.parametrize(("program", "name"), HELD)
def test_a_tape_is_entered_once_and_held_by_a_name(program: str, name: str | None) -> None:
    found = first(model_of(program))
    assert (found.name if found is not None else None) == name


PERSISTENT = [("", False), ("persistent=False", False), ("persistent=True", True), ("persistent=p", None),
              ("**options", None)]  # fmt: skip


@pytest.mark.parametrize(("given", "expected"), PERSISTENT)
def test_whether_it_keeps_its_record(given: str, expected: bool | None) -> None:
    assert tape(f"with tf.GradientTape({given}) as t:\n    y = f(x)").persistent is expected


ESCAPES = [
    ("t.gradient(y, x)\nt.watch(x)\ndel t", False),
    ("g(t)", True),
    ("self.t = t", True),
    ("kept.append(t)", True),
    ("u = t\nu.gradient(y, x)", False),
    ("t.unknown()", True),
    ("def later():\n    return t.gradient(y, x)", True),
]


@pytest.mark.parametrize(("after", "expected"), ESCAPES)
def test_what_else_may_hold_it(after: str, expected: bool) -> None:
    assert tape(PLAIN + after).escapes is expected


TAKEN = [
    ("a = t.gradient(y, x)", 1, False),
    ("a = t.gradient(y, x)\nb = t.jacobian(y, x)", 2, True),
    ("if c:\n    a = t.gradient(y, x)\nelse:\n    a = t.gradient(y, z)", 2, False),
    ("a = t.gradient(y, x) if c else t.gradient(y, z)", 2, False),
    ("if c:\n    a = t.gradient(y, x)\nb = t.gradient(y, z)", 2, True),
    ("for v in vs:\n    a = t.gradient(y, v)", 1, True),
    ("a = [t.gradient(y, v) for v in vs]", 1, True),
    ("", 0, False),
]


@pytest.mark.parametrize(("after", "count", "several"), TAKEN)
def test_how_many_gradients_are_taken_of_one_record(after: str, count: int, several: bool) -> None:
    found = tape(KEPT + after)
    assert (len(found.gradients), found.several) == (count, several)


def test_a_loop_that_makes_the_tape_anew_takes_one_gradient_of_each() -> None:
    assert not tape("for v in vs:\n    with tf.GradientTape() as t:\n        y = f(v)\n    t.gradient(y, v)").several


HIGHER = [
    ("    d = t.gradient(y, x)\ne = t.gradient(d, x)", True),
    ("    d = t.gradient(y, x)\n    s = tf.reduce_sum(d)\ne = t.gradient(s, x)", True),
    ("    a, d = 1, t.gradient(y, x)\ne = t.gradient(d, x)", True),
    ("    d = t.gradient(y, x)\ne = t.gradient(z, x)", False),
]


@pytest.mark.parametrize(("code", "expected"), HIGHER)
def test_gradients_of_gradients(code: str, expected: bool) -> None:
    assert tape(KEPT + code).of_higher_order is expected


def texts(file: File, nodes: list[cst.CSTNode]) -> list[str]:
    return [file.text(node) for node in nodes]


RECORDED = [
    ("tf.GradientTape()", ["y = f(x)"]),
    ("tf.GradientTape(persistent=True)", ["y = f(x)", "g = t.gradient(y, x)", "z = 1"]),
]


@pytest.mark.parametrize(("made", "expected"), RECORDED)
def test_a_gradient_ends_the_recording_of_a_plain_tape(made: str, expected: list[str]) -> None:
    found = tape(f"with {made} as t:\n    y = f(x)\n    g = t.gradient(y, x)\n    z = 1")
    assert texts(found.file, found.recorded) == expected


def test_recorded_lines_are_neither_in_functions_nor_where_it_is_stopped() -> None:
    found = tape(
        "with tf.GradientTape() as t:\n    if c:\n        a = 1\n    with t.stop_recording():\n        b = 2\n"
        "    def f():\n        return 3\n"
    )
    assert [text for each in found.body for text in texts(found.file, list(found.lines(each)))] == ["a = 1"]


LAST = [
    ("g = t.gradient(y, x)\nh = 1", "g = t.gradient(y, x)"),
    ("if c:\n    g = t.gradient(y, x)\nh = 1", "if c:\n    g = t.gradient(y, x)"),
    ("h = 1", PLAIN.strip()),
    ("def f():\n    t.gradient(y, x)", "def f():\n    t.gradient(y, x)"),
]


@pytest.mark.parametrize(("after", "expected"), LAST)
def test_the_last_statement_that_uses_it(after: str, expected: str) -> None:
    found = tape(PLAIN + after)
    assert found.last_use is not None
    assert found.file.text(found.last_use).strip() == expected


def test_a_use_outside_of_its_block_of_statements_is_no_last_use() -> None:
    assert tape(f"if c:\n    {PLAIN.replace(chr(10), chr(10) + '    ')}\nt.gradient(y, x)").last_use is None


def test_a_name_that_is_bound_again_lets_it_go() -> None:
    assert tape(PLAIN + "t.gradient(y, x)\nt = None").rebound
    assert not tape(PLAIN + "t.gradient(y, x)\nu = None").rebound


NESTED = "with tf.GradientTape() as outer:\n    with tf.GradientTape() as inner:\n        y = f(x)\n"


def test_tapes_in_tapes() -> None:
    file = model_of(NESTED)
    outer, inner = (tape_of(file, made) for made in file.calls(TAPE))
    assert outer is not None and outer.holds_another and not outer.inside_another
    assert inner is not None and inner.inside_another and not inner.holds_another


def test_tapes_of_one_statement_need_what_any_of_them_differentiates() -> None:
    program = (
        "with tf.GradientTape() as a, tf.GradientTape() as b:\n    y = f(x)\n    z = g(x)\n    shown = h(x)\n"
        "a.gradient(y, x)\nb.gradient(z, x)\n"
    )
    found = tape(program)
    assert [each.name for each in found.together] == ["a", "b"]
    assert sorted(texts(found.file, list(found.needed))) == ["y = f(x)", "z = g(x)"]
    unknown = tape("with tf.GradientTape() as a, tf.GradientTape():\n    y = f(x)")
    assert unknown.together == ()


def test_the_tape_of_a_gradient() -> None:
    file = model_of(PLAIN + "g = t.gradient(y, x)\nu.gradient(y, x)")
    taken, other = (file.call(node) for node in file.calls_by_word["gradient"])
    assert tape_of_gradient(file, taken) is first(file)
    assert tape_of_gradient(file, other) is None
