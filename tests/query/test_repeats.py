"""What runs `work()` again and again, how often, and over what."""

import pytest
from programs import model_of

from tfmemlint.query.repetition.repeats import Repetition, repeats, repetitions
from tfmemlint.query.repetition.same_calls import same_arguments
from tfmemlint.query.repetition.seldom import runs_in_all

REPEATED = [
    ("work()", []),
    ("for x in y:\n    work()", ["for"]),
    ("for x in work(): pass", []),
    ("for x in y:\n    work()\n    break", []),
    ("for x in y:\n    work()\n    break\n    rest()", []),
    ("for x in y: work(); break", []),
    ("for x in y:\n    work()\n    exit()\n    rest()", []),
    ("import sys\nfor x in y:\n    work()\n    sys.exit(1)", []),
    ("from sys import exit\nwhile c:\n    work()\n    exit()", []),
    ("for z in y:\n    for x in z:\n        work()\n        exit()\n        rest()", []),
    ("for z in y:\n    for x in z:\n        work()\n        break", ["for"]),
    ("def f():\n    for z in y:\n        for x in z:\n            work()\n            return", []),
    ("for z in y:\n    try:\n        for x in z:\n            work()\n            raise E\n    except E: 0", ["for"]),
    ("for z in y:\n    with e():\n        for x in z:\n            work()\n            raise E", ["for"]),
    ("for z in y:\n    with e():\n        for x in z:\n            work()\n            exit()", []),
    ("for x in y:\n    work()\n    if c:\n        break\n    else:\n        exit()", []),
    ("for z in y:\n    for x in z:\n        work()\n        if c: break\n        else: exit()", ["for"]),
    ("for x in y:\n    work()\n    if c:\n        exit()", ["for"]),
    ("for x in y:\n    work()\n    if c: continue\n    exit()", ["for"]),
    ("for x in y:\n    work()\n    if c:\n        continue\n    else:\n        break", ["for"]),
    ("def exit(): pass\nfor x in y:\n    work()\n    exit()", ["for"]),
    ("from game import exit\nfor x in y:\n    work()\n    exit()", ["for"]),
    ("for x in y:\n    work()\n    try:\n        exit()\n    except SystemExit: pass\n    rest()", ["for"]),
    ("for x in y: pass\nelse: work()", []),
    ("while work(): pass", ["while"]),
    ("while c:\n    for x in y:\n        work()", ["for", "while"]),
    ("[work() for x in y]", ["comprehension"]),
    ("[x for x in work()]", []),
    ("[x for x in y if work()]", ["comprehension"]),
    ("[x for y in z for x in work()]", ["comprehension"]),
    ("[[work() for x in y] for y in z]", ["comprehension", "comprehension"]),
    ("for z in y:\n    a = {k: work() for k in z}", ["comprehension", "for"]),
    ("def f():\n    work()\nfor x in y:\n    f()", ["for 1"]),
    ("def f():\n    for x in y:\n        work()\nwhile c:\n    f()", ["for", "while 1"]),
    ("def f():\n    work()\ndef g():\n    f()\nfor x in y:\n    g()", ["for 2"]),
    ("def f():\n    work()\nf()\n", []),
    ("def f():\n    work()\n    for x in y:\n        f()\nf()", ["for 1", "for 2", "for 3"]),
    ("def f():\n    work()\ndef g():\n    f()\ng()", []),
    ("def f():\n    work()\nfor x in y:\n    f()\ng(f)", []),
    ("def f():\n    work()\ndef g(h=f):\n    for x in y:\n        h()\ng()", ["for 1"]),
    ("def f():\n    work()\ndef g(h):\n    for x in y:\n        h()\ng(f)\ng(h=f)", ["for 1"]),
    ("def f():\n    work()\ndef g(h):\n    for x in y:\n        h()\n    keep(h)\ng(f)", []),
    ("class A:\n    def f(self):\n        work()\na = A()\nfor x in y:\n    a.f()", ["for 1"]),
    ("def f(a=None):\n    if a is None:\n        work()\nfor x in y:\n    f()", ["for 1"]),
    ("def f(a=None):\n    if a is None:\n        work()\nfor x in y:\n    f(a=x)", ["for 1"]),
    ("def f(a=None):\n    if a is None:\n        work()\nfor x in y:\n    f(a=np.zeros(3))", []),
    ("def f(a=None):\n    if a is None:\n        work()\nfor x in y:\n    f(np.zeros(3))\n    f()", ["for 1"]),
    ("def f(a=None):\n    if a is not None:\n        work()\nfor x in y:\n    f()", []),
    ("def f(a=None):\n    if b and a is not None:\n        work()\nfor x in y:\n    f()", []),
    ("def f(a=None):\n    if b or a is not None:\n        work()\nfor x in y:\n    f()", ["for 1"]),
    ("def f(a=None):\n    if a is None:\n        pass\n    else:\n        work()\nfor x in y:\n    f(3)", ["for 1"]),
    ("def f(a=None):\n    a = b\n    if a is None:\n        work()\nfor x in y:\n    f(3)", ["for 1"]),
    ("def f(a=None):\n    if a is None:\n        work()\nfor x in y:\n    f(*b)", ["for 1"]),
    ("def f(a):\n    if isinstance(a, str):\n        work()\nfor x in y:\n    f([x])", []),
    ("def f(a):\n    if isinstance(a, str):\n        work()\nfor x in y:\n    f('x')", ["for 1"]),
    ("def f(a):\n    if isinstance(a, str):\n        work()\nfor x in y:\n    f(x)", ["for 1"]),
    ("def f(a):\n    if isinstance(a, (str, float)):\n        work()\nfor x in y:\n    f({'a': x})", []),
    ("def f(a):\n    if isinstance(a, (str, kind)):\n        work()\nfor x in y:\n    f({'a': x})", ["for 1"]),
    ("def f(a):\n    if isinstance(a, float):\n        work()\nfor x in y:\n    f(np.zeros(3)[0])", ["for 1"]),
    ("import pandas as pd\ndef f(a):\n    if isinstance(a, str):\n        work()\nfor x in y:\n"
     "    d = pd.concat([pd.DataFrame(), pd.read_csv(x)])\n    f(d[['a', 'b']])", []),
    ("import pandas as pd\ndef f(a):\n    if isinstance(a, str):\n        work()\nd = pd.DataFrame(y)\n"
     "for x in y:\n    f(d['a'])", ["for 1"]),
    ("def f(a):\n    work()\nfor x in y:\n    f(b=x)", []),
    ("def f(a):\n    work()\nfor x in y:\n    f(x, 3)", []),
    ("def f(a, **b):\n    work()\nfor x in y:\n    f(b=x)", ["for 1"]),
    ("def f(a, *b):\n    work()\nfor x in y:\n    f(x, 3)", ["for 1"]),
    ("def f(a, *, b=0):\n    work()\nfor x in y:\n    f(x, b=3)", ["for 1"]),
    ("def f(a, *, b=0):\n    work()\nfor x in y:\n    f(x, 3)", []),
    ("def f(a, /):\n    work()\nfor x in y:\n    f(a=x)", []),
    ("@options\ndef f(a):\n    work()\nfor x in y:\n    f(b=x)", ["for 1"]),
    ("@tf.function\ndef f(a):\n    work()\nfor x in y:\n    f(b=x)", []),
    ("from functools import partial\ndef f(a, b):\n    work()\ng = partial(f, 3)\nfor x in y:\n    g(x)", ["for 1"]),
    ("from functools import partial\ndef f(a, b):\n    work()\ng = partial(f, 3)\nfor x in y:\n    g(x, x)", []),
    ("class A:\n    def f(self, a):\n        work()\na = A()\nfor x in y:\n    a.f(b=x)", ["for 1"]),
    ("list(map(lambda x: work(), y))", ["map"]),
    ("pool.imap(lambda x: work(), y)", ["map"]),
    ("def f(x):\n    return work()\nlist(map(f, y))", ["map"]),
    ("tf.data.Dataset.range(9).map(lambda x: work())", []),
    ("from flask import Flask\napp = Flask('a')\n@app.route('/')\ndef f():\n    work()", ["server"]),
    ("import gradio\ndef f(x):\n    work()\ngradio.Interface(fn=f, inputs='text', outputs='text')", ["server"]),
    ("import http.server\nclass A(http.server.BaseHTTPRequestHandler):\n    def do_GET(self):\n        work()\n"
     "    def helper(self):\n        pass", ["server"]),
    ("def f(event, context):\n    work()", ["server"]),
    ("def load():\n    work()\ndef f(event, context):\n    load()", ["server 1"]),
]  # fmt: skip


def _kind(found: Repetition) -> str:
    kinds = {"For": "for", "While": "while", "Call": "map"}
    kind = "server" if found.handler else kinds.get(type(found.place).__name__, "comprehension")
    return f"{kind} {found.calls}" if found.calls else kind


@pytest.mark.parametrize(("program", "expected"), REPEATED)
def test_repetitions_are_found_from_the_inside_out(program: str, expected: list[str]) -> None:
    file = model_of(program)
    assert [_kind(found) for found in repetitions(file, file.calls_by_word["work"][0])] == expected


COUNTS = [
    ("for x in [1, 2, 3]: work()", 3),
    ("for x in range(2, 9): work()", 7),
    ("n = 5\nfor x in tqdm.trange(n): work()", None),
    ("from tqdm import trange\nfor x in trange(5): work()", 5),
    ("for i, x in enumerate([1, 2]): work()", 2),
    ("for x, y in zip([1, 2], data): work()", 2),
    ("for x in sorted(reversed([1, 2])): work()", 2),
    ("for k, v in {'a': 1, 'b': 2}.items(): work()", 2),
    ("for x in np.zeros([7, 3]): work()", 7),
    ("for x in np.arange(0.5, 1.0, 0.05): work()", 10),
    ("for x in np.arange(0.5, 0.95, 0.05): work()", 9),
    ("for x in np.linspace(0, 1, 12): work()", 12),
    ("for x in np.arange(0, 1, step): work()", None),
    ("for x in ds.take(4): work()", 4),
    ("for i, x in enumerate(ds.take(4)): work()", 4),
    ("for x in tf.data.Dataset.range(100).batch(32).take(2): work()", 2),
    ("for x in tf.data.Dataset.range(100).repeat().take(2): work()", 2),
    ("for x in tf.data.Dataset.range(100).take(2).repeat(): work()", None),
    ("for x in tf.data.Dataset.range(2): work()", None),
    ("for x in data: work()", None),
    ("for x in data[:5]: work()", 5),
    ("for i, x in enumerate(data[2:5]): work()", 3),
    ("for x in data[-3:]: work()", 3),
    ("for x in data[i : i + 8]: work()", 8),
    ("for x in data[5:]: work()", None),
    ("for x in data[len(data) - 5:]: work()", 5),
    ("for x in data[len(other) - 5:]: work()", None),
    ("last = len(table) - 18\ntest = table.iloc[last:]\nfor i in range(len(test)): work()", 18),
    ("for i in range(len(data[:8])): work()", 8),
    ("for i in range(len(data)): work()", None),
    ("found = []\nwhile len(found) < 21:\n    found.append(work())", 21),
    ("while len(found) <= 21:\n    work()\n    found.insert(0, 1)", 22),
    ("while len(found) < 21:\n    work()\n    if c:\n        found.append(1)", None),
    ("while len(found) < 21:\n    work()\n    other.append(1)", None),
    ("while len(found) < n:\n    found.append(work())", None),
    ("for x in data[:-5]: work()", None),
    ("for x in data[-5:5]: work()", None),
    ("for x in data[:]: work()", None),
    ("for x in data[:n]: work()", None),
    ("some = data[:5]\nfor x in some: work()", 5),
    ("some = data[:5]\nsome.append(y)\nfor x in some: work()", None),
    ("import random\nfor x in random.sample(data, 5): work()", 5),
    ("import random\nfor x in random.choices(data, weights, k=5): work()", 5),
    ("import random\nfor x in random.sample(data, n): work()", None),
    ("for x in np.random.choice(data, size=5): work()", 5),
    ("for x in np.random.default_rng().choice(len(data), 5): work()", 5),
    ("for x in np.random.default_rng().choice(data, 5): work()", None),
    ("for x in np.random.permutation(len(data))[:5]: work()", 5),
    ("for x in [1, 2] if c else [1, 2, 3]: work()", 3),
    ("[work() for x in [1, 2] for y in range(3)]", 6),
    ("[work() for x in [1, 2] for y in data]", None),
    ("for x in [y for y in range(6) if y]: work()", 6),
    ("i = 0\nwhile i < 10:\n    work()\n    i += 3", 4),
    ("i = 0\nwhile i <= 9:\n    work()\n    i += 3", 4),
    ("i = 0\nwhile i < 10:\n    work()\n    i += step", None),
    ("i = 0\nwhile i < 10:\n    work()\n    i = next(c)", None),
    ("while True: work()", None),
    ("for i, x in enumerate(data):\n    work()\n    if i == 3: break", 4),
    ("for i in range(100):\n    if i >= 3: break\n    work()", 4),
    ("i = 0\nfor x in data:\n    work()\n    i += 1\n    if i > 3:\n        break", 4),
    ("while True:\n    work()\n    if loss < 3: break", None),
    ("for x in data:\n    work()\n    if x == 3: break", None),
    ("list(map(lambda x: work(), [1, 2]))", 2),
]


@pytest.mark.parametrize(("program", "expected"), COUNTS)
def test_iterations_are_counted_where_the_code_says_them(program: str, expected: int | None) -> None:
    file = model_of(program)
    found = repeats(file, file.calls_by_word["work"][0])
    assert found is not None
    assert found.count == expected
    assert found.few(100) == (expected is not None)
    assert not found.few(1)


def test_short_loops_are_passed_over() -> None:
    file = model_of("for z in data:\n    for x in range(3):\n        work()")
    node = file.calls_by_word["work"][0]
    inner, outer = repeats(file, node), repeats(file, node, beyond=3)
    assert inner is not None and inner.items == {"x"}
    assert outer is not None and outer.items == {"z"}


def test_short_loops_in_each_other_have_many_iterations_together() -> None:
    file = model_of("for z in range(2):\n    for x in range(3):\n        work()")
    node = file.calls_by_word["work"][0]
    found = repeats(file, node, beyond=5)
    assert found is not None and found.items == {"x"}
    assert repeats(file, node, beyond=6) is None


def test_names_bound_in_each_iteration() -> None:
    file = model_of("for x in y:\n    a, b.c = [work() for z in x]\n    work()\n    list(map(lambda i: work(), x))")
    found = [[each.bound for each in repetitions(file, node)] for node in file.calls_by_word["work"]]
    assert found == [[{"z"}, loop := {"x", "a", "b.c", "z"}], [loop], [{"i"}, loop]]


def test_calls_are_followed_as_far_as_is_asked() -> None:
    file = model_of("def f():\n    work()\ndef g():\n    f()\nfor x in y:\n    g()")
    node = file.calls_by_word["work"][0]
    assert repeats(file, node, calls=1) is None
    found = repeats(file, node, calls=2)
    assert found is not None and file.text(found.inside) == "g()"


DATA = [
    ("for x in ds: work()", True),
    ("for i, x in enumerate(tqdm(ds)): work()", True),
    ("for x in list(ds): work()", True),
    ("[work() for x in ds.as_numpy_iterator()]", True),
    ("[work() for i, x in enumerate(ds.take(3))]", True),
    ("for x in [1, 2]: work()", False),
    ("for x in other: work()", False),
    ("for x in ds if c else other: work()", False),
    ("while c: work()", False),
]


@pytest.mark.parametrize(("program", "expected"), DATA)
def test_runs_over_pipelines_are_told_from_others(program: str, expected: bool) -> None:
    file = model_of("from tqdm import tqdm\nds = tf.data.Dataset.range(9)\n" + program)
    found = repeats(file, file.calls_by_word["work"][0])
    assert found is not None
    assert found.over_data is expected


def test_items_are_the_names_that_each_iteration_binds() -> None:
    file = model_of("for i, (a, b) in enumerate(pairs):\n    c = {x: work() for y in a for x in y}")
    found = [each.items for each in repetitions(file, file.calls_by_word["work"][0])]
    assert found == [{"x", "y"}, {"i", "a", "b"}]


SAME_ARGUMENTS = [
    ("for i in n:\n    make(x)", True),
    ("for i in n:\n    make(i)", False),
    ("for i in n:\n    y = f(i)\n    make(y)", False),
    ("for i in n:\n    y = 3\n    make(y)", True),
    ("for i in n:\n    if i == 0:\n        make(x)", False),
    ("for i in n:\n    if unknown():\n        make(x)", False),
    ("def f():\n    make(x)\nfor i in n:\n    f()", True),
    ("def f(y):\n    make(y)\nfor i in n:\n    f(x)", False),
    ("class A:\n    def f(self): make(self.x)\na = A()\nfor i in n:\n    a.f()", True),
    ("class A:\n    def f(self): make(self.x)\nfor i in n:\n    a = A()\n    a.f()", False),
]


@pytest.mark.parametrize(("program", "expected"), SAME_ARGUMENTS)
def test_calls_that_run_again_the_same_each_time(program: str, expected: bool) -> None:
    file = model_of(program)
    call = file.call(file.calls_by_word["make"][0])
    found = repeats(file, call.node)
    assert found is not None
    assert same_arguments(file, call, found) is expected


IN_ALL = [
    ("for x in range(9): work()", 9),
    ("for x in range(9):\n    for y in range(5):\n        work()", 45),
    ("for x in data:\n    for y in range(5):\n        work()", None),
    ("def f():\n    for x in range(9): work()\nf()", 9),
    ("def f():\n    for x in range(9): work()\nf()\nf()", 18),
    ("def f():\n    for x in range(9): work()\nfor y in range(5): f()", 45),
    ("def f():\n    for x in range(9): work()\nfor y in data: f()", None),
    ("def f():\n    for x in range(9): work()", None),
    ("def f():\n    for x in range(9): work()\ng(f)", None),
    ("def f():\n    work()\ndef g():\n    f()\nfor x in range(7): g()", 7),
    ("class A:\n    def f(self):\n        for x in range(9): work()", None),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), IN_ALL)
def test_all_runs_of_some_code_are_counted_where_all_that_runs_it_is_seen(program: str, expected: int | None) -> None:
    file = model_of(program)
    assert runs_in_all(file, file.calls_by_word["work"][0]) == expected
