"""What the engine does for every rule: costs in messages, repairs made of parts, one finding a place, strict calls."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
import pytest

from tfmemlint.api import Call, Edit, Fact, File, Finding, Fix, Rule, Safety, Severity, on, on_call, own_nodes, walk
from tfmemlint.config.settings import Config
from tfmemlint.lint.engine import FileResult, lint
from tfmemlint.model.calls import strict_calls
from tfmemlint.rule import HEADINGS
from tfmemlint.syntax.tree import Tree
from tfmemlint.units import AtLeast

PAGE = "\n".join(HEADINGS)


def run(rule: type[Rule], code: str, **settings: int) -> FileResult:
    config = Config(**settings)  # type: ignore[arg-type]
    return lint(f"import tensorflow as tf\n{code}\n".encode(), "program.py", config, [rule()])


# -- costs ------------------------------------------------------------------------------------------------------------


class Priced(Rule):
    __doc__ = PAGE
    code = "ACM101"
    summary = "a range"

    @on_call("tf.range")
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        size = call.value_of("start")
        cost = size.value if size.known else None  # type: ignore[attr-defined]
        yield self.finding(call, file, f"`{file.text(call.node)}` keeps {{it}}{{cost}}, all of it", bytes=cost)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("tf.range(18 << 20)", "`tf.range(18 << 20)` keeps {it} (18 MiB), all of it"),
        ("tf.range(0)", "`tf.range(0)` keeps {it} (0 bytes), all of it"),
        ("tf.range(n)", "`tf.range(n)` keeps {it}, all of it"),
        ("tf.range(n or {0: 1}[0])", "`tf.range(n or {0: 1}[0])` keeps {it}, all of it"),
    ],
)
def test_messages_tell_the_cost_where_it_is_known(code: str, message: str) -> None:
    assert [finding.message for finding in run(Priced, code, least_cost=0).findings] == [message]


class AboutTime(Priced):
    __doc__ = PAGE
    code = "ACM111"
    summary = "a range that takes its time"
    worth_in_bytes = False


class Halved(Priced):
    __doc__ = PAGE
    code = "ACM114"
    summary = "a range of which half is spared"
    spared = 0.5


class AboutErrors(Priced):
    __doc__ = PAGE
    code = "ACM112"
    summary = "a range that fails"
    severity = Severity.ERROR


@pytest.mark.parametrize(
    ("rule", "size", "least_cost", "count"),
    [
        (Priced, "(1 << 20) - 1", 1 << 20, 0),
        (Priced, "1 << 20", 1 << 20, 1),
        (Priced, "1 << 20", (1 << 20) + 1, 0),
        (Priced, "n", 1 << 20, 1),
        (Halved, "(2 << 20) - 1", 1 << 20, 0),
        (Halved, "2 << 20", 1 << 20, 1),
        (AboutTime, "1", 1 << 20, 1),
        (AboutErrors, "1", 1 << 20, 1),
    ],
)
def test_what_is_known_to_cost_little_is_left_out(rule: type[Rule], size: str, least_cost: int, count: int) -> None:
    assert len(run(rule, f"tf.range({size})", least_cost=least_cost).findings) == count


class AtLeastPriced(Rule):
    __doc__ = PAGE
    code = "ACM113"
    summary = "a range with unknown parts"

    @on_call("tf.range")
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        yield self.finding(call, file, "it keeps a lot{cost}", bytes=AtLeast(5000))


def test_what_costs_at_least_some_bytes_may_cost_any() -> None:
    (finding,) = run(AtLeastPriced, "tf.range(2)").findings
    assert (finding.message, finding.bytes, finding.bytes_exact) == ("it keeps a lot (at least 4.9 KiB)", 5000, False)


def test_comments_about_findings_that_are_left_out_have_their_use() -> None:
    text = "tf.range(1)  # tfmemlint: ignore[ACM101]"
    assert [each.code for each in run(Priced, text).findings] == []
    assert [each.code for each in run(Priced, text.replace("range", "zeros")).findings] == ["TFM003"]


# -- repairs ----------------------------------------------------------------------------------------------------------

FIRST, SECOND, THIRD = Edit(1, 2, "a"), Edit(4, 6, "b"), Edit(8, 8, "c")


@pytest.mark.parametrize(
    ("parts", "edits"),
    [
        ([FIRST], (FIRST,)),
        ([THIRD, FIRST], (FIRST, THIRD)),
        ([[SECOND, FIRST], THIRD], (FIRST, SECOND, THIRD)),
        ([(), FIRST], (FIRST,)),
        ([None, FIRST], None),
        ([FIRST, None], None),
        ([()], None),
        ([], None),
    ],
)
def test_repairs_are_made_of_parts_and_need_all_of_them(parts: list[Edit | list[Edit]], edits: object) -> None:
    for make, safety in ((Fix.safe, Safety.SAFE), (Fix.unsafe, Safety.UNSAFE), (Fix.shown, Safety.DISPLAY)):
        fix = make("mend it", *parts)
        assert (fix and fix.edits) == edits
        assert fix is None or (fix.message, fix.safety) == ("mend it", safety)


def test_repairs_with_parts_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        Fix.safe("mend it", FIRST, Edit(0, 3, ""))


# -- one finding a place ----------------------------------------------------------------------------------------------


calls_of_range = Fact(lambda file: file.tree.of(cst.Call), "range")


class Repeating(Rule):
    __doc__ = PAGE
    code = "ACM102"
    summary = "a range"

    @on_call("tf.range")
    def second(self, call: Call, file: File) -> Iterator[Finding]:
        yield self.finding(call, file, "second")
        yield self.finding(call.node.args[0], file, "its argument")

    @on(calls_of_range)
    def first(self, node: cst.Call, file: File) -> Iterator[Finding]:
        yield self.finding(file.call(node), file, "first")
        yield self.finding(file.call(node), file, "first again")


def test_a_place_has_one_finding_of_a_rule_the_first() -> None:
    found = run(Repeating, "tf.range(3)").findings
    assert [finding.message for finding in found] == ["first", "its argument"]


# -- expected errors --------------------------------------------------------------------------------------------------


class Raising(Rule):
    __doc__ = PAGE
    code = "ACM104"
    summary = "a range"
    severity = Severity.ERROR

    @on_call("tf.range")
    def called(self, call: Call, file: File) -> Iterator[Finding]:
        yield self.finding(call, file, "called")

    @on(Fact(lambda file: file.tree.of(cst.Integer), "range"))
    def found(self, number: cst.Integer, file: File) -> Iterator[Finding]:
        yield self.finding(number, file, "found")


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("with pytest.raises(ValueError):\n    tf.range(3)", 0),
        ("with self.assertRaisesRegex(ValueError, 'a'), b:\n    for x in y: tf.range(3)", 0),
        ("with tape:\n    tf.range(3)", 2),
        ("with self.assertRaises(ValueError):\n    pass\ntf.range(3)", 2),
    ],
)
def test_errors_that_a_test_expects_are_not_reported(code: str, count: int) -> None:
    assert len(run(Raising, code).findings) == count


# -- parameters that do not exist -------------------------------------------------------------------------------------


class Asking(Rule):
    __doc__ = PAGE
    code = "ACM103"
    summary = "a cache"

    @on_call("tf.data.Dataset.batch", "tf.data.Dataset.ragged_batch", "tf.keras.layers.Dense")
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        ask = getattr(call, call.node.args[0].value.attr.value)  # type: ignore[attr-defined]
        ask(call.node.args[1].value.raw_value)  # type: ignore[attr-defined]
        yield self.finding(call, file, "asked")


@pytest.mark.parametrize(
    ("method", "question", "fails"),
    [
        ("tf.data.Dataset.range(3).batch", "value_of, 'batch_size'", False),
        ("tf.data.Dataset.range(3).batch", "value_of, 'bach_size'", True),
        ("tf.data.Dataset.range(3).batch", "value_of, 'buffer_size'", True),
        ("tf.data.Dataset.range(3).batch", "given, 'buffer_size'", False),
        ("tf.data.Dataset.range(3).batch", "given, 'bufer_size'", True),
        ("tf.data.Dataset.range(3).batch", "arg, 'buffer_size'", False),
        ("tf.data.Dataset.range(3).batch", "arg, 'bufer_size'", True),
        ("tf.data.Dataset.range(3).batch", "lacks, 'bufer_size'", True),
        ("tf.keras.layers.Dense", "value_of, 'passed_as_keywords'", False),
    ],
)
def test_parameters_that_no_call_has_are_errors_of_the_rule_in_tests(method: str, question: str, fails: bool) -> None:
    code = f"{method}(Call.{question})"
    with strict_calls():
        assert [finding.code for finding in run(Asking, code).findings] == ["TFM000" if fails else "ACM103"]


def test_users_never_see_errors_about_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Call, "strict", False)
    found = run(Asking, "tf.data.Dataset.range(3).batch(Call.value_of, 'bach_size')").findings
    assert [finding.code for finding in found] == ["ACM103"]


# -- typed walks ------------------------------------------------------------------------------------------------------


def test_walks_give_the_nodes_of_exactly_the_asked_classes_in_source_order() -> None:
    module = cst.parse_module("def f(a):\n    g(a)\n    def h(): return k(2)\n    return [b, 1]\n")
    function = module.body[0]
    assert isinstance(function, cst.FunctionDef)
    tree = Tree(module)
    assert [node.value for node in walk(function.body, cst.Integer, cst.Name)] == ["g", "a", "h", "k", "2", "b", "1"]
    assert list(tree.of(cst.Integer, cst.Return)) == [n for n in walk(module) if type(n) in (cst.Integer, cst.Return)]
    assert [type(node) for node in own_nodes(function, cst.Call, cst.Return)] == [cst.Call, cst.Return]
    assert len(list(walk(function))) > len(list(walk(function, cst.Name))) > 0
