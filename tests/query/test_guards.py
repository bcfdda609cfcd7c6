"""Whether a condition may let `work()` in a method run the first time only."""

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.query.ordering.guards import guarded
from tfmemlint.syntax.tree import walk

CLASS = """AXIS = -1
COUNT = 0
def count():
    global COUNT
    COUNT += 1
class A:
    def __init__(self, units):
        self.units = units
        self.kept = None
        self.wide = units > 3
        self.ready = False
    def set(self):
        self.ready = True
    def f(self, x, skip=None, v=None):
        {}
"""

BODIES = [
    ("work()", False),
    ("if skip is not None: work()", False),
    ("if x.shape[-1] != self.units: work()", False),
    ("if self.wide: work()", False),
    ("if x.shape[AXIS] != self.units: work()", False),
    ("last = -1\n        if x.shape[last] != self.units: work()", False),
    ("if x.shape[COUNT] != self.units: work()", True),
    ("if isinstance(x, list): work()", False),
    ("wide = len(x) > 3\n        if wide: work()", False),
    ("y = work() if skip else x", False),
    ("try: work()\n        except E: pass", False),
    ("try: pass\n        except E: work()", True),
    ("if skip: return x\n        work()", False),
    ("if self.kept is None: work()", True),
    ("if not self.ready: work()", True),
    ("if self.unknown: work()", True),
    ("if self.ask(x): work()", True),
    ("if tf.executing_eagerly(): work()", True),
    ("if first: work()", True),
    ("if True: work()", False),
    ("if v is None: v = work()", True),
    ("kept = getattr(self, 'v', None)\n        if kept is None: work()", True),
    ("if self.ready: return x\n        work()", True),
    ("if x.sum() > 3: work()", True),
]


@pytest.mark.parametrize(("body", "expected"), BODIES)
def test_conditions_that_hold_in_each_call_guard_nothing(body: str, expected: bool) -> None:
    file = model_of(CLASS.format(body))
    function = list(walk(file.module, cst.FunctionDef))[-1]
    assert guarded(file, file.calls_by_word["work"][0], function) is expected
