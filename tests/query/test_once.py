"""Whether `work()` runs once although the last loop or function around it runs again."""

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.query.ordering.once import in_script, runs_once
from tfmemlint.syntax.tree import walk

IN_LOOPS = [
    ("work()", False),
    ("if c: work()", False),
    ("if x is None: work()", True),
    ("if x is not None: work()", False),
    ("if x is not None: pass\n    else: work()", True),
    ("if not x: work()", True),
    ("if x or y is None: work()", True),
    ("if step == 0: work()", True),
    ("if step == 7: work()", True),
    ("if other == 7: work()", False),
    ("if step % 7 == 0: work()", False),
    ("if key not in d: work()", True),
    ("if key in d: pass\n    else: work()", True),
    ("if hasattr(x, 'y'): pass\n    else: work()", True),
    ("if first: work()\n    first = False", True),
    ("if due: work()\n    due = step > 3 or last", False),
    ("y = None if x else work()", False),
    ("x = x if x is not None else work()", True),
    ("if c:\n        work()\n        break", True),
    ("try: pass\n    except OSError: work()", True),
]


@pytest.mark.parametrize(("body", "expected"), IN_LOOPS)
def test_conditions_that_hold_once_are_told_from_others(body: str, expected: bool) -> None:
    file = model_of(f"for step in steps:\n    {body}")
    assert runs_once(file, file.calls_by_word["work"][0], file.tree.of(cst.For)[0]) is expected


COUNTED = [
    ("for i in range(n):\n    if i == n - 1: work()", True),
    ("for i, x in enumerate(data):\n    if i == last: work()", True),
    ("for i in range(n):\n    if i == x: work()\n    x += 1", False),
    ("for i in values:\n    if i == last: work()", False),
    ("for i, x in enumerate(data):\n    if x == last: work()", False),
    ("for i in range(n):\n    if i == last: pass\n    else: work()", False),
    ("while i < n:\n    if i == drop: work()\n    i += 1", True),
    ("while i < n:\n    if i == drop + 1:\n        work()\n        drop = drops.pop()\n    i += 1", True),
    ("for i in range(n):\n    if i == drops[done]:\n        work()\n        done += 1", True),
    ("for i in range(n):\n    if i == drops[0]:\n        work()\n        drops = after(drops)", False),
    ("for i in range(n):\n    if i == roots[i]: work()", False),
    ("for i in range(n):\n    if i > drops[done]:\n        work()\n        done += 1", False),
    ("while i < n:\n    if i == due:\n        work()\n        due += 100\n    i += 1", False),
    ("while i < n:\n    if i == drop: work()\n    i = (i + 1) % 9", False),
    ("for x in data:\n    step += 1\n    if step == drop: work()", True),
]


@pytest.mark.parametrize(("program", "expected"), COUNTED)
def test_what_is_counted_reaches_a_number_once(program: str, expected: bool) -> None:
    file = model_of(program)
    assert runs_once(file, file.calls_by_word["work"][0], next(walk(file.module, cst.For, cst.While))) is expected


IN_FUNCTIONS = [
    ("def f():\n    work()", False),
    ("@functools.cache\ndef f():\n    work()", True),
    ("@staticmethod\ndef f():\n    work()", False),
    ("def f(step):\n    if step == 3: work()", True),
]


@pytest.mark.parametrize(("program", "expected"), IN_FUNCTIONS)
def test_functions_that_remember_run_once(program: str, expected: bool) -> None:
    file = model_of(program)
    assert runs_once(file, file.calls_by_word["work"][0], file.tree.of(cst.FunctionDef)[0]) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("work()", True),
        ("for x in y:\n    work()", True),
        ("def main():\n    work()\nmain()", True),
        ("def main():\n    work()\nif __name__ == '__main__':\n    main()", True),
        ("def main():\n    def inner():\n        work()\n    inner()\nmain()", True),
        ("def main():\n    work()", False),
        ("def main():\n    work()\nmain()\nmain()", False),
        ("def main():\n    work()\nfor x in y:\n    main()", False),
        ("def main(*words):\n    work()\nmain()", False),
        ("main = lambda: work()\nmain()", False),
    ],
)
def test_a_script_is_a_module_or_what_it_calls_once(program: str, expected: bool) -> None:
    file = model_of(program)
    assert in_script(file, file.calls_by_word["work"][0]) is expected
