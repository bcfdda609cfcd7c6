"""What the model knows of TensorFlow, Keras and NumPy: names, arguments, effects, dtypes; and that it is still so."""

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest
from daily import is_today, share

from tfmemlint import knowledge
from tfmemlint.dev.probe import run
from tfmemlint.knowledge import groups
from tfmemlint.model.arithmetic import FLOATS, INTEGERS
from tfmemlint.model.values import Array, Const, array_binary

FOLDER = Path(knowledge.__file__).parent


# -- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("tensorflow.data.Dataset.map", "tf.data.Dataset.map"),
        ("tensorflow.keras.models.Sequential", "tf.keras.Sequential"),
        ("keras.layers.Dense", "tf.keras.layers.Dense"),
        ("tf_keras.layers.Dense", "tf.keras.layers.Dense"),
        ("keras.src.layers.Dense", "tf.keras.layers.Dense"),
        ("tensorflow.python.keras.layers.Dense", "tf.keras.layers.Dense"),
        ("tensorflow.compat.v1.keras.layers.Dense", "tf.keras.layers.Dense"),
        ("tensorflow.compat.v2.zeros", "tf.zeros"),
        ("tensorflow.config.experimental.set_visible_devices", "tf.config.set_visible_devices"),
        (
            "tensorflow.config.experimental.set_virtual_device_configuration",
            "tf.config.set_logical_device_configuration",
        ),
        ("keras.utils.clear_session", "tf.keras.backend.clear_session"),
        ("tensorflow.keras.backend.clear_session", "tf.keras.backend.clear_session"),
        ("tensorflow.data.experimental.AUTOTUNE", "tf.data.AUTOTUNE"),
        ("tensorflow.dtypes.float64", "tf.float64"),
        ("tensorflow.math.add", "tf.add"),
        ("tensorflow.optimizers.Adam", "tf.keras.optimizers.Adam"),
        ("numpy.random.rand", "np.random.rand"),
        ("numpy.float_", "np.float64"),
    ],
)
def test_every_import_style_leads_to_one_name(path, name):
    assert knowledge.canonical(path) == name
    assert knowledge.canonical(name) == name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("tensorflow.compat.v1.data.Dataset.from_tensor_slices", "tf.data.Dataset.from_tensor_slices"),
        ("tensorflow.compat.v1.zeros", "tf.zeros"),
        ("tensorflow.compat.v1.Session", "tf.compat.v1.Session"),
        ("tensorflow.Session", "tf.compat.v1.Session"),
        ("tensorflow.placeholder", "tf.compat.v1.placeholder"),
        ("tensorflow.random_normal", "tf.random.normal"),
        ("tensorflow.layers.dense", "tf.compat.v1.layers.dense"),
        ("tensorflow.compat.v1.summary.scalar", "tf.compat.v1.summary.scalar"),
        ("tensorflow.summary.scalar", "tf.summary.scalar"),
    ],
)
def test_version_1_is_the_same_thing_only_where_it_is_alike(path, name):
    assert knowledge.canonical(path) == name


@pytest.mark.parametrize("path", ["tf.Session", "tf.log", "tf.to_float", "tensorflow.random_uniform", "tf.placeholder"])
def test_what_only_version_1_has(path):
    assert knowledge.of_first_version(path)


@pytest.mark.parametrize("path", ["tf.abs", "tf.compat.v1.Session", "tf.math.log", "tf.contrib", "tf.keras", "tf.foo"])
def test_what_version_2_has_too_or_none(path):
    assert not knowledge.of_first_version(path)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("tensorflow.keras.layers.experimental.preprocessing.Rescaling", "tf.keras.layers.Rescaling"),
        ("keras.layers.core.Dense", "tf.keras.layers.Dense"),
        ("keras.utils.np_utils.to_categorical", "tf.keras.utils.to_categorical"),
        ("tensorflow.keras.optimizers.legacy.Adam", "tf.keras.optimizers.Adam"),
        ("tensorflow.keras.mixed_precision.experimental.set_policy", "tf.keras.mixed_precision.set_global_policy"),
    ],
)
def test_modules_that_are_gone_lead_to_where_their_names_are_now(path, name):
    assert knowledge.canonical(path) == name


@pytest.mark.parametrize(
    "path", ["torch.nn.Sequential", "pandas.DataFrame.batch", "kerastuner.Sequential", "my.tf.zeros"]
)
def test_other_libraries_keep_their_names(path):
    assert knowledge.canonical(path) == path
    assert not knowledge.exists(path)


@pytest.mark.parametrize(
    "path", ["tensorflow", "tensorflow.keras", "tensorflow.compat.v1", "tensorflow.compat.v1.data", "numpy"]
)
def test_names_can_be_followed_a_part_at_a_time(path):
    assert knowledge.canonical(knowledge.canonical(path) + ".zeros") == knowledge.canonical(path + ".zeros")


def test_what_is_not_known_keeps_its_own_words():
    assert knowledge.canonical("tensorflow.contrib.slim.conv2d") == "tf.contrib.slim.conv2d"
    assert not knowledge.exists("tf.contrib.slim.conv2d")


def test_words_are_those_by_which_the_name_can_be_written():
    assert knowledge.words("tf.keras.mixed_precision.set_global_policy") == {
        "set_global_policy",
        "set_dtype_policy",
        "set_policy",
    }
    assert knowledge.words("tf.data.Dataset.cache") == {"cache"}


def test_no_alias_leads_to_another_alias_or_to_nothing():
    names = json.loads((FOLDER / "aliases.json").read_text())
    astray = {path: name for path, name in names.items() if name in names or not knowledge.exists(name)}
    assert astray == {}


# -- signatures and classes ------------------------------------------------------------------------------------------


def test_signatures_bind_positions_to_names():
    fit = knowledge.signature("tf.keras.Model.fit")
    assert fit is not None
    assert [fit.position(name) for name in ("x", "y", "batch_size", "epochs", "callbacks")] == [0, 1, 2, 3, 5]
    assert fit.default("epochs") == 1
    assert fit.position("nothing") is None


def test_signatures_know_how_a_parameter_is_passed():
    zeros = knowledge.signature("np.zeros")
    assert zeros is not None
    assert zeros.positional == ("shape", "dtype", "order")
    assert zeros.names == ("shape", "dtype", "order", "device", "like")
    assert zeros.default("shape") is knowledge.REQUIRED
    arange = knowledge.signature("np.arange")
    assert arange is not None
    assert arange.parameters[0].kind is knowledge.Kind.POSITIONAL
    dtype = arange.parameter("dtype")
    assert dtype is not None
    assert dtype.kind is knowledge.Kind.KEYWORD


def test_dtype_defaults_are_names():
    zeros = knowledge.signature("tf.zeros")
    assert zeros is not None
    assert zeros.default("dtype") == "float32"
    assert zeros.default("no such") is knowledge.OTHER


def test_constructors_and_messages_have_signatures():
    dense, proto = knowledge.signature("tf.keras.layers.Dense"), knowledge.signature("tf.compat.v1.GPUOptions")
    assert dense is not None
    assert dense.positional[:2] == ("units", "activation")
    assert proto is not None
    assert "allow_growth" in proto.names
    assert proto.positional == ()


def test_keras_2_can_be_asked_where_it_differs():
    new = knowledge.signature("tf.keras.utils.to_categorical")
    old = knowledge.signature("tf.keras.utils.to_categorical", keras=2)
    assert new is not None
    assert old is not None
    assert (new.position("dtype"), old.position("dtype")) == (None, 2)
    assert knowledge.signature("tf.zeros", keras=2) == knowledge.signature("tf.zeros")


def test_methods_belong_to_the_first_class_that_has_them():
    assert knowledge.method_owner("tf.keras.Sequential", "fit") == "tf.keras.Model.fit"
    assert knowledge.method_owner("tf.keras.Sequential", "add") == "tf.keras.Sequential.add"
    assert knowledge.method_owner("tf.data.TFRecordDataset", "map") == "tf.data.Dataset.map"
    assert knowledge.method_owner("tf.keras.metrics.Mean", "update_state") == "tf.keras.metrics.Metric.update_state"
    assert knowledge.method_owner("tf.distribute.MirroredStrategy", "scope") == "tf.distribute.Strategy.scope"
    assert knowledge.method_owner("tf.keras.Sequential", "no_such") is None
    assert knowledge.canonical("tensorflow.keras.Sequential.fit") == "tf.keras.Model.fit"


def test_a_method_has_the_signature_of_the_nearest_class():
    assert knowledge.signature("tf.keras.Sequential.fit") == knowledge.signature("tf.keras.Model.fit")
    assert knowledge.signature("tf.keras.metrics.Mean.update_state") != knowledge.signature(
        "tf.keras.metrics.Metric.update_state"
    )


def test_classes_name_their_public_bases():
    assert knowledge.bases("tf.keras.Sequential") == ("tf.keras.Model", "tf.keras.layers.Layer")
    assert knowledge.bases("tf.keras.optimizers.Adam") == ("tf.keras.optimizers.Optimizer",)
    assert knowledge.bases("tf.zeros") == ()
    assert knowledge.is_class("tf.GradientTape")
    assert not knowledge.is_class("tf.zeros")
    assert "tf.data.TFRecordDataset" in knowledge.subclasses("tf.data.Dataset")


# -- facts -----------------------------------------------------------------------------------------------------------

INITIALISE = [
    *(
        "tf.constant",
        "tf.zeros",
        "tf.Variable",
        "tf.add",
        "tf.device",
        "tf.io.read_file",
        "tf.random.Generator.from_seed",
    ),
    *("tf.data.Dataset.from_tensor_slices", "tf.data.Dataset.from_generator", "tf.summary.create_file_writer"),
    *("tf.config.list_logical_devices", "tf.config.experimental.get_memory_info", "tf.distribute.MirroredStrategy"),
    *("tf.keras.optimizers.Adam", "tf.keras.metrics.Mean", "tf.random.Generator.from_seed"),
]
LEAVE = [
    *("tf.config.list_physical_devices", "tf.config.set_visible_devices", "tf.config.experimental.set_memory_growth"),
    *(
        "tf.config.run_functions_eagerly",
        "tf.GradientTape",
        "tf.TensorSpec",
        "tf.random.set_seed",
        "tf.io.gfile.exists",
    ),
    *("tf.keras.utils.set_random_seed", "tf.keras.mixed_precision.set_global_policy", "tf.keras.backend.clear_session"),
    *("tf.keras.backend.set_floatx", "tf.keras.layers.Dense", "tf.keras.losses.MeanSquaredError"),
    *("tf.io.gfile.exists", "tf.distribute.get_strategy", "tf.profiler.experimental.start"),
]


@pytest.mark.parametrize("name", INITIALISE)
def test_what_needs_devices_initialises_the_runtime(name):
    assert knowledge.initialises(name) is True


@pytest.mark.parametrize("name", LEAVE)
def test_settings_and_objects_without_tensors_do_not_initialise_it(name):
    assert knowledge.initialises(name) is False


def test_where_keras_versions_differ_it_is_not_known_without_the_version():
    name = "tf.keras.layers.Dropout"
    assert [knowledge.initialises(name, keras) for keras in (0, 3, 2)] == [None, True, False]
    assert knowledge.initialises("tf.no.such") is None


def test_device_makers_are_known_apart():
    assert knowledge.creates_devices("tf.test.is_gpu_available")
    assert not knowledge.creates_devices("tf.config.list_physical_devices")


@pytest.mark.parametrize(
    ("name", "random"),
    [
        ("tf.random.normal", True),
        ("tf.random.stateless_normal", False),
        ("tf.random.shuffle", True),
        ("tf.image.random_flip_left_right", True),
        ("tf.image.stateless_random_flip_left_right", False),
        ("tf.image.resize", False),
        ("tf.data.Dataset.shuffle", True),
        ("tf.data.Dataset.batch", False),
        ("tf.keras.layers.Dropout", True),
        ("tf.keras.layers.RandomFlip", True),
        ("tf.keras.layers.Dense", False),
        ("np.random.rand", True),
        ("np.zeros", False),
        ("np.empty", None),
        ("tf.no.such", None),
    ],
)
def test_what_draws_at_random(name, random):
    assert knowledge.is_random(name) is random


@pytest.mark.parametrize(
    ("name", "kind", "dtype"),
    [
        ("tf.zeros", "", "float32"),
        ("tf.linspace", "int", "float64"),
        ("tf.linspace", "float", "float32"),
        ("tf.range", "int", "int32"),
        ("tf.constant", "float", "float32"),
        ("tf.constant", "np.float64", "float64"),
        ("tf.image.resize", "np.uint8", "float32"),
        ("tf.data.Dataset.range", "", "int64"),
        ("tf.experimental.numpy.ones", "", "float64"),
        ("tf.keras.utils.to_categorical", "", "float64"),
        ("np.zeros", "", "float64"),
        ("np.full", "int", "int64"),
        ("np.full", "float", "float64"),
        ("np.random.randint", "", "int64"),
        ("np.mean", "np.float32", "float32"),
        ("np.mean", "np.uint8", "float64"),
        ("np.no_such", "", None),
    ],
)
def test_default_dtypes(name, kind, dtype):
    assert knowledge.default_dtype(name, kind) == dtype


def test_default_dtypes_of_lists_and_of_keras_2():
    assert knowledge.default_dtype("tf.constant", "np.int64") == "int64"
    assert knowledge.default_dtype("tf.constant", "np.int64", items=True) == "int32"
    assert knowledge.default_dtype("tf.keras.utils.to_categorical", keras=2) == "float32"
    assert knowledge.default_dtype("tf.zeros", keras=2) == "float32"


@pytest.mark.parametrize(
    ("operator", "left", "right", "dtype"),
    [
        ("/", "np.uint8", "float", "float64"),
        ("/", "np.uint8", "int", "float64"),
        ("/", "np.float32", "float", "float32"),
        ("*", "np.float32", "np.float64", "float64"),
        ("-", "np.uint8", "float", "float64"),
        ("//", "np.uint8", "int", "uint8"),
        ("/", "tf.int32", "tf.int32", "float64"),
        ("/", "tf.uint8", "tf.uint8", "float32"),
        ("/", "tf.uint8", "float", None),
        ("+", "tf.float32", "tf.float64", None),
        ("+", "tf.float32", "np.float64", "float32"),
        ("+", "np.float64", "tf.float32", "float32"),
        ("*", "float", "np.int16", "float64"),
    ],
)
def test_dtypes_of_arithmetic(operator, left, right, dtype):
    assert knowledge.result_dtype(operator, left, right) == dtype


OPERATORS = {
    "+": "Add",
    "-": "Subtract",
    "*": "Multiply",
    "/": "Divide",
    "//": "FloorDivide",
    "%": "Modulo",
    "**": "Power",
}
OPERANDS = {
    "int": Const(2),
    "float": Const(2.0),
    **{f"np.{d}": Array("np", d, (2,)) for d in INTEGERS | FLOATS if d not in ("bool", "bfloat16")},
    **{f"tf.{d}": Array("tf", d, (2,)) for d in INTEGERS | FLOATS if d != "bool"},
}


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_model_calculates_dtypes_as_they_were_probed(operator):
    different = {}
    for (left, a), (right, b) in itertools.product(OPERANDS.items(), repeat=2):
        found = knowledge.result_dtype(operator, left, right)
        if found is None or not (isinstance(a, Array) or isinstance(b, Array)):
            continue
        modelled = array_binary(OPERATORS[operator], a, b)
        if isinstance(modelled, Array) and modelled.dtype not in (None, found):
            different[left, right] = (modelled.dtype, found)
    assert different == {}


def test_optimizers_keep_slots():
    assert knowledge.optimizer_slots("tf.keras.optimizers.Adam") == 2
    assert knowledge.optimizer_slots("tf.keras.optimizers.Adam", "amsgrad") == 3
    assert knowledge.optimizer_slots("tf.keras.optimizers.SGD") == 0
    assert knowledge.optimizer_slots("tf.keras.optimizers.SGD", "momentum", "use_ema") == 2
    assert knowledge.optimizer_slots("tf.keras.optimizers.SGD", keras=2) == 1
    assert knowledge.optimizer_slots("tf.keras.layers.Dense") is None


@pytest.mark.parametrize(
    ("layer", "weights"),
    [
        *(
            (name, True)
            for name in ("Dense", "Conv2D", "Embedding", "BatchNormalization", "LSTM", "MultiHeadAttention")
        ),
        *((name, False) for name in ("Flatten", "Dropout", "Reshape", "Activation", "MaxPooling2D", "Normalization")),
        ("NoSuch", None),
    ],
)
def test_layers_with_weights(layer, weights):
    assert knowledge.bears_weights(f"tf.keras.layers.{layer}") is weights


def test_functions_that_return_objects_of_a_class():
    assert knowledge.returns_class("tf.keras.models.load_model") == "tf.keras.Model"
    assert knowledge.returns_class("tf.keras.applications.ResNet50") == "tf.keras.Model"
    assert knowledge.returns_class("tf.keras.utils.image_dataset_from_directory") == "tf.data.Dataset"
    assert knowledge.returns_class("tf.keras.Model.fit") == "tf.keras.callbacks.History"
    assert knowledge.returns_class("tf.keras.metrics.get") is None


def test_sizes_of_bundled_models_and_data():
    resnet, inception = (knowledge.application(f"tf.keras.applications.{n}") for n in ("ResNet50", "InceptionV3"))
    assert resnet == knowledge.Application(25_636_712, 23_587_712, 2048, 32)
    assert inception == knowledge.Application(23_851_784, 21_802_784, 2048, 0)
    assert knowledge.application("tf.keras.applications.imagenet_utils") is None
    train, test = knowledge.bundled_dataset("cifar10") or ((), ())
    assert train == (("uint8", (50000, 32, 32, 3)), ("uint8", (50000, 1)))
    assert test[0] == ("uint8", (10000, 32, 32, 3))
    assert knowledge.bundled_dataset("iris") is None


@pytest.mark.parametrize(
    ("name", "broadcast"),
    [
        ("tf.add", True),
        ("tf.multiply", True),
        ("tf.where", None),
        ("np.maximum", True),
        ("tf.matmul", None),
        ("np.dot", None),
        ("tf.nn.sigmoid_cross_entropy_with_logits", False),
    ],
)
def test_which_operations_broadcast(name, broadcast):
    assert knowledge.broadcasts(name) is broadcast


# -- the tables ------------------------------------------------------------------------------------------------------


def test_tables_have_one_entry_a_line_in_order():
    for path in sorted(FOLDER.glob("*.json")):
        lines = path.read_text(encoding="utf-8").splitlines()
        table = json.loads(path.read_text(encoding="utf-8"))
        assert list(table) == sorted(table), path.name
        if path.stem != "documented_calls":  # what people write has a line for each call
            assert len(lines) == len(table) + 2, path.name


def test_groups_of_calls_are_in_order_and_say_where_they_are_from():
    for name, table in json.loads((FOLDER / "documented_calls.json").read_text(encoding="utf-8")).items():
        assert table["what"] and table["from"], name
        calls = [*table["calls"]]
        assert len(set(calls)) == len(calls), name
        assert isinstance(table["calls"], dict) or calls == sorted(calls), name


def test_importing_reads_no_table():
    code = """
import pathlib
read = []
original = pathlib.Path.read_bytes
pathlib.Path.read_bytes = lambda path: (read.append(path.name), original(path))[1]
from tfmemlint import knowledge
before = list(read)
knowledge.is_class("tf.GradientTape")
print(before, read)
"""
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert done.stdout.split("\n")[0] == "[] ['classes.json']"


@pytest.mark.parametrize("part", ["no-such-part"])
def test_an_unknown_part_is_refused(part, capsys):
    with pytest.raises(SystemExit) as stopped:
        run.main([part])
    assert stopped.value.code == 2
    assert "no such part: no-such-part; choose from names" in capsys.readouterr().err


def test_a_probe_that_fails_says_so_and_writes_nothing(tmp_path, monkeypatch, capsys):
    def fail(part):
        raise run.ProbeError(f"the probe of {part} failed")

    monkeypatch.setattr(run, "probe", fail)
    assert run.main(["names", "--output", str(tmp_path)]) == 2
    assert "the probe of names failed" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


# -- drift: the tables against the installed TensorFlow --------------------------------------------------------------


def each_its_day(number):
    """On one of two days: what is compared changes with the installed TensorFlow only."""
    return pytest.mark.skipif(not is_today(number, 2), reason="it is tried on another day")



@pytest.mark.tensorflow
@each_its_day(0)
def test_names_are_those_of_the_installed_libraries(tmp_path):
    for name, table in run.probe("names").items():
        run.write(tmp_path / f"{name}.json", table)
        assert (tmp_path / f"{name}.json").read_bytes() == (FOLDER / f"{name}.json").read_bytes(), name


# -- groups of calls -------------------------------------------------------------------------------------------------

GROUPS = json.loads((FOLDER / "documented_calls.json").read_text())
HOLD_MODULES = {"adds_no_op", "runs_no_op"}
"""Groups of what begins with the name of a module, also of TensorFlow 1's."""
RETIRED = ("tf.estimator.", "tf.compat.v1.estimator.", "tf.keras.wrappers.")
"""What TensorFlow had until 2.15, 2.15 and 2.11."""
UNSEEN = {
    "np.lib.format.open_memmap", "tf.keras.utils.Sequence.__init__", "tf.contrib.eager.enable_eager_execution",
}  # fmt: skip
"""Names that the probe does not see: of a module that is not public, inherited from `object` in Keras 3, and of what
TensorFlow 1 had beside itself."""


@pytest.mark.parametrize("name", GROUPS)
def test_groups_hold_canonical_names_and_say_why(name):
    assert GROUPS[name]["what"] and GROUPS[name]["from"]
    for call, parameters in knowledge.group_parameters(name).items():
        assert knowledge.canonical(call) == call or "." not in call  # the word of a method
        signature = knowledge.signature(call)
        assert all(signature is not None and each in signature.names for each in parameters), call
        ours = call.startswith(("tf.", "np.")) and not call.endswith(".") and not call.startswith(RETIRED)
        assert not ours or name in HOLD_MODULES or call in UNSEEN or knowledge.exists(call), f"{call} is misspelt"


@pytest.mark.parametrize(
    ("call", "name", "belongs"),
    [
        ("tf.tile", "tiles", True),
        ("tf.zeros", "tiles", False),
        (None, "tiles", False),
        ("matplotlib.pyplot.imshow", "shows", True),
        ("matplotlib", "shows", False),
        ("np.reshape", "gives_same", True),
        ("np.copyto", "gives_same", False),
        ("append", "changes_object", True),
    ],
)
def test_calls_belong_to_groups(call, name, belongs):
    assert knowledge.in_group(call, name) is belongs


@pytest.mark.parametrize(
    ("name", "tensor"),
    [
        ("tf.cos", True),
        ("tf.nn.top_k", True),
        ("tf.keras.losses.huber", True),
        ("tf.keras.layers.Dense.__call__", True),
        ("tf.keras.losses.Huber.__call__", True),
        ("tf.TensorArray.write", True),
        ("tf.TensorArray.size", False),
        ("tf.linalg.LinearOperator.trace", False),
        ("tf.keras.losses.Huber", False),
        ("tf.Variable", False),
        ("tf.GradientTape.watch", False),
        ("np.cos", False),
    ],
)
def test_which_calls_give_tensors(name, tensor):
    assert knowledge.gives_tensor(name) is tensor


@pytest.mark.parametrize(
    ("layer", "holds"), [("Dense", True), ("Normalization", True), ("Dropout", False), ("Layer", None)]
)
def test_which_layers_hold_variables(layer, holds):
    assert knowledge.holds_variables(f"tf.keras.layers.{layer}") is holds


def test_rule_packs_add_calls_to_groups(monkeypatch):
    monkeypatch.setattr(groups, "_added", {})
    knowledge.add_to_group("takes_arrays", "mine.upload", "data")
    assert knowledge.in_group("mine.upload", "takes_arrays")
    assert knowledge.group_parameters("takes_arrays")["mine.upload"] == ("data",)
    assert "tf.constant" in knowledge.group("takes_arrays")
    with pytest.raises(KeyError):
        knowledge.add_to_group("no_such_group", "mine.upload")
    groups.group.cache_clear()


@pytest.mark.tensorflow
@pytest.mark.parametrize("part", share(["dtypes", "shapes"], 2))
def test_dtypes_and_shapes_are_those_of_the_installed_libraries(part):
    """Of another version than that of the tables a few functions may not be there."""
    for name, table in run.probe(part).items():
        known = json.loads((FOLDER / f"{name}.json").read_text())
        assert table.items() <= known.items(), name
        assert len(table) > 0.9 * len(known), name


@pytest.mark.tensorflow
@each_its_day(0)
def test_a_sample_of_effects_is_that_of_the_installed_libraries():
    known = json.loads((FOLDER / "effects.json").read_text())
    sample = [
        *INITIALISE,
        *LEAVE,
        "tf.keras.layers.Dropout",
        "tf.random.normal",
        "tf.keras.models.load_model",
    ]
    found = run.probe("effects", *sample)["effects"]
    assert found == {name: known[name] for name in sample}


@pytest.mark.tensorflow
@each_its_day(1)
def test_a_sample_of_keras_is_that_of_the_installed_libraries():
    sample = [f"tf.keras.{name}" for name in ("optimizers.Adam", "optimizers.SGD", "layers.Dense", "layers.Dropout")]
    found = {**run.probe("keras", *sample), **run.probe("applications", "tf.keras.applications.MobileNet")}
    for name, table in found.items():
        known = json.loads((FOLDER / f"{name}.json").read_text())
        assert table == {key: known[key] for key in table}, name
        assert table, name
