"""The facts that wake rules: what each finds in a program, and that the program's own words wake it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.lint.triggers import clauses, triggered
from tfmemlint.model.calls import Call
from tfmemlint.model.file import File
from tfmemlint.query.facts import (
    AttributeSet,
    Fact,
    Wrapped,
    attributes_set,
    calls_named,
    calls_of_unknown,
    calls_passing,
    classes_deriving,
    comprehensions,
    functions_given_to,
    loops,
    nodes,
    traced_functions,
)
from tfmemlint.rule import HEADINGS, Handler, Rule, on
from tfmemlint.text.code_words import words_of_code

LAYER = "class L(tf.keras.layers.Layer):\n    def {}(self, x):\n        return x"
FOUND: list[tuple[Fact[Any], str, list[str]]] = [
    (traced_functions, "@tf.function\ndef f(x): return x", ["f"]),
    (traced_functions, "def f(x): return x\ng = tf.function(f)", ["f"]),
    (traced_functions, "ds = tf.data.Dataset.range(9).map(lambda x: x)", ["lambda x: x"]),
    (traced_functions, "def g(x): return x\n@tf.function\ndef f(x): return g(x)", ["g", "f"]),
    (traced_functions, LAYER.format("call"), ["call"]),
    (traced_functions, LAYER.format("build"), []),
    (traced_functions, "def f(x): return x\nf(1)", []),
    (functions_given_to("tf.function"), "@tf.function\ndef f(x): return x", ["tf.function: f"]),
    (functions_given_to("tf.function"), "@tf.function(jit_compile=True)\ndef f(x): return x",
     ["tf.function(jit_compile=True): f"]),
    (functions_given_to("tf.function"), "def f(x): return x\ng = tf.function(f)", ["tf.function(f): f"]),
    (functions_given_to("tf.function"), "g = tf.function(imported)", ["tf.function(imported): None"]),
    (functions_given_to("tf.function"), "g = tf.recompute_grad(lambda x: x)", []),
    (functions_given_to("tf.recompute_grad"), "g = tf.recompute_grad(lambda x: x)",
     ["tf.recompute_grad(lambda x: x): lambda x: x"]),
    (classes_deriving("tf.keras.callbacks.Callback"), "class A(tf.keras.callbacks.Callback): pass\nclass B(A): pass",
     ["A", "B"]),
    (classes_deriving("tf.keras.callbacks.Callback"), "class A(tf.keras.callbacks.ModelCheckpoint): pass", ["A"]),
    (classes_deriving("tf.keras.callbacks.Callback"), "class A(tf.keras.Model): pass\nclass B(Callback): pass", []),
    (loops, "while a: pass\nfor b in c:\n    for d in e: pass", ["while a", "for b in c", "for d in e"]),
    (comprehensions, "[a for a in b]\n{a: a for a in b}\nsum(a for a in b)",
     ["[a for a in b]", "{a: a for a in b}", "a for a in b"]),
    (nodes(cst.Return, cst.Pass), "def f():\n    if x: pass\n    return 3", ["pass", "return 3"]),
    (calls_passing("workers", "queue"), "f(1, workers=2)\ng(queue=3)\nh(other=workers)",
     ["f(1, workers=2)", "g(queue=3)"]),
    (calls_named("save", "dump"), "m.save(a)\npickle.dump(b)\nsave(c)\nsave.d()",
     ["m.save(a)", "pickle.dump(b)", "save(c)"]),
    (calls_of_unknown("fit"), "load().fit(x)\ntf.keras.Sequential().fit(x)\nload().evaluate(x)", ["load().fit(x)"]),
    (attributes_set("eager"), "m.eager = True\nm.other = n.eager\neager = 1", ["m.eager = True"]),
]  # fmt: skip


def shown(found: object, file: File) -> str:
    if isinstance(found, Wrapped):
        where = found.where.node if isinstance(found.where, Call) else found.where
        return f"{file.text(where)}: {shown(found.function, file)}"
    if isinstance(found, AttributeSet):
        assert file.text(found.statement) == f"{file.text(found.target)} = {file.text(found.value)}"
        return file.text(found.statement)
    node = found.node if isinstance(found, Call) else found
    if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        return node.name.value
    return file.text(node).partition(":\n")[0].partition(": pass")[0] if isinstance(node, cst.CSTNode) else str(node)


@pytest.mark.parametrize(("fact", "program", "expected"), FOUND)
def test_facts_are_found_and_the_words_of_the_program_wake_them(
    fact: Fact[Any], program: str, expected: list[str]
) -> None:
    file = model_of(program)
    assert [shown(found, file) for found in fact.of(file)] == expected
    if expected:
        words = set(re.findall(r"\w+", program))
        assert all(clause & words for clause in clauses(Handler("check", (), fact)))
        assert fact.names or fact is nodes(cst.Return, cst.Pass)


# -- which files are read ---------------------------------------------------------------------------------------------


class Waiting(Rule):
    __doc__ = "\n".join(HEADINGS)
    code = "ACM101"
    summary = "a loop over what is drawn"

    @on(loops, "tf.random.", "tf.keras.callbacks.Callback", "dice")
    def check(self, loop: cst.For | cst.While, file: File) -> Iterator[Any]:
        yield self.finding(loop, file, "a loop")


@pytest.mark.parametrize(
    ("program", "awake"),
    [
        ("for x in tf.random.normal([3]): pass", True),
        ("while tf.random.stateless_uniform([3], seed): pass", True),
        ("tf.random.normal([3])", False),
        ("for x in tf.zeros([3]): pass", False),
        ("class A(keras.callbacks.EarlyStopping):\n    while x: pass", True),
        ("while dice(): pass", True),
        ("while dices(): pass", False),
    ],
)
def test_a_file_is_read_if_it_names_the_fact_and_what_the_rule_asks_for(program: str, awake: bool) -> None:
    assert bool(triggered([Waiting()], words_of_code(program))) is awake


def test_a_rule_that_would_be_asked_about_every_file_is_refused() -> None:
    def make(*names: str) -> type:
        def check(self: Rule, loop: cst.For, file: File) -> Iterator[Any]:
            yield from ()

        members = {"__doc__": Waiting.__doc__, "code": "ACM102", "summary": "a loop"}
        return type("Made", (Rule,), {**members, "check": on(nodes(cst.For), *names)(check)})

    assert make("for")
    with pytest.raises(TypeError, match="check does not say which APIs it is about"):
        make()


def test_facts_are_found_once_for_all_rules() -> None:
    asked = []

    def find(file: File) -> list[int]:
        asked.append(file)
        return [1, 2]

    numbers, file = Fact(find, "word"), model_of("word")
    assert [numbers.of(file), numbers.of(file), len(asked)] == [[1, 2], [1, 2], 1]
