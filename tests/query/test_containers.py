"""What programs put into containers, and what takes it out again."""

import pytest
from programs import model_of

from tfmemlint.query.flow.containers import (
    collects,
    is_bounded,
    is_emptied,
    is_filled,
    is_made_anew,
    puts,
    repeated_puts,
)

PUT = [
    ("kept.append(x)", [("kept", ["x"])]),
    ("kept.append((x, y))", [("kept", ["x", "y"])]),
    ("kept.insert(0, x)", [("kept", ["x"])]),
    ("kept.extend([x])", [("kept", ["x"])]),
    ("kept.extend([x, y])", []),
    ("kept += [x]", [("kept", ["x"])]),
    ("kept += x", []),
    ("kept[i] = x", [("kept", ["x"])]),
    ("kept['last'] = x", []),
    ("kept.update({i: x})", [("kept", ["x"])]),
    ("kept.update({'last': x})", []),
    ("d.setdefault(k, []).append(x)", [("d", ["x"])]),
    ("append(x)", []),
    ("kept = []\npush = kept.append\npush(x)", [("kept", ["x"])]),
    ("push = self.kept.append\nadd = push\nadd(x)", [("self.kept", ["x"])]),
    ("def f(push):\n    push(x)\npush = kept.append", []),
    ("push = kept.append\nif c:\n    push = print\npush(x)", []),
]


@pytest.mark.parametrize(("program", "expected"), PUT)
def test_what_is_put_beside_others_is_found(program: str, expected: list[tuple[str, list[str]]]) -> None:
    file = model_of(program)
    found = [(file.text(put.container), [file.text(part) for part in put.parts]) for put in puts(file)]
    assert found == expected


BOUNDED = [
    ("import collections\nkept = collections.deque(maxlen=9)\nkept.append(x)", True),
    ("from collections import deque\nself.kept = deque([], 9)\nself.kept.append(x)", True),
    ("from collections import deque\nkept = deque()\nkept.append(x)", False),
    ("kept = []\nkept.append(x)", False),
]


@pytest.mark.parametrize(("program", "expected"), BOUNDED)
def test_queues_of_a_fixed_length_keep_the_last(program: str, expected: bool) -> None:
    file = model_of(program)
    assert [is_bounded(file, put.container) for put in puts(file)] == [expected]


def test_containers_are_emptied_where_something_is_taken_out() -> None:
    file = model_of("self.kept.clear()\nother.pop()\ndel third[0]\nfree()")
    assert all(is_emptied(file, path, file.module) for path in ("self.kept", "other", "third"))
    assert not is_emptied(file, "self.kept", file.module.body[-1])
    assert not is_emptied(file, "kept", file.module)


def test_containers_are_made_anew_where_their_name_is_bound() -> None:
    file = model_of("self.kept = []\nself.kept[0] = x")
    assert is_made_anew(file, "self.kept", file.module)
    assert not is_made_anew(file, "self.kept", file.module.body[-1])
OUTLIVING = [
    ("kept = []\nfor x in y: kept.append(x)", True),
    ("for x in y:\n    kept = []\n    kept.append(x)", False),
    ("kept = []\nfor x in y:\n    kept.append(x)\n    kept.clear()", False),
    ("def f(x):\n    kept.append(x)\nkept = []\nfor x in y: f(x)", True),
    ("def f(x):\n    kept = []\n    kept.append(x)\nfor x in y: f(x)", False),
    ("class A:\n    def __init__(self): self.kept = []\n    def f(self, x): self.kept.append(x)\n"
     "a = A()\nfor x in y: a.f(x)", True),
    ("class A:\n    def g(self): self.kept = []\n    def f(self, x): self.kept.append(x)\n"
     "a = A()\nfor x in y: a.f(x)", False),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), OUTLIVING)
def test_containers_from_before_a_loop_outlive_its_iterations(program: str, expected: bool) -> None:
    file = model_of(program)
    assert [collects(file, put.container, found) for put, found in repeated_puts.of(file)] == [expected]


FILLED = [
    ("kept = [1]\nkept.append(2)\nprobe(kept)", True),
    ("class A:\n    def f(self):\n        self.k = [1]\n        self.k.pop()\n        probe(self.k)", True),
    ("kept = [1]\nkept.index(2)\nprobe(kept)", False),
    ("kept = [1]\nother.append(2)\nprobe(kept)", False),
    ("kept = unknown()\nkept.append(2)\nprobe(kept)", False),
    ("probe([1])", False),
]


@pytest.mark.parametrize(("program", "expected"), FILLED)
def test_lists_that_methods_change(program: str, expected: bool) -> None:
    file = model_of(program)
    assert is_filled(file, file.calls_by_word["probe"][0].args[0].value) is expected
