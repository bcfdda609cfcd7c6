"""Whether a pipeline can be seen from a file, by words alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfmemlint import knowledge
from tfmemlint.config.settings import Config
from tfmemlint.lint.parsing import parse
from tfmemlint.model.file import File
from tfmemlint.model.pipelines_seen import any_pipeline_seen, words_of_beginnings
from tfmemlint.model.transfer.table import TABLE
from tfmemlint.project.siblings import Siblings
from tfmemlint.query.pipelines.consumers import consumptions
from tfmemlint.text.read import read_source

FIT = "def fit(model, data):\n    model.fit(data)\n"


def file_of(root: Path, program: str, **modules: str) -> File:
    """The model of `main.py` beside these modules."""
    for name, text in modules.items():
        (root / f"{name}.py").write_text(text)
    source = read_source(program.encode(), str(root / "main.py"))
    (root / "main.py").write_text(program)
    module = parse(source)[0]
    assert module is not None
    siblings = Siblings(str(root / "main.py"), str(root), lambda each: parse(each)[0])
    return File(source, module, Config(project_root=str(root)), siblings)


@pytest.mark.parametrize(
    ("program", "seen"),
    [
        ("tf.data.Dataset.range(3)", True),
        ("from tensorflow.data import Dataset as D", True),
        ("def f(ds: 'tf.data.Dataset'): pass", True),
        ("x = load(path).map(f, num_parallel_calls=4)", True),
        ("x = load_it(path).map(f, tf.data.AUTOTUNE)", True),
        ("import tensorflow_datasets as tfds", True),
        ("tf.keras.utils.image_dataset_from_directory(path)", True),
        ("model.fit(x)  # a Dataset", False),
        ('"""Takes a Dataset."""\nmodel.fit(x)', False),
        ("x = f().map(g).batch(3)", False),
    ],
)
def test_words_of_code_tell(program: str, seen: bool, tmp_path: Path) -> None:
    assert any_pipeline_seen(file_of(tmp_path, f"import tensorflow as tf\n\n\n{program}\n")) is seen


MAKES = "import tensorflow as tf\ndef made():\n    return tf.data.Dataset.range(9).batch(3)\n"


@pytest.mark.parametrize(
    ("program", "modules", "seen"),
    [
        ("import a\n", {"a": MAKES}, True),
        ("import a\n", {"a": "from b import made\n", "b": MAKES}, True),
        (FIT, {"a": "import main\nfrom b import made\nmain.fit(m, made())\n", "b": MAKES}, True),
        (FIT, {"b": MAKES}, False),
        (FIT, {"test_a": "import main, unittest\nfrom b import made\nmain.fit(m, made())\n", "b": MAKES}, False),
    ],
)
def test_modules_tell_to_which_a_value_may_come_from(
    program: str, modules: dict[str, str], seen: bool, tmp_path: Path
) -> None:
    file = file_of(tmp_path, program, **modules)
    assert any_pipeline_seen(file) is seen


def test_what_two_modules_away_makes_a_pipeline_is_consumed_here(tmp_path: Path) -> None:
    file = file_of(
        tmp_path,
        "import tensorflow as tf\nfrom a import made\nmodel = tf.keras.Sequential()\nmodel.fit(made())\n",
        a="from b import made\n",
        b=MAKES,
    )
    assert [ds.source for each in consumptions.of(file) for ds in each.datasets] == ["tf.data.Dataset.range"]


def test_whatever_is_modelled_as_a_pipeline_of_its_own_has_a_word() -> None:
    takes_one = ("make_initializable_iterator", "make_one_shot_iterator", "cardinality", "as_numpy", "TensorSpec")
    for name, function in TABLE.items():
        if function.__module__.endswith(".sources") and name.startswith("tf.") and not name.endswith(takes_one):
            owner = name.rpartition(".")[0]
            assert knowledge.words_needed(owner if knowledge.is_class(owner) else name) <= words_of_beginnings(), name
