"""Programs of any size, each with much of one thing: what a doubled program costs tells how the cost grows.

Every shape takes a number and gives the text of a program that holds so many of its thing. `size` is a number
that is linted in less than a tenth of a second or so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

HEADER = "import numpy as np\nimport tensorflow as tf\n"


@dataclass(frozen=True)
class Shape:
    """One way to grow: `make(n)` is a program with `n` of something, to be read under the name `path`."""

    make: Callable[[int], str]
    size: int
    path: str = "a.py"


SHAPES: dict[str, Shape] = {}


def shape(size: int, path: str = "a.py") -> Callable[[Callable[[int], str]], Callable[[int], str]]:
    """Puts a maker of programs into the table, under its own name."""

    def put(make: Callable[[int], str]) -> Callable[[int], str]:
        SHAPES[make.__name__] = Shape(make, size, path)
        return make

    return put


def numbered(template: str, count: int, header: str = HEADER) -> str:
    """A header and the template so many times; `$` stands for the number, `$<` for the one before, `$>` the next."""
    lines = [
        template.replace("$<", str(max(i - 1, 0))).replace("$>", str(i + 1)).replace("$", str(i)) for i in range(count)
    ]
    return header + "".join(lines)


# -- functions and names -----------------------------------------------------------------------------------------------


@shape(16)
def training_functions(n: int) -> str:
    """Functions that share their local names."""
    return numbered(
        """
def train_$(epochs, images, labels):
    model = tf.keras.Sequential([tf.keras.layers.Dense(128, activation="relu"), tf.keras.layers.Dense(10)])
    ds = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(1000).batch(32).prefetch(2)
    optimizer = tf.keras.optimizers.Adam()
    losses = []
    for epoch in range(epochs):
        for x, y in ds:
            with tf.GradientTape() as tape:
                out = model(x, training=True)
                loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, out))
            grads = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables))
            losses.append(float(loss))
    return model, losses
""",
        n,
    )


@shape(60)
def early_returns(n: int) -> str:
    """A function with ever more conditions that leave it before what it computes."""
    body = numbered("    if a == $:\n        return x\n    z$ = x / 255.0\n    w$ = tf.convert_to_tensor(z$)\n", n, "")
    return f"{HEADER}def f(x, a=0):\n{body}    return x\nf(np.zeros(3, np.uint8))\nf(np.zeros(4), 2)\n"


@shape(24)
def branches_that_calls_decide(n: int) -> str:
    """Functions that hand on a setting, each of which asks for it."""
    return numbered(
        "def f$(x, deep=False):\n    y = x / 255.0\n    if deep:\n        y = f$>(y, deep)\n    return y\n", n
    ) + f"def f{n}(x, deep):\n    return x\nf0(np.zeros((4, 4), np.uint8), True)\nf0(np.zeros(3), False)\n"


@shape(24)
def objects_that_make_the_next(n: int) -> str:
    """Classes whose constructors make an object of the next, with what they were given."""
    return numbered(
        """
class C$:
    def __init__(self, size, net=None):
        self.size = size
        self.net = net
        self.inner = C$>(size * 2, net) if size else None

    def run(self, x):
        return self.inner.run(x) if self.net is None else self.net(x) / self.size
""",
        n,
    ) + f"class C{n}:\n    def __init__(self, size, net):\n        self.size = size\nC0(4).run(np.zeros(3))\n"


@shape(60)
def functions_calling_the_next(n: int) -> str:
    return numbered("def f$(x):\n    return f$>(x) + tf.ones([3])\n", n)


@shape(60)
def functions_calling_the_one_before(n: int) -> str:
    return numbered("def f$(x):\n    y = tf.zeros([3])\n    return f$<(x + 1) + y\n", n) + f"print(f{n - 1}(1))\n"


@shape(24)
def functions_calling_the_one_before_twice(n: int) -> str:
    template = "def f$(x):\n    return f$<(x) + f$<(x + 1)\n"
    return numbered(template, n).replace("f0(x) + f0(x + 1)", "tf.zeros([3])", 1) + f"y = f{n - 1}(1)\n"


@shape(40)
def dictionaries_of_one_name(n: int) -> str:
    """Functions that each fill a dictionary by its keys and loop over it."""
    return numbered(
        "def f$(model):\n    found = {}\n    found['a'] = tf.ones([$])\n    found['b'] = tf.ones([3])\n"
        "    kept = []\n    for name, x in found.items():\n        kept.append(model(x))\n    return kept\n",
        n,
    )


@shape(40)
def keywords_passed_on(n: int) -> str:
    """Functions that call each other with `**options`."""
    return numbered(
        "def f$(x, options):\n    y = f$>(x, **options)\n    options.get('deep')\n    return y + tf.ones([3])\n", n
    )



@shape(60)
def one_function_called_often(n: int) -> str:
    return HEADER + "def f(x):\n    return tf.zeros([3]) + x\n" + numbered("y$ = f($)\n", n, "")


@shape(200)
def calls_of_a_function_that_is_as_long(n: int) -> str:
    """What a function does happens again at each of its calls."""
    body = numbered("    x = x + $\n", n, HEADER + "def f(x):\n")
    return numbered("f($)\n", n, f"{body}    return x\n") + "tf.config.set_visible_devices([], 'GPU')\n"


@shape(50)
def traced_functions(n: int) -> str:
    template = "@tf.function\ndef step$(x, y):\n    z = tf.matmul(x, y)\n    return tf.reduce_sum(z)\nstep$(1, 2)\n"
    return numbered(template, n)


@shape(60)
def nested_functions(n: int) -> str:
    """Functions that each hold one more, whose names they close over."""
    return numbered(
        "def outer$(x):\n    y = tf.zeros([2])\n    def inner(z):\n        return x + y + z\n    return inner(y)\n", n
    )


@shape(60)
def lambdas(n: int) -> str:
    return numbered("f$ = lambda x: x + tf.ones([$])\nds$ = tf.data.Dataset.range(9).map(f$)\n", n)


@shape(100)
def global_names(n: int) -> str:
    return numbered(
        "count$ = 0\ndef add$(x):\n    global count$, total\n    count$ += 1\n    total = tf.add(x, count$)\n", n
    )


@shape(100)
def one_global_name(n: int) -> str:
    """A name of the module that every function sets and reads."""
    return numbered("def add$(x):\n    global total\n    total = tf.add(x, total)\n", n, HEADER + "total = 0\n")


@shape(100)
def nonlocal_names(n: int) -> str:
    body = numbered("    v$ = 0\n    def f$(x):\n        nonlocal v$\n        v$ = tf.add(x, v$)\n", n, "")
    return HEADER + "def outer(x):\n" + body


@shape(80)
def imports(n: int) -> str:
    return numbered(
        "import tensorflow as tf$\nfrom tensorflow.keras import layers as l$\nx$ = tf$.zeros([3])\ny$ = l$.Dense(3)\n",
        n,
    )


@shape(300)
def names_one_behind_another(n: int) -> str:
    return numbered("x$> = x$\n", n, HEADER + "x0 = tf.zeros([4])\n") + f"print(x{n})\n"


@shape(200)
def tensors(n: int) -> str:
    return numbered("x$ = tf.zeros([$])\n", n)


@shape(60)
def variables_of_a_script(n: int) -> str:
    template = "w$ = tf.Variable(tf.zeros([$, 4]))\nb$ = tf.matmul(w$, w$<, transpose_b=True)\nprint(b$)\n"
    return numbered(template, n)



@shape(200)
def tensors_in_a_function(n: int) -> str:
    return numbered("    x$ = tf.zeros([$])\n", n, HEADER + "def f():\n")


@shape(150)
def assigned_and_deleted(n: int) -> str:
    return numbered("x$ = tf.zeros([$])\ndel x$\n", n)


@shape(150)
def one_name_assigned_and_deleted(n: int) -> str:
    return numbered("x = tf.zeros([$])\ndel x\n", n)


@shape(200)
def one_name_reassigned(n: int) -> str:
    return numbered("x = x + tf.ones([3])\n", n, HEADER + "x = tf.zeros([3])\n") + "print(x)\n"


@shape(100)
def parameters_of_one_function(n: int) -> str:
    names = ", ".join(f"p{i}" for i in range(n))
    body = "".join(f"    y{i} = tf.add(p{i}, {i})\n" for i in range(n))
    return f"{HEADER}def f({names}):\n{body}f({', '.join(map(str, range(n)))})\n"


@shape(150)
def literal_of_many_items(n: int) -> str:
    rows = "".join(f"    [{i}, {i}, 'a', 1.5],\n" for i in range(n))
    return f"{HEADER}X = [\n{rows}]\nds = tf.data.Dataset.from_tensor_slices(X).batch(3)\n"


@shape(100)
def keys_of_a_dictionary(n: int) -> str:
    return HEADER + "d = {}\n" + numbered("d['k$'] = tf.zeros([$])\ny$ = d['k$'] + 1\n", n, "")


@shape(100)
def dotted_names(n: int) -> str:
    return HEADER + "a = make()\n" + numbered("a.b$ = tf.zeros([$])\ny$ = a.b$ + 1\n", n, "")


@shape(40)
def dotted_names_taken_back(n: int) -> str:
    """Each binding of the name makes those below it unknown."""
    return HEADER + numbered("a = make()\na.b$ = tf.zeros([$])\na.c$.d = a.b$ + 1\n", n, "")


# -- control flow ------------------------------------------------------------------------------------------------------


@shape(100)
def branches_joined(n: int) -> str:
    body = numbered("    if a > $:\n        x = tf.ones([$, 4])\n    y$ = x + 1\n", n, "")
    return HEADER + "def f(a):\n    x = tf.zeros([3])\n" + body + "    return x\n"


@shape(60)
def branches_on_many_names(n: int) -> str:
    return numbered("if a > $:\n    x$ = tf.ones([$, 4])\nelse:\n    x$ = tf.ones([4])\nprint(x$)\n", n)


@shape(60)
def elifs(n: int) -> str:
    return (
        HEADER
        + "if a:\n    x = tf.zeros([1])\n"
        + numbered("elif a == $:\n    x = tf.ones([$, 4])\n    y$ = x\n", n, "")
        + "print(x)\n"
    )


@shape(60)
def cases(n: int) -> str:
    return HEADER + "match a:\n" + numbered("    case $:\n        x$ = tf.ones([$, 4])\n", n, "") + "print(x1)\n"


@shape(60)
def tries(n: int) -> str:
    return numbered(
        "try:\n    x$ = tf.zeros([$])\nexcept ValueError as error:\n    x$ = None\n    y = error\nprint(x$)\n", n
    )


@shape(60)
def loops_with_shared_names(n: int) -> str:
    return numbered("for i in range(10):\n    x = tf.zeros([i])\n    y = x + $\n", n)


@shape(60)
def loops_with_their_own_names(n: int) -> str:
    return numbered("for i$ in range(10):\n    x$ = tf.zeros([i$])\n    y$ = x$ + $\n", n)


@shape(24)
def loops_in_one_function(n: int) -> str:
    body = numbered("    for i in range(n):\n        acc.append(m(tf.zeros([i])))\n        z$ = tf.ones([2])\n", n, "")
    return HEADER + "def f(n, ds):\n    acc = []\n    m = tf.keras.Sequential([])\n" + body + "    return acc\n"


@shape(8)
def loops_in_each_other(n: int) -> str:
    """Functions with loops eight deep."""
    loops = "".join(
        f"{'    ' * i}for i{i} in range(n):\n{'    ' * (i + 1)}x.append(tf.zeros([i{i}]))\n" for i in range(1, 9)
    )
    return numbered("def f$(n):\n    x = []\n" + loops, n)


@shape(40)
def values_growing_in_a_loop(n: int) -> str:
    return HEADER + "x = []\nfor i in range(10):\n" + "    x = x + [x]\n" * n + "tf.constant(x)\n"


@shape(40)
def tuples_growing_in_a_loop(n: int) -> str:
    return HEADER + "x = ()\nfor i in items:\n" + "    x = x + (i,)\n" * n + "y = tf.constant(x)\n"


@shape(40)
def strings_growing(n: int) -> str:
    return HEADER + "x = 'a'\n" + "x = x + x\n" * n + "y = tf.constant(x)\n"


@shape(60)
def comprehensions(n: int) -> str:
    return numbered("x$ = [tf.zeros([i]) for i in range($)]\n", n)


@shape(240)  # up to 100 definitions of a name are told apart, so that fewer cost less than their share
def while_loops(n: int) -> str:
    return numbered(
        "while x < $:\n    x = x + 1\n    y = tf.zeros([x])\n    if y:\n        break\n", n, HEADER + "x = 0\n"
    )


# -- values ------------------------------------------------------------------------------------------------------------


@shape(40)
def zips_of_zips(n: int) -> str:
    lines = "ds = tf.data.Dataset.zip((ds, ds))\n" * n
    return HEADER + "ds = tf.data.Dataset.range(10)\n" + lines + "for x in ds.batch(4).prefetch(1):\n    print(x)\n"


@shape(40)
def concatenations(n: int) -> str:
    return (
        HEADER
        + "ds = tf.data.Dataset.range(10).batch(2)\n"
        + "ds = ds.concatenate(ds)\n" * n
        + "print(ds.cache().batch(3))\n"
    )


@shape(40)
def tuples_of_tuples(n: int) -> str:
    return (
        HEADER + "x = (1.0, 2.0)\n" + "x = (x, x)\n" * n + "y = tf.constant(x)\nds = tf.data.Dataset.from_tensors(x)\n"
    )


@shape(40)
def arrays_in_tuples(n: int) -> str:
    lines = "x = (x, x)\n" * n
    return HEADER + "x = np.zeros([100, 3])\n" + lines + "ds = tf.data.Dataset.from_tensor_slices(x).batch(9)\n"


@shape(40)
def dictionaries_of_dictionaries(n: int) -> str:
    return (
        HEADER
        + "x = {'a': np.zeros([5])}\n"
        + "x = {'a': x, 'b': x}\n" * n
        + "ds = tf.data.Dataset.from_tensor_slices(x)\n"
    )


@shape(40)
def alternatives(n: int) -> str:
    return (
        HEADER
        + "x = np.zeros([5])\n"
        + "x = (x, x) if a else (x, 1)\n" * n
        + "ds = tf.data.Dataset.from_tensor_slices(x)\n"
    )


@shape(40)
def repeated_lists(n: int) -> str:
    return HEADER + "x = [np.zeros([5])]\n" + "x = x * 3\n" * n + "ds = tf.data.Dataset.from_tensor_slices(x)\n"


@shape(40)
def lists_added(n: int) -> str:
    return HEADER + "x = [1.5]\n" + "x = x + x\n" * n + "y = tf.constant(x)\n"


@shape(36)
def mapped_pairs(n: int) -> str:
    return (
        HEADER
        + "ds = tf.data.Dataset.range(10)\n"
        + "ds = ds.map(lambda *x: (x, x))\n" * n
        + "for x in ds.batch(3):\n    print(x)\n"
    )


@shape(100)
def operands(n: int) -> str:
    return HEADER + "x = np.zeros([9], 'float64')\ny = " + " + ".join(["x"] * n) + "\nz = tf.constant(y)\n"


@shape(150)
def origins_mixed(n: int) -> str:
    """Arrays of many calls mixed by arithmetic."""
    return numbered("y = y + np.random.rand(4)\n", n, HEADER + "y = np.zeros([4])\n") + "z = tf.constant(y)\n"


# -- classes -----------------------------------------------------------------------------------------------------------


@shape(14)
def model_classes(n: int) -> str:
    return numbered(
        """
class Net$(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.dense = tf.keras.layers.Dense(units)
        self.out = tf.keras.layers.Dense(10)
        self.history = []

    def call(self, x, training=False):
        h = self.dense(x)
        h = tf.nn.relu(h)
        return self.out(h)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            p = self(x, training=True)
            loss = tf.reduce_mean(tf.square(p - y))
        g = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(g, self.trainable_variables))
        return loss

    def run(self, ds):
        for x, y in ds:
            self.history.append(float(self.step(x, y)))
""",
        n,
    )


@shape(60)
def methods_of_one_class(n: int) -> str:
    methods = numbered(
        """
    def m$>(self, x, n):
        y = self.m$(x, n)
        for i in range(n):
            y = tf.concat([y, x], 0)
            self.last = y
        return self.dense(y)
""",
        n,
        "",
    )
    return HEADER + "class A(tf.keras.Model):\n    def m0(self, x, n):\n        return x\n" + methods


@shape(120)
def attributes_of_one_class(n: int) -> str:
    made = numbered("        self.x$ = tf.zeros([$])\n", n, "")
    read = numbered("        y$ = self.x$ + x\n", n, "")
    return HEADER + "class A(tf.keras.Model):\n    def __init__(self):\n" + made + "    def call(self, x):\n" + read


@shape(40)
def classes_in_diamonds(n: int) -> str:
    classes = numbered("class L$>(A$, B$):\n    pass\nclass A$>(L$>):\n    pass\nclass B$>(L$>):\n    pass\n", n, "")
    base = "class A0(tf.keras.Model):\n    pass\nclass B0(A0):\n    pass\n"
    return HEADER + base + classes + f"x = A{n}()\nx.fit(1)\nx.y\n"


@shape(150)
def classes_in_a_chain(n: int) -> str:
    use = f"x = A{n}()\nx.step(1)\nx.y\n"
    return (
        numbered(
            "class A$>(A$):\n    def m$(self, x):\n        return self.w + x\n",
            n,
            HEADER + "class A0(tf.keras.Model):\n    pass\n",
        )
        + use
    )


@shape(100)
def classes_of_one_base(n: int) -> str:
    base = "class Base(tf.keras.layers.Layer):\n    def __init__(self, units):\n        self.units = units\n"
    return numbered(
        "class A$(Base):\n    def call(self, x):\n        return tf.zeros([self.units])\na$ = A$($)\n", n, HEADER + base
    )


@shape(60)
def dataclasses(n: int) -> str:
    template = "@dataclass\nclass C$:\n    a: int = 1\n    b: float = 2.0\nc$ = C$($)\nx$ = tf.zeros([c$.a])\n"
    return numbered(template, n, HEADER + "from dataclasses import dataclass\n")


@shape(100)
def fields_of_a_dataclass(n: int) -> str:
    fields = numbered("    f$: int = $\n", n, "")
    uses = numbered("x$ = tf.zeros([c.f$])\n", n, "")
    return HEADER + "from dataclasses import dataclass\n@dataclass\nclass C:\n" + fields + "c = C()\n" + uses


@shape(100)
def objects_of_one_class(n: int) -> str:
    return (
        HEADER
        + "class A:\n    def __init__(self, n):\n        self.n = n\n"
        + numbered("a$ = A($)\nx$ = tf.zeros([a$.n])\n", n, "")
    )


# -- TensorFlow --------------------------------------------------------------------------------------------------------


@shape(24)
def methods_of_one_name(n: int) -> str:
    """Classes whose methods have the same names, keep what they compute and call each other."""
    return numbered(
        """
class Net$:
    def __init__(self, model):
        self.model, self.kept, self.step = model, [], tf.function(self.run)

    def run(self, x):
        self.last = self.model(x)
        self.kept.append(self.last)
        return self.score(x)

    def score(self, x):
        self.best = tf.reduce_max(self.last)
        return self.best - tf.reduce_mean(x)

    def train(self, data):
        self.kept = []
        for x in data:
            self.kept.append(self.step(x))
            self.score(x)
""",
        n,
    )



@shape(40)
def persistent_tapes(n: int) -> str:
    return numbered(
        "def f$(x):\n    with tf.GradientTape(persistent=True) as tape:\n        y = x * x\n"
        "    return tape.gradient(y, x)\n",
        n,
    )


@shape(60)
def tapes_in_one_with(n: int) -> str:
    items = ", ".join(f"tf.GradientTape() as t{i}" for i in range(n))
    return f"{HEADER}def f(x):\n    with {items}:\n        y = x * x\n" + numbered(
        "    g$ = t$.gradient(y, x)\n", n, ""
    )


@shape(30)
def tapes_in_one_function(n: int) -> str:
    body = "    with tf.GradientTape(persistent=True) as tape:\n        y$ = x * x\n    g$ = tape.gradient(y$, x)\n"
    return HEADER + "def f(x):\n" + numbered(body, n, "")


@shape(40)
def statements_in_one_tape(n: int) -> str:
    body = numbered("        y$> = y$ * x + 1\n        print(y$)\n", n, "        y0 = x\n")
    return f"{HEADER}def f(x):\n    with tf.GradientTape() as tape:\n{body}    return tape.gradient(y{n}, x)\n"


@shape(60)
def gradients_of_one_tape(n: int) -> str:
    body = numbered("    g$ = tape.gradient(y, w$)\n", n, "")
    return f"{HEADER}def f(x):\n    with tf.GradientTape(persistent=True) as tape:\n        y = x * x\n{body}"


@shape(40)
def steps_of_one_chain(n: int) -> str:
    return (
        HEADER + "ds = (tf.data.Dataset.range(10)\n" + numbered("    .map(lambda x: x + $)\n", n, "") + ")\nprint(ds)\n"
    )


@shape(60)
def steps_reassigned(n: int) -> str:
    return (
        numbered("ds = ds.map(lambda x: x + $)\n", n, HEADER + "ds = tf.data.Dataset.range(10)\n") + "print(list(ds))\n"
    )


@shape(16)
def steps_of_many_kinds(n: int) -> str:
    body = numbered("ds = ds.map(parse).cache().shuffle($ + 1)\nds = ds.batch(2).unbatch().prefetch($)\n", n, "")
    return HEADER + "def parse(x):\n    return tf.io.decode_jpeg(x)\nds = tf.data.TFRecordDataset('a')\n" + body


@shape(24)
def pipelines(n: int) -> str:
    return numbered(
        "ds$ = tf.data.TFRecordDataset('a').map(parse).cache().repeat(2).shuffle(100000).batch(8)\n"
        "for x in ds$:\n    print(x)\n",
        n,
    )


@shape(100)
def layers_of_a_sequential_model(n: int) -> str:
    layers = numbered("    tf.keras.layers.Dense(16, activation='relu'),\n", n, "")
    return (
        f"{HEADER}model = tf.keras.Sequential([\n    tf.keras.Input([16]),\n{layers}])\nmodel.compile('adam', 'mse')\n"
    )


@shape(80)
def layers_added(n: int) -> str:
    return (
        HEADER
        + "model = tf.keras.Sequential()\n"
        + numbered("model.add(tf.keras.layers.Dense($ + 1))\n", n, "")
        + "model.summary()\n"
    )


@shape(60)
def layers_of_a_functional_model(n: int) -> str:
    body = numbered("x = tf.keras.layers.Dense(16)(x)\n", n, "")
    return f"{HEADER}i = x = tf.keras.Input([16])\n{body}model = tf.keras.Model(i, x)\nmodel.compile('adam', 'mse')\n"


@shape(40)
def layers_that_join(n: int) -> str:
    body = numbered("y = tf.keras.layers.Dense(16)(x)\nx = tf.keras.layers.Add()([x, y])\n", n, "")
    return f"{HEADER}i = x = tf.keras.Input([16])\n{body}model = tf.keras.Model(i, x)\nmodel.compile('adam', 'mse')\n"


@shape(60)
def models_built_and_fitted(n: int) -> str:
    return numbered(
        "m$ = tf.keras.Sequential([tf.keras.layers.Dense(3)])\nm$.compile('adam', loss='mse')\n"
        "m$.fit(x, y)\nm$.predict(x)\n",
        n,
    )


@shape(24)
def models_in_loops(n: int) -> str:
    return numbered(
        "for rate in rates:\n    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])\n"
        "    model.compile('adam', loss='mse')\n    model.fit(x, y)\n",
        n,
    )


@shape(800)
def model_called_often(n: int) -> str:
    """What a function keeps of each call of a model, of which each may be given to what adds layers to it."""
    head = "def f(n):\n    kept = []\n    model = tf.keras.Sequential([])\n    for i in range(n):\n"
    return numbered("        kept.append(model(tf.zeros([$, i])))\n", n, HEADER + head) + "    return kept\n"


@shape(60)
def models_known_by_their_use(n: int) -> str:
    return numbered("m$ = make($)\nm$.compile(optimizer='adam', loss='mse')\nm$.fit(x, y)\nm$.load_weights('w')\n", n)


@shape(40)
def models_of_one_name(n: int) -> str:
    """Functions that each are given a model, train it and apply it."""
    return numbered(
        "def f$(model, ds):\n    model.compile(optimizer='adam', loss='mse')\n    model.fit(ds, epochs=$)\n"
        "    out = []\n    for x in ds:\n        out.append(model(x))\n    return out\n",
        n,
    )



@shape(60)
def lists_that_keep_tensors(n: int) -> str:
    return numbered(
        "def f$(ds, model):\n    kept = []\n    for x in ds:\n        kept.append(model(x))\n    return len(kept)\n", n
    )


@shape(60)
def appended_lists_in_one_function(n: int) -> str:
    made = numbered("    l$ = []\n", n, "")
    grown = numbered("        l$.append(tf.square(x))\n", n, "")
    return HEADER + "def f(ds):\n" + made + "    for x in tf.data.Dataset.range(9):\n" + grown


@shape(24)
def devices(n: int) -> str:
    return numbered(
        "for gpu in tf.config.list_physical_devices('GPU'):\n"
        "    tf.config.experimental.set_memory_growth(gpu, True)\nx$ = tf.zeros([$])\n",
        n,
    )


@shape(24)
def strategies(n: int) -> str:
    return numbered(
        "s$ = tf.distribute.MirroredStrategy()\nwith s$.scope():\n    m$ = tf.keras.Sequential([])\n"
        "    m$.compile('adam')\n",
        n,
    )


@shape(60)
def sessions(n: int) -> str:
    return numbered("with tf.compat.v1.Session() as sess:\n    y = sess.run(tf.zeros([$]))\n", n)


@shape(60)
def generators(n: int) -> str:
    template = (
        "def g$():\n    for i in range(9):\n        yield tf.zeros([i])\n"
        "ds$ = tf.data.Dataset.from_generator(g$, tf.float32)\n"
    )
    return numbered(template, n)


@shape(60)
def concatenated_in_loops(n: int) -> str:
    return numbered(
        "def f$(ds):\n    out = tf.zeros([0, 3])\n    for x in ds:\n"
        "        out = tf.concat([out, x], 0)\n    return out\n",
        n,
    )


@shape(60)
def captured_arrays(n: int) -> str:
    return numbered("a$ = np.random.rand(50000, 64)\n@tf.function\ndef f$(x):\n    return x + a$\n", n)


@shape(60)
def captured_by_one_function(n: int) -> str:
    made = numbered("a$ = np.random.rand(50000, 64)\n", n, "")
    return HEADER + made + "@tf.function\ndef f(x):\n" + numbered("    x = x + a$\n", n, "") + "    return x\n"


@shape(100)
def float64_arrays(n: int) -> str:
    return numbered(
        "a$ = np.random.rand(50000, 64)\nb$ = tf.constant(a$, dtype=tf.float64)\nc$ = tf.cast(b$, tf.float32)\n", n
    )


# -- findings, comments, blocks ----------------------------------------------------------------------------------------


@shape(24)
def findings_with_repairs(n: int) -> str:
    return numbered("ds$ = tf.data.TFRecordDataset('a').repeat(8).cache().batch(32).prefetch(1000)\n", n)


@shape(60)
def findings_on_one_line(n: int) -> str:
    parts = "; ".join(f"ds{i} = tf.data.Dataset.range(9).repeat().cache()" for i in range(n))
    return f"{HEADER}{parts}\n"


@shape(60)
def related_places(n: int) -> str:
    body = numbered("    tf.Variable(x, name='v$')\n    print(x)\n", n, "")
    return HEADER + "@tf.function\ndef f(x):\n" + body + numbered("f($)\n", n, "")


@shape(60)
def comments_in_pairs(n: int) -> str:
    return numbered(
        "# tfmemlint: disable[TFM305]\nds$ = tf.data.Dataset.range(9).repeat().cache()\n# tfmemlint: enable[TFM305]\n",
        n,
    )


@shape(100)
def disabling_comments(n: int) -> str:
    return numbered("# tfmemlint: disable[TFM305]\n", n) + numbered("# tfmemlint: enable[TFM305]\n", n, "")


@shape(150)
def ignoring_comments(n: int) -> str:
    return numbered("x = $  # tfmemlint: ignore[TFM305]\n", n) + "ds = tf.data.Dataset.range(9).repeat().cache()\n"


@shape(100)
def ignoring_comments_in_use(n: int) -> str:
    return numbered("ds = tf.data.Dataset.range(9).repeat().cache()  # tfmemlint: ignore[TFM305]\n", n)


@shape(100)
def comments_for_the_file(n: int) -> str:
    return numbered("# tfmemlint: file-ignore[TFM305]\nds = tf.data.Dataset.range(9).repeat().cache()\n", n)


@shape(100)
def noqa_comments(n: int) -> str:
    return numbered("ds = tf.data.Dataset.range(9).repeat().cache()  # noqa: TFM305\nx = $  # noqa\n", n)


@shape(200)
def codes_of_one_comment(n: int) -> str:
    codes = ",".join(["TFM305"] * n)
    return f"{HEADER}ds = tf.data.Dataset.range(9).repeat().cache()  # tfmemlint: ignore[{codes}]\n"


@shape(200)
def unknown_codes_of_one_comment(n: int) -> str:
    codes = ",".join(f"A{i}" for i in range(n))
    return f"{HEADER}ds = tf.data.Dataset.range(9).cache()  # tfmemlint: ignore[{codes}]\n"


@shape(200)
def comments_on_one_line(n: int) -> str:
    return f"{HEADER}x = 1  " + "# tfmemlint: ignore[TFM305] " * n + "\n"


@shape(120)
def decorators(n: int) -> str:
    return HEADER + "@tf.function  # tfmemlint: ignore[TFM305]\n" * n + "def f(x):\n    return x\n"


@shape(200)
def plain_comments(n: int) -> str:
    return numbered("# what the next line does\nx = $  # and why\n", n) + "y = tf.zeros([3])  # noqa\n"


@shape(30, "a.ipynb")
def notebook_cells(n: int) -> str:
    cells = [
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": [f"ds{i} = tf.data.Dataset.range(9).repeat().cache()  # noqa\n", f"x{i} = tf.zeros([{i}])"],
        }
        for i in range(n)
    ]
    cells.insert(0, {**cells[0], "source": [HEADER]})
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


@shape(30, "a.md")
def markdown_blocks(n: int) -> str:
    text = numbered(
        "Text\n\n```python\nds$ = tf.data.Dataset.range(9).repeat().cache()\nx$ = tf.zeros([$])\n```\n", n, ""
    )
    return f"```python\n{HEADER}```\n{text}"


@shape(30, "a.md")
def markdown_blocks_that_do_not_parse(n: int) -> str:
    text = numbered("```python\nds$ = tf.data.Dataset.range(9).repeat().cache()\n```\n```python\nx = = $\n```\n", n, "")
    return f"```python\n{HEADER}```\n{text}"
