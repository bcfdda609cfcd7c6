"""What stands in for files, modules and names that a program expects and that are not there: what it then sees."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.verify.run import measure
from tfmemlint.verify.run.measure import Program, Settings
from tfmemlint.verify.run.runs import Run
from tfmemlint.verify.run.watch import Limits

DATASETS = """
from types import SimpleNamespace as Made

class Features:
    def get_tensor_info(self):
        image, label = Made(dtype="uint8", shape=(None, None, 3)), Made(dtype="int64", shape=())
        corner = Made(dtype="float32", shape=(None, 4))
        for each, name in ((image, "uint8"), (label, "int64"), (corner, "float32")):
            each.dtype = Made(name=name)
        return {"image": image, "label": label, "boxes": {"corner": corner}}

def builder(name):
    {"horses/zebras": 1}[name]
    return Made(info=Made(features=Features(), supervised_keys=("image", "label")))

def load(name, **options):
    raise KeyError(name)
"""
"""A library that knows what its data sets hold, and nothing of how many."""

SETTINGS = Settings(device="cpu", repeat=1, limits=Limits(wall=120.0))
RunProgram = Callable[..., Run]
pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def run() -> Iterator[RunProgram]:
    """Runs programs for which things are made up, in copies of one process that has imported TensorFlow."""
    with measure.preloaded(SETTINGS) as served:

        def made(source: str, fresh: bool = False, **how: Any) -> Run:
            program = Program(textwrap.dedent(source), substitute=True, **how)
            return measure.measure(program, SETTINGS if fresh else served)[0]

        yield made


def test_names_that_libraries_had_before_are_what_does_the_same(run: RunProgram) -> None:
    result = run(
        """
        import time
        import cPickle
        import pickle
        from collections import Mapping
        import numpy as np
        assert np.zeros(3, dtype=np.float).dtype == "float64" and np.int is int and np.product([2, 3]) == 6
        assert isinstance({}, Mapping) and time.clock() > 0 and cPickle.loads is pickle.loads
        np.no_such_name
        """
    )
    assert result.reason == "AttributeError: module 'numpy' has no attribute 'no_such_name'"
    assert "names that numpy had before are what does the same now" in result.notes


def test_numbers_become_text_as_before_numpy_2(run: RunProgram) -> None:
    result = run("import numpy as np\nassert repr(np.ones(1)[0]) == '1.0' and str(list(np.ones(2))) == '[1.0, 1.0]'")
    assert result.status == "ok", result.reason


def test_a_while_loop_counts_its_rounds_anew_each_time_that_the_program_comes_to_it(run: RunProgram) -> None:
    result = run(
        """
        def drawn():
            tries = 0
            tfmemlint_enter(4)
            while tfmemlint_more(50, 4) and (tries < 3):
                tries += 1
            return tries

        assert {drawn() for _ in range(100)} == {3}
        tfmemlint_enter(9)
        rounds = 0
        while tfmemlint_more(50, 9) and (True):
            rounds += 1
        assert rounds == 50
        """
    )
    assert result.status == "ok", result.reason


def test_texts_have_numbers_where_the_code_makes_them_of_what_it_has_read(run: RunProgram) -> None:
    result = run(
        """
        import glob
        import numpy as np
        paths = sorted(glob.glob("labels/*.txt"))
        text = open(paths[0]).read()
        parts = text.strip().split()
        assert len([np.float32(each) for each in parts]) > 9
        """
    )
    assert result.status == "ok", result.reason


def test_a_path_goes_on_with_a_setting_of_which_nothing_is_known(run: RunProgram) -> None:
    result = run(
        """
        from pathlib import Path
        config = tfmemlint_settings("config")
        assert (Path("data") / config.nothing_that_is_known).parent == Path("data")
        """
    )
    assert result.status == "ok", result.reason


def test_a_folder_that_is_not_there_is_walked_through(run: RunProgram) -> None:
    result = run(
        """
        import os
        (top, folders, names), = os.walk("data/pictures")
        assert len(names) > 9 and all(os.path.isfile(os.path.join(top, name)) for name in names)
        """
    )
    assert result.status == "ok", result.reason


def test_an_entry_of_a_folder_may_turn_out_to_be_one(run: RunProgram) -> None:
    result = run(
        """
        import os
        names = os.listdir("signs")
        for name in names[:3]:
            with open("signs/" + name + "/01/labels.csv") as file:
                assert file.readline()
            assert os.path.isdir("signs/" + name)
        """
    )
    assert result.status == "ok", result.reason


def test_a_training_that_is_cut_keeps_the_size_of_its_batches(run: RunProgram) -> None:
    result = run(
        """
        import numpy as np
        import tensorflow as tf
        sizes = set()

        class Seen(tf.keras.layers.Layer):
            def call(self, rows):
                sizes.add(rows.shape[0])
                return rows

        model = tf.keras.Sequential([Seen(), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse", run_eagerly=True)
        model.fit(np.zeros((6400, 2), "float32"), np.zeros(6400))
        assert sizes - {None} == {32}, sizes
        """
    )
    assert result.status == "ok", result.reason
    assert "fit() was cut to steps_per_epoch=20" in result.notes


def test_rows_that_were_made_up_are_whole_batches_of_a_model_that_is_made_for_them(run: RunProgram) -> None:
    result = run(
        """
        import numpy as np
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Input(batch_shape=(4, 3)), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        rows = np.load("rows.npy")[:47, :3]
        model.fit(rows, rows[:, 0], batch_size=4)
        """
    )
    assert result.status == "ok", result.reason
    assert "x and y had 47 rows: both were cut to 44, for batches of 4" in result.notes


def test_a_loop_that_is_never_come_to_goes_through_nothing(run: RunProgram) -> None:
    loops = """
    for each in range({}):
        for number in tfmemlint_some([1, 2, 3], 50, 3, marked=True):
            pass
    """
    never, often = run(loops.format(0)), run(loops.format(1))
    assert (never.rounds, never.rounds_in_all, often.rounds, often.rounds_in_all) == (0, 0, 3, 3)


def test_what_is_gone_decorates_and_does_nothing(run: RunProgram) -> None:
    result = run(
        """
        from keras.legacy import interfaces

        @interfaces.legacy_get_updates_support
        def updates(loss):
            return loss + 1

        assert updates(2) == 3
        interfaces.legacy_get_updates_support()
        """
    )
    gone = "keras.legacy.interfaces.legacy_get_updates_support is not there in the installed version"
    assert result.reason == f"AttributeError: {gone}"


@pytest.mark.parametrize("fresh", [False, True])
def test_names_that_an_installed_library_lacks_fail_when_they_are_called(fresh: bool, run: RunProgram) -> None:
    result = run(
        """
        from keras.datasets import no_such_data
        from numpy.no_such_module import thing
        try:
            from numpy import no_such_array
        except ImportError:
            no_such_array = 3
        assert no_such_array == 3
        thing()
        """,
        fresh=fresh,
    )
    assert result.reason == "AttributeError: numpy.no_such_module.thing is not there in the installed version"


def test_keras_gives_what_it_had_elsewhere(run: RunProgram) -> None:
    result = run(
        """
        import keras
        from keras.utils import conv_utils
        assert conv_utils.normalize_tuple(3, 2, "kernel_size") == (3, 3)
        keras.optimizers.rmsprop(lr=0.1)
        keras.optimizers.no_such_optimizer()
        """,
        keras_2=True,
    )
    assert result.reason == "AttributeError: keras.optimizers.no_such_optimizer is not there in the installed version"


def test_sizes_of_layers_are_whole_numbers_as_in_keras_2(run: RunProgram) -> None:
    result = run(
        """
        import numpy as np
        from keras import Sequential, layers
        dense = layers.Dense(np.prod([3, 4]))
        assert dense.units == 12 and type(dense.units) is int
        assert layers.Dense.from_config(dense.get_config()).units == 12
        assert Sequential([layers.Input((4,)), dense]).output_shape == (None, 12)
        assert layers.Conv2D(16.0, 3).filters == 16
        """
    )
    assert result.status == "ok", result.reason
    assert "units of a layer was made a whole number, as Keras 2 does" in result.notes


def test_the_folder_of_what_is_written_is_there(run: RunProgram) -> None:
    result = run(
        """
        with open("outputs/first/scores.txt", "w") as scores:
            scores.write("1.0")
        assert open("outputs/first/scores.txt").read() == "1.0"
        """
    )
    assert result.status == "ok", result.reason
    assert "outputs/first, which the program writes to, is not there: it was made" in result.notes


def test_contrib_is_what_tensorflow_2_has_of_it(run: RunProgram) -> None:
    result = run(
        """
        import tensorflow as tf
        from tensorflow.contrib import layers, rnn
        with layers.arg_scope([layers.fully_connected], activation_fn=None, biases_initializer=None):
            layers.fully_connected(tf.zeros([2, 3]), 4, weights_initializer=layers.xavier_initializer(), scope="one")
        assert [(each.name, each.shape.as_list()) for each in tf.trainable_variables()] == [
            ("one/dense/kernel:0", [3, 4])]
        assert rnn.BasicLSTMCell(4).state_size == (4, 4)
        tf.contrib.seq2seq.AttentionWrapper(rnn.GRUCell(4))
        """,
        version_1=True,
    )
    said = "AttributeError: tensorflow.contrib.seq2seq.AttentionWrapper is not there in the installed version"
    assert result.reason == said


@pytest.mark.parametrize("present", [True, False])
def test_files_that_a_program_looks_for_are_there_where_they_shall_be(present: bool, run: RunProgram) -> None:
    result = run(
        """
        import os
        import numpy as np
        if os.path.exists("features") and os.path.isfile("features/first.npy"):
            tfmemlint_value(len(np.load("features/first.npy")))
        """,
        present=present,
    )
    assert (result.status, result.value) == ("ok", 1024.0 if present else None)


def test_shapes_and_rows_that_errors_asked_for_take_the_place_of_others(run: RunProgram) -> None:
    result = run(
        """
        assert tfmemlint_array("float32", (512, 1021)).shape == (512, 28, 28)
        assert tfmemlint_array("float32", (64, 1031)).shape == (60, 1031)
        assert tfmemlint_array("int64", (8, 4)).shape == (8, 4)
        assert next(iter(tfmemlint_dataset(("float32", (32, 1021)), 2))).shape == (32, 28, 28)
        """,
        shapes=(((1021,), (28, 28)),),
        rows=((64, 60),),
    )
    assert result.status == "ok", result.reason
    assert "the shape (512, 28, 28) stands for (512, 1021), which was made up: an error asked for it" in result.notes


def test_tables_have_the_columns_that_the_code_gives_them(run: RunProgram) -> None:
    pytest.importorskip("pandas")
    result = run(
        """
        import pandas as pd
        table = pd.read_csv("votes.csv", header=None)
        table.columns = ["name", "count", "share"]
        assert len(table) == 1000 and table["share"].max() < 1
        """
    )
    assert result.status == "ok", result.reason


def test_a_table_of_labels_without_names_has_one_column(run: RunProgram) -> None:
    result = run(
        """
        import pandas as pd
        labels = pd.read_csv("motion/train/y_train.txt", header=None)
        assert labels.shape == (1000, 1) and set(labels.values.ravel().tolist()) == {0, 1}
        assert pd.read_csv("motion/train/train_labels.csv", header=None).shape == (1000, 1)
        assert pd.read_csv("motion/train/X_train.txt", header=None).shape == (1000, 10)
        """
    )
    assert result.status == "ok", result.reason


def test_tables_have_what_older_versions_of_pandas_had(run: RunProgram) -> None:
    pytest.importorskip("pandas")
    result = run(
        """
        import pandas as pd
        table = pd.read_csv("votes.csv")
        wanted = ["share", "turnout"]
        assert table.loc[:, wanted].as_matrix().shape == (1000, 2)
        assert len(table.append({"share": 0.5}, ignore_index=True)) == 1001
        assert [name for name, _ in table[wanted].iteritems()] == wanted
        """
    )
    assert result.status == "ok", result.reason


def test_bytes_of_records_are_as_many_as_they_are_said_to_be(run: RunProgram) -> None:
    result = run(
        """
        import glob
        import tensorflow as tf

        def parsed(record):
            features = {"image": tf.io.FixedLenFeature([], tf.string)}
            image = tf.io.decode_raw(tf.io.parse_single_example(record, features)["image"], tf.uint8)
            image = tf.cast(image, tf.float32)
            image.set_shape([3 * 32 * 32])
            return tf.transpose(tf.reshape(image, [3, 32, 32]), [1, 2, 0])

        files = glob.glob("records/train/*")
        assert len(next(iter(tf.data.TFRecordDataset(files).map(parsed).batch(8)))) == 8
        """
    )
    assert result.status == "ok", result.reason


def test_what_is_cut_out_of_made_up_pictures_shows(run: RunProgram) -> None:
    result = run(
        """
        import tensorflow as tf
        data = tfmemlint_dataset(("float32", (64, 64, 3)), 8).map(lambda x: tf.image.random_crop(x, (32, 32, 3)))
        twice = [each.numpy().tobytes() for each in data.repeat(2)]
        assert twice[:8] != twice[8:]
        """
    )
    assert result.status == "ok", result.reason


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_grows_where_python_s_collector_does_not_run(run: RunProgram, collects: bool) -> None:
    result = run(
        """
        import gc
        import tensorflow as tf
        gc.disable()

        class Node:
            pass

        for _ in range(8):
            node = Node()
            node.itself, node.tensor = node, tf.zeros([256, 256])
            del node
            tfmemlint_mark()
        """,
        collects=collects,
    )
    grown = result.marks[-1][1] - result.marks[0][1]
    assert result.status == "ok" and (grown == 0) is collects, (result.reason, grown)


def test_programs_of_both_versions_run_on_the_first(run: RunProgram) -> None:
    result = run(
        """
        import tensorflow as tf
        tf.random.set_seed(3)
        print(tf.Session().run(tf.random.uniform([2])))
        """,
        version_1=True,
    )
    assert result.status == "ok", result.reason


def test_rows_of_a_table_have_as_many_numbers_as_are_taken(run: RunProgram) -> None:
    result = run(
        """
        import csv
        with open("signs.csv") as file:
            rows = [row for row in csv.reader(file)]
        assert all(len(row[1:785]) == 784 and int(row[0]) < 256 for row in rows)
        """
    )
    assert result.status == "ok", result.reason


def test_arguments_that_no_parser_has_are_made_up_where_they_are_read(run: RunProgram) -> None:
    result = run(
        """
        import argparse
        args = argparse.ArgumentParser().parse_args()
        assert args.batch_size == 32 == args.batch_size
        assert not hasattr(args, "no_such_argument") and getattr(args, "other", 3) == 3
        """
    )
    assert result.status == "ok", result.reason
    assert "the argument batch_size is made up, as no parser has it" in result.notes and result.sizes_made_up


def test_the_library_itself_tells_what_its_data_sets_hold(run: RunProgram, tmp_path: Path) -> None:
    (tmp_path / "tensorflow_datasets.py").write_text(DATASETS, encoding="utf-8")
    result = run(
        """
        import tensorflow_datasets as tfds
        data, info = tfds.load("horses/zebras", as_supervised=True, with_info=True)
        image, label = data["train_b"].element_spec
        assert image.shape == (256, 256, 3) and image.dtype == "uint8" and label.shape == ()
        assert info.splits["train_b"].num_examples == 256 == len(data["train_b"])
        found = tfds.load("horses/zebras", split="test[:10%]")
        assert found.element_spec["boxes"]["corner"].shape == (16, 4) and len(found) == 25
        tfds.load("no_such_data")
        """,
        path=(str(tmp_path),),
    )
    assert result.reason == "KeyError: 'no_such_data'"
    assert "tfds.load('horses/zebras') gave 256 made-up elements of the same dtypes" in result.notes


def test_encoders_of_texts_are_where_they_were(run: RunProgram, tmp_path: Path) -> None:
    modules = {"features": "", "deprecated": "text = 'words'"}
    for name, text in {**modules, "__init__": f"{DATASETS}\nfrom . import deprecated, features"}.items():
        (tmp_path / "tensorflow_datasets").mkdir(exist_ok=True)
        (tmp_path / "tensorflow_datasets" / f"{name}.py").write_text(text, encoding="utf-8")
    result = run(
        """
        import tensorflow_datasets as tfds
        assert tfds.features.text == "words"
        tfds.features.other
        """,
        path=(str(tmp_path),),
    )
    assert result.reason == "AttributeError: module 'tensorflow_datasets.features' has no attribute 'other'"
    assert "tfds.features.text is taken from where it is now, tfds.deprecated.text" in result.notes


def test_figures_have_no_style_where_its_file_is_not_there(run: RunProgram, tmp_path: Path) -> None:
    (tmp_path / "matplotlib").mkdir()
    for name, text in (("__init__", ""), ("style", "def use(style):\n    open('/no/such/folder/' + style)")):
        (tmp_path / "matplotlib" / f"{name}.py").write_text(text, encoding="utf-8")
    result = run("from matplotlib import style\nstyle.use('own.mplstyle')", path=(str(tmp_path),))
    assert result.status == "ok", result.reason
    assert "the style own.mplstyle of figures is not there, and was left out" in result.notes


def test_a_made_up_table_is_taken_apart_as_it_was_made(run: RunProgram) -> None:
    result = run(
        """
        import csv
        import logging
        import os
        with open("labels.csv") as file:
            assert all(len(row) == 10 for row in csv.reader(file, delimiter=";"))
        with open("words.txt") as file:
            assert len(next(csv.reader(file, "excel-tab"))) == 12
        with open("labels.csv") as file:
            row = next(csv.DictReader(file, delimiter=";"))
            assert row["batch_size"] == "32" and row["unheard_of"] == "1" and row["image_path"] == "file"
        with open("own.csv", "w") as file:
            file.write("a;b\\n1;2")
        with open("own.csv") as file:
            assert list(csv.DictReader(file, delimiter=";")) == [{"a": "1", "b": "2"}]
        assert os.path.getsize("labels.csv") > 0 == os.path.getsize("weights.hdf5")
        logging.basicConfig(filename="logs/today.log")
        assert os.path.isfile("logs/today.log")
        """
    )
    assert result.status == "ok", result.reason


@pytest.mark.skipif(find_spec("tensorflow_probability") is not None, reason="it is installed")
def test_distributions_are_there_without_their_library(run: RunProgram) -> None:
    result = run(
        """
        import math
        import numpy as np
        import tensorflow as tf
        import tensorflow_probability as tfp
        from tensorflow_probability import distributions as tfd

        def near(found, wanted):
            return np.allclose(found, wanted, atol=1e-5)

        normal = tfp.distributions.Normal(tf.zeros([4, 3]), 2.0)
        assert normal.sample().shape == (4, 3) and normal.sample(5).shape == (5, 4, 3)
        assert near(normal.log_prob(tf.zeros([4, 3])), np.full((4, 3), -math.log(2 * math.sqrt(2 * math.pi))))
        rows = tfd.MultivariateNormalDiag(tf.zeros([4, 3]), tf.ones([4, 3]))
        assert rows.sample([2]).shape == (2, 4, 3)
        assert near(rows.log_prob(tf.zeros([4, 3])), [-1.5 * math.log(2 * math.pi)] * 4)
        assert near(tfd.kl_divergence(rows, tfd.MultivariateNormalDiag(tf.ones([4, 3]), tf.ones([4, 3]))), [1.5] * 4)
        of_numbers = normal.log_prob(tf.zeros([4, 3]))
        assert near(tfd.Independent(normal, 1).log_prob(tf.zeros([4, 3])), tf.reduce_sum(of_numbers, -1))
        classes = tfd.Categorical(probs=[[0.25, 0.75], [0.5, 0.5]])
        assert classes.sample().shape == (2,) and classes.sample(3).shape == (3, 2)
        assert classes.sample().dtype == tf.int32
        assert near(classes.log_prob([1, 0]), np.log([0.75, 0.5])) and near(classes.entropy()[1], math.log(2))
        assert near(tfd.Bernoulli(probs=0.25).prob(1), 0.25) and tfd.Bernoulli(logits=[0.0, 1.0]).sample().shape == (2,)
        assert near(tfd.Uniform(0.0, 4.0).prob(1.0), 0.25) and float(tfd.Uniform(3.0, 4.0).sample()) >= 3
        tfp.optimizer.lbfgs_minimize(tf.zeros([1]))
        """
    )
    assert result.reason.startswith("ModuleNotFoundError: No module named 'tensorflow_probability'"), result.reason


@pytest.mark.parametrize(
    ("parts", "name", "line"),
    [
        ("folder, index, side = line.split()", "split.txt", "3 3 3"),
        ("path, label = line.strip().split(';')", "labels.csv", "003.jpg;3"),
        ("x, y = table.split(',')", "split.txt", "word36 word37 word38"),
    ],
)
def test_lines_have_the_parts_that_the_code_takes_of_them(parts: str, name: str, line: str, run: RunProgram) -> None:
    result = run(
        f"""
        def parted(line, table=","):
            {parts}

        with open({name!r}) as file:
            lines = file.read().splitlines()
        assert lines[3].startswith({line!r}), lines[3]
        """
    )
    assert result.status == "ok", result.reason


def test_what_is_not_installed_is_a_text_where_one_is_put_together(run: RunProgram) -> None:
    result = run(
        """
        import os
        import tfmemlint_absent
        path = tfmemlint_absent.Datasets().path()
        assert os.path.join(path, "a") == path + "/a" == f"{path}/a" == "folder/a" and "in " + path == "in folder"
        path + 1
        """
    )
    assert result.reason.startswith("ModuleNotFoundError: No module named 'tfmemlint_absent'")


@pytest.mark.skipif(any(map(find_spec, ("pandas", "sklearn"))), reason="they are installed")
def test_tables_and_what_prepares_them_are_there_without_their_libraries(run: RunProgram) -> None:
    result = run(
        """
        import numpy as np
        import pandas as pd
        from sklearn.model_selection import train_test_split
        from sklearn.preprocessing import LabelEncoder, MinMaxScaler, StandardScaler
        from sklearn.datasets import fetch_california_housing, load_iris
        from sklearn.svm import SVC
        from sklearn import metrics
        table = pd.read_csv("prices.csv", index_col=0).dropna()
        wanted = table[["open", "high"]]
        assert wanted.values.shape == (1000, 2) and wanted.values.dtype == "float64"
        rest = table.drop(["close"], axis=1)
        assert "close" not in rest.columns and len(rest) == 1000
        assert ((table["open"] * 2 - table["open"]).values == table["open"].values).all()
        assert pd.concat([wanted, pd.get_dummies(table["kind"] == "a")], axis=1).shape[0] == 1000
        a, b, c, d = train_test_split(wanted, table["close"], test_size=0.2)
        assert (a.shape, b.shape, c.shape, d.shape) == ((800, 2), (200, 2), (800,), (200,))
        assert load_iris().data.shape == (150, 4) and fetch_california_housing().data.shape == (20640, 8)
        assert metrics.mean_squared_error([1, 2], [1, 4]) == 2
        single = np.ones((10, 3), "float32")
        assert MinMaxScaler().fit_transform(single).dtype == "float32"
        assert StandardScaler().fit_transform(np.arange(9).reshape(3, 3)).dtype == "float64"
        assert LabelEncoder().fit_transform(["b", "a", "b"]).tolist() == [1, 0, 1]
        SVC().fit(single, [1] * 10)
        """
    )
    assert result.reason == "ModuleNotFoundError: No module named 'sklearn', which sklearn.svm.SVC().fit() needs"
    said = "\n".join(result.notes)
    assert "scikit-learn is not installed: what does the same splits, scales and encodes data" in said
    assert "pandas is not installed: tables of NumPy's arrays stand for those that it has" in said


@pytest.mark.skipif(any(map(find_spec, ("PIL", "cv2", "gym", "matplotlib"))), reason="they are installed")
def test_pictures_figures_and_environments_are_there_without_their_libraries(run: RunProgram) -> None:
    result = run(
        """
        import click
        import cv2
        import gym
        import matplotlib.pyplot as plt
        import numpy as np
        import tensorflow_datasets as tfds
        from easydict import EasyDict
        from PIL import Image
        from tensorflow.keras.preprocessing.image import ImageDataGenerator
        image = cv2.resize(cv2.imread("photos/a.jpg"), (32, 48))
        assert (image.shape, image.dtype) == ((48, 32, 3), "uint8")
        assert cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).shape == (48, 32)
        assert np.array(Image.open("photos/a.jpg").convert("L").resize((32, 48))).shape == (48, 32)
        flow = ImageDataGenerator().flow_from_directory("pets", target_size=(40, 50), batch_size=8)
        assert flow[0][0].shape == (8, 40, 50, 3)
        figure, axes = plt.subplots(1, 2)
        axes[0].imshow(image)
        names = EasyDict({"train": {"size": 3}})
        names.train.rate = 0.5
        assert names["train"]["rate"] == 0.5 and names.train.size == 3
        env = gym.make("CartPole-v1")
        assert env.reset().shape == env.observation_space.shape == (4,) and env.action_space.n == 2
        assert sum(env.step(0)[2] for _ in range(50)) == 1
        assert tfds.load("mnist", split="train", as_supervised=True).element_spec[0].shape == (28, 28, 1)

        @click.command()
        @click.option("--epochs", default=3)
        @click.argument("base_dir")
        def main(base_dir, epochs):
            raise SystemExit(f"{base_dir} {epochs}")

        main()
        """
    )
    assert result.status == "error" and "folder 3" in result.output


def test_a_column_is_of_texts_where_each_value_is_taken_apart(run: RunProgram) -> None:
    result = run(
        """
        import pandas as pd

        def cleaned(words):
            return words.lower().split()

        table = pd.read_csv("loans.csv")
        terms = table["term"].apply(lambda each: int(each[:3]))
        words = table["purpose"].apply(cleaned)
        assert terms.min() > 99 and len(words[0]) > 1
        """
    )
    assert result.status == "ok", result.reason


@pytest.mark.skipif(find_spec("pandas") is None, reason="it is not installed")
def test_missing_values_of_tables_are_filled_as_older_versions_of_pandas_did(run: RunProgram) -> None:
    result = run(
        """
        import pandas as pd
        table = pd.DataFrame({"word": ["a", None, "b"]}).fillna(method="ffill")
        assert list(table["word"]) == ["a", "a", "b"]
        assert list(table["word"].fillna("c")) == ["a", "a", "b"]
        """
    )
    assert result.status == "ok", result.reason


def test_all_columns_that_the_code_names_are_of_texts_where_an_error_has_said_so(run: RunProgram) -> None:
    source = """
        import pandas as pd
        words = list(pd.read_csv("articles.csv").headline.values)
        assert words[0].encode("utf8")
        """
    assert run(source).error is not None
    assert run(source, columns=("*",)).status == "ok"


@pytest.mark.parametrize(
    "begins",
    ["for _ in tfmemlint_some(range(99), 50, 7, marked=True):", "while tfmemlint_more(50, 7, marked=True) and (True):"],
)
def test_a_training_is_short_before_the_flagged_loop_and_not_around_it(run: RunProgram, begins: str) -> None:
    source = """
        import numpy as np
        import tensorflow as tf

        def rows():
            {}
                yield np.ones((1, 4), "float32"), np.ones((1, 1), "float32")

        model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        if {}:
            model.fit(np.ones((640, 4)), np.ones((640, 1)))
        model.fit(rows())
        """
    note = "a training before the flagged loop was ended after a few steps"
    alone = run(source.format(begins, False))
    assert (alone.status, alone.rounds > 9, note in alone.notes) == ("ok", True, False), alone.reason
    assert note in run(source.format(begins, True)).notes


def test_files_of_word_vectors_have_a_vector_for_each_word(run: RunProgram) -> None:
    result = run(
        """
        import numpy as np
        vectors = {}
        for line in open("embeddings/glove.6B.50d.txt", encoding="utf8"):
            word, *numbers = line.split()
            vectors[word] = np.asarray(numbers, dtype="float32")
        assert len(vectors) > 99 and all(each.shape == (50,) for each in vectors.values())
        """
    )
    assert result.status == "ok", result.reason


def test_tables_have_the_rows_behind_which_others_are_taken(run: RunProgram) -> None:
    result = run(
        """
        import pandas as pd
        SPLIT = 3000
        series = pd.read_csv("sunspots.csv")["mean"].values
        assert len(series[SPLIT:]) > 99
        """
    )
    assert result.status == "ok", result.reason


def test_tables_have_many_rows_where_few_say_nothing(run: RunProgram) -> None:
    source = "import pandas as pd\nprint(len(pd.read_csv('banknotes.csv')))"
    few, many = run(source), run(source, many=True)
    assert (few.output.split(), many.output.split()) == (["1000"], ["32000"])


@pytest.mark.skipif(find_spec("yfinance") is not None or not find_spec("pandas"), reason="one of them matters")
def test_prices_are_a_made_up_table(run: RunProgram) -> None:
    result = run(
        """
        import yfinance as yf
        data = yf.download("AAPL", start="2015-01-01", progress=False)
        closes = data[["Open", "Close"]].values
        assert closes.shape == (1000, 2) and len(yf.Ticker("AAPL").history(period="max")) == 1000
        """
    )
    assert result.status == "ok", result.reason


@pytest.mark.parametrize("version_1", [False, True])
def test_what_the_input_functions_of_estimators_give_is_gone_through(run: RunProgram, version_1: bool) -> None:
    gives = "ds.make_one_shot_iterator().get_next()" if version_1 else "ds"
    result = run(
        f"""
        import numpy as np
        import tensorflow as tf

        def rows(mode, params):
            assert mode == tf.estimator.ModeKeys.TRAIN and params["size"] == 4
            ds = tf.data.Dataset.from_tensor_slices(np.ones((64, 1 << 16), "float32")).shuffle(64).batch(params["size"])
            return {gives}

        config = tf.estimator.RunConfig(save_summary_steps=9).replace(save_summary_steps=5)
        assert config.save_summary_steps == 5
        model = tf.estimator.Estimator(lambda features, labels, mode: None, config=config, params={{"size": 4}})
        model.train(rows, steps=99)
        first = tf.estimator.DNNClassifier([9], [tf.feature_column.numeric_column("x")])
        scores = first.evaluate(tf.estimator.inputs.numpy_input_fn({{"x": np.ones(9)}}, np.ones(9)))
        assert scores["accuracy"] == 0
        """,
        version_1=version_1,
    )
    assert result.status == "ok", result.reason
    assert len(result.marks) > 15 and (result.peak_bytes or 0) > 16 << 20


def test_texts_have_numbers_at_the_places_where_the_code_makes_some(run: RunProgram) -> None:
    result = run(
        """
        import csv
        with open("word_counts.txt") as file:
            counts = {row[0]: int(row[1]) for row in csv.reader(file, delimiter=" ")}
        assert len(counts) > 99 and max(counts.values()) == 9
        """
    )
    assert result.status == "ok", result.reason
