"""Which calls start processes by fork, and whether what they run touches TensorFlow."""

import pytest
from programs import model_of

from tfmemlint.query.runtime.processes import forks, runs_no_op

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


READS = "def read(path):\n    with tf.io.gfile.GFile(path) as file:\n        return np.array(file.read()).sum()\n"
POOLS = [
    (READS + "with multiprocessing.Pool(2) as pool:\n    pool.map(read, paths)", True),
    (READS + "pool = multiprocessing.Pool(2)\npool.imap(lambda path: read(path), paths)\npool.close()", True),
    (READS + "pool = ProcessPoolExecutor(2)\npool.submit(read, paths[0])\npool.submit(other, 1)", False),
    (READS + "pool = multiprocessing.Pool(2)\nhand_on(pool)", False),
    (READS + "multiprocessing.Pool(2)", False),
    (READS + "def one(path):\n    return tf.constant(read(path))\nmultiprocessing.Pool(2).map(one, paths)", False),
    (READS + "multiprocessing.Process(target=read, args=('a',))", True),
    ("def score(net, x):\n    return net.predict(x)\nmultiprocessing.Pool(2).starmap(score, pairs)", False),
    ("w = tf.ones(3)\ndef add(x):\n    return w + x\nmultiprocessing.Pool(2).map(add, [1])", False),
    ("def each(f, xs):\n    return list(map(f, xs))\nmultiprocessing.Process(target=each)", False),
    ("class A:\n    def one(self, args):\n        return json.dumps(args)\n    def all(self):\n"
     "        return multiprocessing.Pool(2).map(self.one, rows)", True),
    ("os.fork()", False),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), POOLS)
def test_processes_that_run_no_op(program: str, expected: bool) -> None:
    file = model_of("import json\n" + HEADER + program)
    assert [runs_no_op(file, start) for start in forks.of(file)] == [expected]
