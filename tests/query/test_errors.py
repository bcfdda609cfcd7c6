"""Where a RuntimeError that `work()` raises is dropped."""

import pytest
from programs import model_of

from tfmemlint.query.ordering.errors import dropped

DROPPED = [
    ("work()", []),
    ("try:\n    work()\nexcept RuntimeError:\n    pass", ["ExceptHandler work"]),
    ("try:\n    work()\nexcept:\n    ...", ["ExceptHandler work"]),
    ("try:\n    work()\nexcept (ValueError, RuntimeError) as e:\n    'never mind'", ["ExceptHandler work"]),
    ("def f():\n    try:\n        work()\n    except Exception:\n        return None", ["ExceptHandler work"]),
    ("for x in y:\n    try:\n        work()\n    except:\n        continue", ["ExceptHandler work"]),
    ("try:\n    work()\nexcept RuntimeError as e:\n    print(e)", []),
    ("try:\n    work()\nexcept ValueError:\n    pass", []),
    ("try:\n    work()\nexcept RuntimeError as e:\n    print(e)\nexcept Exception:\n    pass", []),
    ("try:\n    pass\nexcept RuntimeError:\n    pass\nelse:\n    work()", []),
    ("try:\n    try:\n        work()\n    except RuntimeError as e:\n        print(e)\nexcept:\n    pass", []),
    ("try:\n    try:\n        work()\n    except ValueError:\n        pass\nexcept Exception:\n    pass",
     ["ExceptHandler work"]),
    ("import contextlib\nwith contextlib.suppress(RuntimeError):\n    work()", ["With work"]),
    ("import contextlib\nwith contextlib.suppress(ValueError):\n    work()", []),
    ("with other(RuntimeError):\n    work()", []),
    ("try:\n    def f():\n        work()\nexcept RuntimeError:\n    pass", []),
    ("def f():\n    work()\ntry:\n    f()\nexcept RuntimeError:\n    pass", ["ExceptHandler f"]),
    ("def f():\n    work()\ndef g():\n    f()\ntry:\n    g()\nexcept RuntimeError:\n    pass", ["ExceptHandler g"]),
    ("def f():\n    try:\n        work()\n    except E:\n        print(1)\nf()", []),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), DROPPED)
def test_handlers_that_do_nothing(program: str, expected: list[str]) -> None:
    file = model_of(program)
    found = dropped(file, file.calls_by_word["work"][0], "RuntimeError")
    assert [f"{type(each.place).__name__} {file.call(each.inside).method}" for each in found] == expected
