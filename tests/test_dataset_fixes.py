"""Safe repairs of pipelines keep elements and order: pipelines of a grammar, before and after, under TensorFlow."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from daily import share

from tfmemlint.config.settings import Config
from tfmemlint.finding import Safety
from tfmemlint.lint.engine import lint
from tfmemlint.lint.registry import load_rules

SHAPES = 40
"""Chains that are compared for each rule."""

HEADER = """\
import tensorflow as tf
from tensorflow.data import Dataset
AUTOTUNE = tf.data.AUTOTUNE


def double(v, *more):
    return tf.cast(v, tf.int64) * 2


def some(v, *more):
    return tf.reduce_sum(tf.cast(v, tf.int64)) % 3 != 0


"""

SOURCES = (
    "Dataset.range(20)", "tf.data.Dataset.range(2, 23, 2)", "Dataset.from_tensor_slices(list(range(17)))",
    "Dataset.from_tensors([1, 2, 3, 4])", "tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4], [5, 6], [7, 8]])",
)  # fmt: skip

PAIRS = (
    "Dataset.zip((Dataset.range(9), Dataset.range(3, 12)))",
    "Dataset.from_tensor_slices((list(range(8)), list(range(8))))",
)

SINGLE = (
    "map(double, num_parallel_calls=2)", "map(lambda v: v + 1, num_parallel_calls=AUTOTUNE)", "filter(some)", "take(9)",
    "skip(2)", "shard(2, 0)", "repeat(2)", "shuffle(7, seed=3)", "cache()",
    "map(map_func=double, num_parallel_calls=1)",
    "interleave(lambda v: Dataset.range(3), cycle_length=2, num_parallel_calls=2)", "with_options(tf.data.Options())",
)  # fmt: skip
GROUPS = ("batch(4)", "batch(3, drop_remainder=True)", "padded_batch(5)", "batch(2).unbatch()")

Grammar = Callable[[random.Random], list[str]]


def steps(rng: random.Random, most: int, allowed: tuple[str, ...] = SINGLE) -> list[str]:
    return [rng.choice(allowed) for _ in range(rng.randint(0, most))]


def plain(rng: random.Random, most: int) -> list[str]:
    """Steps that neither shuffle, repeat nor keep."""
    return steps(rng, most, tuple(s for s in SINGLE if not s.startswith(("shuffle", "repeat", "cache"))))


def no_prefetch_last(rng: random.Random) -> list[str]:
    return [*steps(rng, 2), "map(double, num_parallel_calls=2)", *steps(rng, 1), rng.choice(GROUPS[:3]), *steps(rng, 1)]


def early_prefetch(rng: random.Random) -> list[str]:
    early = rng.choice(("prefetch(2)", "prefetch(AUTOTUNE)", "prefetch(100)", "prefetch(buffer_size=1)"))
    return [*steps(rng, 2), early, *steps(rng, 1), rng.choice((*GROUPS, *SINGLE)), *steps(rng, 1), *steps(rng, 1)]


def deep_prefetch(rng: random.Random) -> list[str]:
    # Of a source that a filter leaves unknown many of: a handful of batches is not kept.
    return [
        *steps(rng, 2), "filter(some)", rng.choice(GROUPS[:3]), *plain(rng, 1)[:1],
        f"prefetch({rng.choice((10, 64, 1000))})",
    ]  # fmt: skip


def late_cache(rng: random.Random) -> list[str]:
    between = steps(rng, 2, ("map(double, num_parallel_calls=2)", "filter(some)", "map(lambda v: v - 1, 2)"))
    return [
        *plain(rng, 2),
        f"repeat({rng.choice(('', '2', 'count=3'))})",
        *between,
        "cache()",
        *steps(rng, 2, GROUPS[:1]),
    ]


def sequential(rng: random.Random) -> list[str]:
    function = rng.choice(("map(double)", "map(lambda v: v * v)", "map(map_func=double)",
                           "map(double, deterministic=True)",
                           "interleave(lambda v: Dataset.range(4), cycle_length=3)",
                           "interleave(lambda v: Dataset.from_tensors(double(v)).repeat(3), 2, 2)"))  # fmt: skip
    return [*steps(rng, 2), function, *steps(rng, 2)]


def cached_source(rng: random.Random) -> list[str]:
    return [rng.choice(("cache()", 'cache("")', "cache(filename='')")), *steps(rng, 3), *steps(rng, 1, GROUPS)]


def parallel(rng: random.Random) -> list[str]:
    # An interleave raises where it may make more calls at a time than its cycle has inputs.
    step = rng.choice(("map(double, num_parallel_calls=64)", "map(double, 32)", "batch(3, num_parallel_calls=40)"))
    return [*steps(rng, 2), step, *steps(rng, 2)]


RULES: dict[str, Grammar] = {
    "TFM302": no_prefetch_last, "TFM303": early_prefetch, "TFM304": deep_prefetch, "TFM305": late_cache,
    "TFM313": sequential, "TFM318": cached_source, "TFM320": parallel,
}  # fmt: skip
TODAY = share(list(RULES), 2)


def program(rng: random.Random, chain: list[str]) -> str:
    """A chain written on one line, one link a line, as statements, on an attribute, or on what a function is given."""
    source, layout = rng.choice((*SOURCES, *PAIRS)), rng.randrange(5)
    whole = ".".join([source, *chain])
    rest = ".".join(chain)
    if layout == 0:
        body = f"    return {whole}\n"
    elif layout == 1:
        lines = "".join(f"        .{link}{rng.choice(('', '', '  # why'))}\n" for link in chain)
        body = f"    return (\n        {source}\n{lines}    )\n"
    elif layout == 2:
        lines = "".join(f"    ds = ds.{link}{rng.choice(('', '', '  # why', chr(10)))}\n" for link in chain)
        body = f"    ds = {source}\n{lines}    return ds\n"
    elif layout == 3:
        owner = f"class Data:\n    def __init__(self):\n        self.ds = {source}\n\n"
        owner += f"    def make(self):\n        return self.ds.{rest}\n\n\n"
        return f"{HEADER}{owner}def make_dataset():\n    return Data().make()\n"
    else:
        helper = f"def prepare_dataset(ds):\n    return ds.{rest}\n\n\n"
        return f"{HEADER}{helper}def make_dataset():\n    return prepare_dataset({source})\n"
    return f"{HEADER}def make_dataset():\n{body}"


def repaired(code: str, text: str) -> str | None:
    """The program after one safe repair of the rule; None if the rule offers none."""
    rules = [rule for rule in load_rules() if rule.code == code]
    result = lint(text.encode(), "program.py", Config(least_cost=0), rules)
    fixes = [f.fix for f in result.findings if f.fix is not None and f.fix.safety is Safety.SAFE]
    if not fixes:
        return None
    assert result.source is not None
    return result.source.rewrite(fixes[0].edits).decode()


def shapes(code: str) -> Iterator[tuple[str, str]]:
    """Different programs that the rule repairs, before and after."""
    rng, seen = random.Random(code), set()
    for _ in range(4000):
        before = program(rng, RULES[code](rng))
        after = repaired(code, before) if before not in seen else None
        if after is not None:
            seen.add(before)
            yield before, after
            if len(seen) == SHAPES:
                return
    raise AssertionError(f"the grammar gives only {len(seen)} chains that {code} repairs")


CHILD = """
import itertools, json, sys
import tensorflow as tf

def plain(value):
    return [plain(part) for part in value] if isinstance(value, tuple) else value.tolist()

def elements(text):
    tf.random.set_seed(1)
    scope = {}
    try:
        exec(text, scope)
        ds = scope["make_dataset"]()
        return [[plain(value) for value in itertools.islice(ds.as_numpy_iterator(), 50)] for epoch in range(2)]
    except Exception as error:
        return type(error).__name__

json.dump([[elements(text) for text in pair] for pair in json.load(sys.stdin)], sys.stdout)
"""


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[tuple[str, str, object, object]]]:
    """For each rule: programs before and after with the elements that they give, all from one TensorFlow process."""
    pairs = [(code, *pair) for code in TODAY for pair in shapes(code)]
    done = subprocess.run(
        [sys.executable, "-c", CHILD], input=json.dumps([pair[1:] for pair in pairs]), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, list[tuple[str, str, object, object]]] = {code: [] for code in TODAY}
    for (code, before, after), (first, second) in zip(pairs, json.loads(done.stdout), strict=True):
        found[code].append((before, after, first, second))
    return found


@pytest.mark.tensorflow
@pytest.mark.parametrize("code", TODAY)
def test_safe_repairs_keep_elements_and_order(
    code: str, outcomes: dict[str, list[tuple[str, str, object, object]]]
) -> None:
    compared = 0
    for before, after, first, second in outcomes[code]:
        assert before != after
        assert first == second, f"{before}\n--- repaired ---\n{after}\n{first}\n{second}"
        compared += isinstance(first, list) and bool(first[0])
    assert compared >= 25, "too many of the programs give no element at all"
