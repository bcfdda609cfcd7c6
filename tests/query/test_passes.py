"""How often a program goes over a pipeline: that of the first `cache()`."""

import pytest
from programs import model_of

from tfmemlint.query.pipelines.passes import gone_over_once

DS = "ds = tf.data.Dataset.from_tensor_slices(rows).map(f).cache()\n"
MAKE = "def make(rows, keep=True):\n    ds = tf.data.Dataset.from_tensor_slices(rows)\n"
MAKE += "    ds = ds.cache() if keep else ds\n    if keep:\n        ds = ds.shuffle(9)\n    return ds.batch(2)\n"

ONCE = [
    (DS + "for x in ds:\n    print(x)", True),
    (DS + "for i, x in enumerate(ds.batch(2).take(9)):\n    print(x)", True),
    (DS + "xs = [x for x in ds]", True),
    (DS + "first = next(iter(ds.take(9)))", True),
    (DS + "print(len(ds), type(ds), ds.element_spec)\nfor x in ds.as_numpy_iterator():\n    print(x)", True),
    (DS + "model.fit(ds)", True),
    (DS + "model.fit(ds, epochs=1)", True),
    (DS + "model.evaluate(ds.batch(2))", True),
    (DS + "def show(data):\n    for x in data:\n        print(x)\nshow(ds)", True),
    (MAKE + "for x in make(a):\n    print(x)\nmodel.predict(make(b))", True),
    (MAKE + "train = make(a)\nnext(iter(train.take(9)))\nvalid = make(b, False)\nfor x in valid:\n    print(x)", True),
    (MAKE + "for fold in folds:\n    for x in make(fold):\n        print(x)", True),
    # Twice, or nobody knows.
    (DS, False),
    (DS + "print(len(ds))", False),
    (DS + "for epoch in range(9):\n    for x in ds:\n        print(x)", False),
    (DS + "for x in ds:\n    print(x)\nfor x in ds:\n    print(x)", False),
    (DS + "for x in ds.repeat():\n    print(x)", False),
    (DS + "model.fit(ds, epochs=2)", False),
    (DS + "model.fit(ds, epochs=epochs)", False),
    (DS + "model.fit(ds, **options)", False),
    (DS + "model.fit(other, validation_data=ds)", False),
    (DS + "train(model, ds)", False),
    (DS + "self.ds = ds\nfor x in self.ds:\n    print(x)", False),
    (DS + "def show(data):\n    for x in data:\n        print(x)\nshow(ds)\nshow(ds)", False),
    (DS + "def show():\n    for x in ds:\n        print(x)\nfor epoch in range(9):\n    show()", False),
    (MAKE + "train = make(a)\nfor x in train:\n    print(x)\nfor x in train:\n    print(x)", False),
    (MAKE + "train = make(a)\nmodel.fit(train, epochs=9)\nmodel.evaluate(make(b))", False),
    (MAKE, False),
]


@pytest.mark.parametrize(("program", "expected"), ONCE)
def test_pipelines_that_are_gone_over_once(program: str, expected: bool) -> None:
    file = model_of(program)
    assert gone_over_once(file, file.call(file.calls_by_word["cache"][0])) is expected
