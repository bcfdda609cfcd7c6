"""Which calls start processes by fork."""

import pytest
from programs import model_of

from tfmemlint.query.runtime.processes import forks

HEADER = "import multiprocessing, os\nfrom concurrent.futures import ProcessPoolExecutor\n"
STARTS = [
    ("multiprocessing.Pool(2)", ["Pool"]),
    ("multiprocessing.Process(target=f)\nos.fork()", ["Process", "fork"]),
    ("ProcessPoolExecutor(2)", ["ProcessPoolExecutor"]),
    ("ProcessPoolExecutor(mp_context=context)", []),
    ("multiprocessing.set_start_method('spawn')\nmultiprocessing.Pool(2)", []),
    ("multiprocessing.set_start_method(method)\nmultiprocessing.Pool(2)", []),
    ("multiprocessing.set_start_method('fork')\nmultiprocessing.Pool(2)", ["Pool"]),
    ("Pool(2)", []),
]


@pytest.mark.parametrize(("program", "expected"), STARTS)
def test_calls_that_fork(program: str, expected: list[str]) -> None:
    assert [call.method for call in forks.of(model_of(HEADER + program))] == expected
