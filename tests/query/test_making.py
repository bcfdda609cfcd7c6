"""What makes models for itself, and what makes layers or trains."""

import libcst as cst
import pytest
from programs import model_of, value_in

from tfmemlint.query.keras.making import makes_layers, makes_own_model, may_be_loaded, trains, trains_own_model

MODEL = "m = keras.Sequential()\n    "

FUNCTIONS = [
    (MODEL + "m.fit(x)", True),
    (MODEL + "m.fit(x)\n    return m", False),
    (MODEL + "m.fit(x)\n    return m.evaluate(x)", True),
    (MODEL + "m.fit(x)\n    kept.append(m)", False),
    (MODEL + "m.count_params()", False),
    ("m = make()\n    m.fit(x)", False),
]


@pytest.mark.parametrize(("body", "expected"), FUNCTIONS)
def test_functions_that_train_a_model_of_their_own(body: str, expected: bool) -> None:
    file = model_of(f"kept = []\ndef f():\n    {body}\nprobe(f)")
    assert trains_own_model(file, value_in(file)) is expected


CLASS = "class A:\n    def __init__(self):\n        self.m = keras.Sequential()\n    def run(self): pass\nkept = []\n"
VIEW = (
    "class A:\n    def __init__(self, net):\n        self.net = net\n        self.own = unknown()\n"
    "        self.m = keras.Model({})\n    def run(self): pass\nfor i in n:\n    a = A(b)\n    a.run()"
)

OBJECTS = [
    (CLASS + "for i in n:\n    a = A()\n    a.run()", True),
    (CLASS + "for i in n:\n    a = A()\n    kept.append(a)", False),
    (CLASS + "for i in n:\n    A()", False),
    (VIEW.format("net.inputs, net.get_layer('b').output"), False),
    (VIEW.format("inputs=net.inputs, outputs=[net.layers[2].output, net.output]"), False),
    (VIEW.format("self.net.inputs, self.net.output"), False),
    (VIEW.format("self.own.inputs, self.own.output"), True),
    (VIEW.format("net.inputs, keras.layers.Dense(3)(net.output)"), True),
    (CLASS.replace("keras.Sequential()", "3") + "for i in n:\n    a = A()\n    a.run()", False),
]


@pytest.mark.parametrize(("program", "expected"), OBJECTS)
def test_objects_that_make_a_model_for_themselves(program: str, expected: bool) -> None:
    file = model_of(program)
    call = file.call(file.calls_by_word["A"][0])
    assert makes_own_model(file, call, call.target, file.tree.of(cst.For)[0]) is expected


LAYERS = [
    ("m = keras.Model(a, b)", False),
    ("m = keras.Model(a, keras.layers.Dense(3)(b))", True),
    ("m = keras.Model(a, keras.applications.ResNet50()(b))", True),
    ("def f(): pass\nm = keras.Model(a, f())", True),
    ("m = keras.Model(a, keras.layers.deserialize(c))", False),
    ("m = keras.Model(a, unknown())", False),
]


@pytest.mark.parametrize(("program", "expected"), LAYERS)
def test_layers_are_made_beside_a_model(program: str, expected: bool) -> None:
    file = model_of(program)
    model = file.call(file.calls_by_word["Model"][0])
    assert makes_layers(file, file.module, besides=model) is expected


def test_loaded_models_are_told_from_those_that_are_built() -> None:
    loaded = "m = keras.models.load_model('m.keras') if c else keras.Sequential()\nm"
    assert [may_be_loaded(value_in(model_of(program))) for program in (loaded, "keras.Sequential()")] == [True, False]


def test_calls_that_train() -> None:
    file = model_of("m.fit(x)\nm.predict(x)")
    assert [trains(file.call(file.calls_by_word[word][0])) for word in ("fit", "predict")] == [True, False]
