"""Probes what calls do: whether they initialise the runtime, draw at random, and of which class their result is.

Runs only inside a probe's child process.
"""

from __future__ import annotations

import itertools
import random
import re
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from tfmemlint.dev.probe.forks import in_fork, initialised
from tfmemlint.dev.probe.namespace import make_files, namespace
from tfmemlint.dev.probe.values import fingerprint, preload, public_class
from tfmemlint.knowledge import REQUIRED, bases, signature
from tfmemlint.knowledge.tables import texts

GUESSED = (
    "tf", "tf.math", "tf.random", "tf.nn", "tf.image", "tf.linalg", "tf.signal", "tf.strings", "tf.sparse", "tf.ragged",
    "tf.bitwise", "tf.sets", "tf.audio", "tf.dtypes", "tf.debugging", "tf.lookup", "tf.quantization", "tf.experimental",
    "tf.experimental.numpy", "tf.experimental.numpy.random", "tf.summary",
    "tf.keras.activations", "tf.keras.constraints", "tf.keras.initializers", "tf.keras.layers", "tf.keras.losses",
    "tf.keras.metrics", "tf.keras.optimizers", "tf.keras.regularizers", "tf.keras.callbacks", "tf.keras.ops",
    "tf.keras.ops.image", "tf.keras.ops.linalg", "tf.keras.backend", "tf.keras.random",
    "tf.compat.v1", "tf.compat.v1.train", "np", "np.random", "np.linalg", "np.fft", "np.random.Generator",
    "np.random.RandomState",
)  # fmt: skip
"""Modules and classes of which every callable is tried with guessed arguments, where no example is written down."""

UNTRIED = re.compile(
    r"(.*\.)?(write|save|load|read|delete|remove|register|exit|test|info|show_config|getbuffer|from\w*file|memmap|"
    r"open_memmap|fromregex|set_state|busday\w+|serve\w*|\w*main|app|enable_v2_\w+|disable_v2_\w+)\w*"
)
"""Names of what reads, writes or stops."""

NUMBERS = ("[1.0, 2.0]", "[1, 2]", "2", "0.5", "MATRIX", "IMAGES", '"a"', "[True, False]", "lambda x: x")
SIZES = ("2", "0.5", "[1, 2]", '"a"', "(2, 2)", "[1.0, 2.0]", "lambda x: x", "tf.keras.layers.Dense(2)")

LIKELY_RANDOM = re.compile(r"random|shuffle|dropout|sampl|noise|bernoulli|truncated|uniform|normal|multinomial")
FEW, MANY = 3, 40

OTHERWISE = frozenset(
    {"np.empty", "np.empty_like", "np.ndarray", "tf.timestamp", "tf.compat.v1.get_variable",
     "tf.compat.v1.get_local_variable", "tf.keras.Model.train_on_batch", "tf.keras.backend.get_uid"}
)  # fmt: skip
"""What gives something else each time without drawing it."""

GENERAL = ("tf.keras.Model", "tf.keras.layers.Layer", "tf.keras.metrics.Metric", "tf.keras.losses.Loss",
           "tf.keras.optimizers.Optimizer", "tf.data.Dataset", "tf.distribute.Strategy")  # fmt: skip
"""Classes that a function may return objects of any subclass of, so that the one seen says little."""

RECEIVERS = {"np.random.Generator": "np.random.default_rng(1)", "np.random.RandomState": "np.random.RandomState(1)"}


class Example:
    """One way to call an API: statements to run first and the expression that calls it."""

    def __init__(self, name: str, setup: str, expression: str) -> None:
        self.name, self.setup, self.expression = name, setup, expression


def written(text: str) -> list[Example]:
    """The examples in the text of `examples.txt`."""
    found = []
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        named = re.match(r"([\w.]+): (.*)", line)
        name, body = (named[1], named[2]) if named else (re.match(r"[\w.]+", line)[0], line)  # type: ignore[index]
        setup, _, expression = body.rpartition("; ")
        found.append(Example(name, setup, expression))
    return found


def guesses(name: str) -> list[Example]:
    """Calls with guessed arguments, the likeliest first."""
    taken = signature(name)
    needed = 0 if taken is None else sum(1 for p in taken.positional if taken.default(p) is REQUIRED)
    owner, _, method = name.rpartition(".")
    setup = f"receiver = {RECEIVERS[owner]}" if owner in RECEIVERS else ""
    called = f"receiver.{method}" if owner in RECEIVERS else name
    values = SIZES if name in texts("classes") or owner in RECEIVERS else NUMBERS
    found = []
    for count in range(needed, max(needed + 1, 3)):
        alike = [(value,) * count for value in values] if count else [()]
        mixed = itertools.product(values, repeat=count) if count == 2 else ()
        found += [Example(name, setup, f"{called}({', '.join(given)})") for given in dict.fromkeys([*alike, *mixed])]
    return found


def effect_tables(only: list[str]) -> dict[str, dict[str, Any]]:
    """The table of what calls do; of the APIs in `only` where it is not empty."""
    preload()
    make_files()
    examples: dict[str, list[Example]] = {}
    for example in written(Path(__file__).with_name("examples.txt").read_text(encoding="utf-8")):
        examples.setdefault(example.name, []).append(example)
    table: dict[str, Any] = {}
    names = [n for n in texts("signatures") if n.rpartition(".")[0] in GUESSED and not UNTRIED.fullmatch(n)]
    for name in only or sorted({*examples, *names}):
        answers = {}
        for keras in (3, 2) if name.startswith("tf.keras.") else (3,):
            written_down = examples.get(name)
            if written_down is not None:
                tried = [in_fork(partial(_first, [example], keras)) for example in written_down]
            else:
                tried = [in_fork(partial(_first, guesses(name), keras))]
            answers[keras] = _joined([answer for answer in tried if answer is not None])
        found = _flags(name, answers)
        if found and (found != "raises" or name in examples):
            table[name] = found
    return {"effects": table}


def _first(tried: list[Example], keras: int) -> dict[str, Any]:
    """What the first call does that succeeds or initialises the runtime."""
    names = namespace(keras)
    made = tried[0].name in texts("classes")  # whose wrong arguments may become tensors before they are refused
    answer: dict[str, Any] = {"initialises": "raises"}
    for example in tried:
        try:
            exec(example.setup, names)
            code = compile(example.expression, example.name, "eval")
        except Exception:
            return answer
        ready = initialised()
        _seed(names)
        try:
            value = eval(code, names)
        except Exception:
            if initialised() and not ready:
                return {"initialises": "raises" if made else "yes"}
            continue
        answer = {"initialises": None if ready else "yes" if initialised() else "no", "class": public_class(value)}
        answer["random"] = _draws(example.name, code, value, names)
        return answer
    return answer


def _seed(names: dict[str, Any]) -> None:
    """Makes what is drawn the same in every run of the probe."""
    random.seed(0)
    names["np"].random.seed(0)
    import_module("tensorflow").random.set_seed(0)


def _draws(name: str, code: Any, value: Any, names: dict[str, Any]) -> bool | None:
    """Whether calling again gives something else; None where the result cannot be compared."""
    try:
        first = fingerprint(value)
        if first is None:
            return None
        times = MANY if LIKELY_RANDOM.search(name) else FEW
        return any(fingerprint(eval(code, names)) != first for _ in range(times))
    except Exception:
        return None


def _joined(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """One answer for several ways to call an API; what differs between them is `None` for "it depends"."""
    if not answers:
        return {}
    done = [a for a in answers if a["initialises"] != "raises"] or answers
    states = {a["initialises"] for a in done}
    classes = {a.get("class") for a in done}
    draws = {a.get("random") for a in done}
    return {
        "initialises": states.pop() if len(states) == 1 else "depends",
        "class": classes.pop() if len(classes) == 1 else None,
        "random": True if True in draws else draws.pop() if len(draws) == 1 else None,
    }


def _flags(name: str, answers: dict[int, dict[str, Any]]) -> str:
    """The answers as words: `initialises=yes`, `initialises=yes/no` where Keras 3 and 2 differ, `random`, `fixed`."""
    found = []
    states = [answer["initialises"] for answer in answers.values() if answer.get("initialises") not in (None, "raises")]
    if states and not name.startswith("np."):
        found.append("/".join(dict.fromkeys(states)))
    elif any(answer.get("initialises") == "raises" for answer in answers.values()) and not name.startswith("np."):
        found.append("raises")
    classes = [_general(answer["class"]) for answer in answers.values() if answer.get("class")]
    if classes and name not in texts("classes") and not _by_argument(name, classes[0]):
        found.append(classes[0])
    draws = [answer["random"] for answer in answers.values() if answer.get("random") is not None]
    if draws and name not in OTHERWISE:
        found.append("random" if any(draws) else "fixed")
    return " ".join(found)


def _general(cls: str) -> str:
    return next((above for above in GENERAL if above == cls or above in bases(cls)), cls)


def _by_argument(name: str, cls: str) -> bool:
    """Whether the class of the result depends on the arguments: scalars or arrays, symbolic or real tensors, names."""
    if cls == "tf.Tensor":
        return name.startswith("tf.keras.")
    return "np.generic" in bases(cls) or name.rpartition(".")[2] in ("get", "deserialize")
