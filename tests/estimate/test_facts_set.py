"""What a program does not say is asked for by the expression where it begins, and answered with `--set`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Run

HEAD = "import json\nimport keras\nimport numpy as np\nfrom keras import layers\n"
CONFIG = "with open('c.json') as file:\n    config = json.load(file)\n"
FIT = "model.compile('adam', 'mse')\nmodel.fit(a, b, batch_size=16)\n"
ARGS = "import argparse\nargs = argparse.ArgumentParser().parse_args()\n"


def dense(units: str) -> str:
    """A program with a layer of so many units, which it trains."""
    return (
        f"model = keras.Sequential([keras.Input((8,)), layers.Dense({units})])\n"
        "model.compile('adam', 'mse')\nmodel.fit(np.zeros((64, 8), 'float32'), np.zeros((64, 1)), batch_size=16)\n"
    )


def records(run: Run, text: str, *facts: str, path: str = "train.py") -> list[dict[str, Any]]:
    Path(path).write_text(text)
    words = [word for fact in facts for word in ("--set", fact)]
    done = run("estimate", "--isolated", "--output-format", "json", *words, path)
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)  # type: ignore[no-any-return]


def asked(made: dict[str, Any]) -> list[str]:
    assert all(each["option"] == "--set" for each in made["missing"])
    return [each["name"] for each in made["missing"]]


UNITS = {
    "a name": ("n = choose()\n", "n", "n", "10"),
    "a length of what a file says": ("with open('l.json') as f:\n    labels = json.load(f)\nn = len(labels)\n",
                                     "n", "len(labels)", "10"),
    "an item": (CONFIG, "config['hidden']", 'config["hidden"]', "10"),
    "an item of an item": (CONFIG, "config['model']['hidden']", 'config["model"]["hidden"]', "10"),
    "an argument": (ARGS, "args.hidden", "args.hidden", "10"),
    "arithmetic on one": (ARGS + "n = 2 * (int(args.hidden) + 1)\n", "n", "args.hidden", "4"),
    "a chain": ("cfg = read()\n", "cfg.MODEL.DIM", "cfg.MODEL.DIM", "10"),
    "an attribute of another library": ("from tokenizers import Tokenizer\nt = Tokenizer.from_file('t')\n",
                                        "t.vocab_size", "t.vocab_size", "10"),
    "a size of an array": ("x = np.load('x.npy')\n", "x.shape[1]", "x.shape", "(None, 10)"),
    "the largest of an array": ("y = np.load('y.npy')\nn = np.max(y) + 1\n", "n", "n", "10"),
    "a name of a module that is not there": ("from config import HIDDEN\n", "HIDDEN", "HIDDEN", "10"),
    "an attribute of one": ("import config\n", "config.HIDDEN", "config.HIDDEN", "10"),
    "one of two": ("n = 10 if deep() else 20\n", "n", "n", "10"),
    "another way": ("n = 10\nif deep():\n    n = 20\n", "n", "deep()", "False"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNITS)
def test_a_number_is_asked_for_where_it_begins(case: str, here: Path, run: Run) -> None:
    before, units, name, value = UNITS[case]
    (made,) = records(run, HEAD + before + dense(units))
    assert (asked(made), made["known"]) == ([name], False)
    (made,) = records(run, HEAD + before + dense(units), f"{name}={value}")
    assert (made["known"], made["layers"][0]["output"]) == (True, [16, 10])


def test_it_is_followed_through_functions(here: Path, run: Run) -> None:
    text = HEAD + ARGS + "def build(width):\n    return layers.Dense(width)\n\n\n" + dense("3").replace(
        "layers.Dense(3)", "build(args.hidden)")  # fmt: skip
    (made,) = records(run, text)
    assert asked(made) == ["args.hidden"]


def test_a_function_that_nobody_calls_is_asked_for_its_parameters(here: Path, run: Run) -> None:
    body = "".join(f"    {line}\n" for line in dense("classes").splitlines())
    text = f"{HEAD}\n\ndef train(classes, width=4):\n{body}"
    (made,) = records(run, text)
    assert asked(made) == ["classes"]
    (made,) = records(run, text, "classes=7")
    assert made["layers"][0]["output"] == [16, 7]


def test_a_default_holds_until_something_is_said(here: Path, run: Run) -> None:
    text = (
        HEAD
        + "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--hidden', default=4, type=int)\n"
    )
    text += "args = parser.parse_args()\n" + dense("args.hidden")
    assert records(run, text)[0]["layers"][0]["output"] == [16, 4]
    assert records(run, text, "args.hidden=5")[0]["layers"][0]["output"] == [16, 5]


INPUTS = {
    "of the first layer": "model = keras.Sequential([layers.Dense(4, input_shape=(size,)), layers.Dense(2)])\n",
    "of an input": "i = keras.Input((size,))\nmodel = keras.Model(i, layers.Dense(2)(layers.Dense(4)(i)))\n",
    "of a list": "model = keras.Sequential()\nmodel.add(keras.Input(shape=(size,)))\nmodel.add(layers.Dense(4))\n",
}


@pytest.mark.parametrize("case", INPUTS)
def test_the_size_of_an_input(case: str, here: Path, run: Run) -> None:
    text = HEAD + "size = longest(read())\n" + INPUTS[case] + FIT
    assert asked(records(run, text)[0]) == ["size"]
    made = records(run, text, "size=8")[0]
    assert (made["known"], made["layers"][0]["parameters"]) == (True, 36)


def test_what_is_looked_up(here: Path, run: Run) -> None:
    text = HEAD + (
        "words = json.load(open('w.json'))\n"
        "model = keras.Sequential([keras.Input((20,)), layers.Embedding(len(words) + 1, 8), layers.Flatten()])\n" + FIT
    )
    assert asked(records(run, text)[0]) == ["len(words)"]
    assert records(run, text, "len(words)=99")[0]["layers"][0]["parameters"] == 800


def test_the_shape_of_the_data(here: Path, run: Run) -> None:
    text = HEAD + (
        "x_train = read('x')\nmodel = keras.Sequential([layers.Flatten(), layers.Dense(4)])\n"
        "model.compile('adam', 'mse')\nmodel.fit(x_train, read('y'), batch_size=16)\n"
    )
    assert [each["option"] for each in records(run, text)[0]["missing"]] == ["--input"]
    for shape in ("(None, 28, 28, 1)", "(60000, 28, 28, 1)"):
        made = records(run, text, f"x_train.shape={shape}")[0]
        assert (made["known"], made["layers"][0]["output"]) == (True, [16, 784])


def test_layers_of_a_loop_are_as_many_as_is_said(here: Path, run: Run) -> None:
    text = (
        HEAD
        + ARGS
        + (
            "model = keras.Sequential([keras.Input((8,))])\nfor _ in range(args.depth):\n"
            "    model.add(layers.Dense(4))\n"
            "model.compile('adam', 'mse')\nmodel.fit(a, b, batch_size=16)\n"
        )
    )
    assert asked(records(run, text)[0]) == ["args.depth"]
    assert len(records(run, text, "args.depth=3")[0]["layers"]) == 3


def test_a_graph_of_a_loop_too(here: Path, run: Run) -> None:
    text = (
        HEAD
        + ARGS
        + (
            "x = i = keras.Input((8,))\nfor _ in range(args.depth):\n    x = layers.Dense(4)(x)\n"
            "model = keras.Model(i, x)\n"
            "model.compile('adam', 'mse')\nmodel.fit(a, b, batch_size=16)\n"
        )
    )
    assert asked(records(run, text)[0]) == ["args.depth"]
    assert len(records(run, text, "args.depth=3")[0]["layers"]) == 3


def test_what_a_pipeline_resizes_to(here: Path, run: Run) -> None:
    text = (
        HEAD
        + ARGS
        + (
            "import tensorflow as tf\n\n\ndef decode(path):\n"
            "    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)\n"
            "    return tf.image.resize(image, (args.size, args.size)), 0\n\n\n"
            "ds = tf.data.Dataset.from_tensor_slices(paths).map(decode).batch(16)\n"
            "model = keras.Sequential([layers.Flatten(), layers.Dense(4)])\n"
            "model.compile('adam', 'mse')\nmodel.fit(ds)\n"
        )
    )
    made = records(run, text, "args.size=10")[0]
    assert (made["known"], made["layers"][0]["output"]) == (True, [16, 300])


def test_all_that_is_missing_is_named(here: Path, run: Run) -> None:
    text = HEAD + CONFIG + dense("config['a']").replace("])\n", ", layers.Dense(config['b'])])\n", 1)
    made = records(run, text)[0]
    assert (asked(made), made["bytes"]["low"] > 0) == (['config["a"]', 'config["b"]'], True)
    assert asked(records(run, text, "config['a']=3")[0]) == ['config["b"]']


def test_a_tensor_is_not_asked_for(here: Path, run: Run) -> None:
    text = HEAD + (
        "base = keras.models.load_model('kept')\nmodel = keras.Model(base.input, layers.Dense(2)(base.output))\n" + FIT
    )
    assert [each["option"] for each in records(run, text)[0]["missing"]] == ["--model"]


def test_other_modules_are_asked_for_too(here: Path, run: Run) -> None:
    Path("settings.py").write_text("import os\n\nWIDTH = int(os.environ['WIDTH'])\n")
    text = HEAD + "from settings import WIDTH\n" + dense("WIDTH")
    assert asked(records(run, text)[0]) == ['os.environ["WIDTH"]']
    for fact in ("os.environ['WIDTH']='10'", "WIDTH=10"):
        assert records(run, text, fact)[0]["layers"][0]["output"] == [16, 10]


def test_notebooks_and_markdown(here: Path, run: Run) -> None:
    cells = [HEAD + ARGS, dense("args.hidden")]
    notebook = {
        "cells": [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 4,
    }  # fmt: skip
    for path, text in (("a.ipynb", json.dumps(notebook)), ("a.md", f"# A\n\n```python\n{''.join(cells)}```\n")):
        made = records(run, text, path=path)[0]
        assert asked(made) == ["args.hidden"]
        assert made["missing"][0]["cell"] == (2 if path == "a.ipynb" else None)
        assert records(run, text, "args.hidden=10", path=path)[0]["known"]


# -- the command


def test_an_option_is_named_as_it_is_typed(here: Path, run: Run) -> None:
    Path("train.py").write_text(HEAD + CONFIG + ARGS + dense("config['a'] + args.b"))
    done = run("estimate", "--isolated", "train.py")
    assert """`config["a"]` (line 9): give --set 'config["a"]=...'""" in done.out
    assert "`args.b` (line 9): give --set args.b=...\n" in done.out


@pytest.mark.parametrize("fact", ['config["width"]=10', "config['width']=10", "config[ 'width' ] = 10"])
def test_quotes_and_blanks_do_not_matter(fact: str, here: Path, run: Run) -> None:
    assert records(run, HEAD + CONFIG + dense('config["width"]'), fact)[0]["known"]


def test_an_expression_may_have_an_equals_sign(here: Path, run: Run) -> None:
    assert records(run, HEAD + dense("sizes(deep=True)"), "sizes(deep=True)=10")[0]["known"]


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("args.hiden=10", "--set args.hiden: that is not in train.py; did you mean args.hidden?"),
        ("nothing=10", "--set nothing: that is not in train.py"),
        ("args.hidden=ten", "argument --set: 'ten' is no value of Python's, as 10, (28, 28) or 'adam'"),
        ("args.hidden", "argument --set: 'args.hidden' is no NAME=VALUE, as num_classes=10 or 'len(vocab)=20000'"),
        ("1=2", "argument --set: '1=2' is no NAME=VALUE"),
        ("a b=2", "argument --set: 'a b=2' is no NAME=VALUE"),
        ("=", "argument --set: '=' is no NAME=VALUE"),
    ],
)  # fmt: skip
def test_what_cannot_be_set_is_one_line(fact: str, said: str, here: Path, run: Run) -> None:
    Path("train.py").write_text(HEAD + ARGS + dense("args.hidden"))
    done = run("estimate", "--isolated", "--set", fact, "train.py")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"tfmemlint: error: {said}")
    assert done.err.count("\n") == 1


def test_what_is_not_needed_is_said(here: Path, run: Run) -> None:
    Path("train.py").write_text(HEAD + "n = 10\n" + dense("n"))
    done = run("estimate", "--isolated", "--set", "n=20", "train.py")
    assert done.code == 0
    assert done.err == "tfmemlint: note: --set n was not needed: no step rests on it, or the code says what it is\n"
