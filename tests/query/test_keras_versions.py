"""Which programs are seen to run on Keras 2 alone."""

import pytest
from programs import model_of

from tfmemlint import knowledge
from tfmemlint.model.versions import runs_on_first_alone
from tfmemlint.project.texts import text_of
from tfmemlint.query.keras.updates import updates_graph
from tfmemlint.query.keras.versions import engine_unknown, keras_2, may_have_own_engine, own_engine

KERAS_2 = [
    "from keras.optimizers import SGD\nSGD(0.01, decay=1e-6, momentum=0.9)",
    "import tf_keras",
    "from tf_keras import layers",
    "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'",
    "from keras.layers.core import Dense",
    "from keras.utils import np_utils",
    "import keras.backend as K\ndef loss(a, b):\n    return K.mean(a - b)",
    "from keras import backend as K\nx = K.in_train_phase(a, b)",
    "from keras.backend import square",
    "import tensorflow as tf\nx = tf.keras.backend.in_train_phase(a, b)",
    "from tensorflow.keras import layers\nscale = layers.experimental.preprocessing.Rescaling(1 / 255)",
    "from tensorflow.python.keras.layers import Dense",
    "from keras.optimizers import Adam\nAdam(lr=0.01)",
    "net.fit_generator(batches)",
    "from keras.callbacks import ModelCheckpoint\nModelCheckpoint('w.h5', save_weights_only=True)",
    "if __name__ == '__main__':\n    net.fit_generator(batches)",
    "from keras.callbacks import ModelCheckpoint\nModelCheckpoint('model-{epoch}.hdf5')",
    "from tensorflow import keras\nkeras.layers.Input(shape=(80))",
    "from keras_contrib.layers import CRF",
    "from keras.callbacks import ModelCheckpoint\nModelCheckpoint(folder + '/net-{epoch:02d}.hdf5')",
    "from keras.callbacks import ModelCheckpoint\npath = f'{folder}/net.tf'\nModelCheckpoint(path)",
    "import os, keras\nkeras.callbacks.ModelCheckpoint(filepath=os.path.join(folder, 'net.hdf5'))",
    "import keras\nm = keras.Sequential()\nm.save_weights('net.h5')",
    "import keras\nm = keras.Sequential()\nm.save(folder + '/net')",
    "import keras\nm = keras.Sequential()\nm.fit(x, y, workers=4)",
    "import keras\nm = keras.Sequential()\nm.predict_classes(x)",
    "import keras\nm = keras.Sequential()\nm.reset_states()",
    "from tensorflow.keras import layers\nlayers.LSTM(8, batch_input_shape=(1, None, 3))",
    "import tensorflow_addons as tfa",
    "import tensorflow_datasets as tfds\nencoder = tfds.features.text.TokenTextEncoder(words)",
]
EITHER = [
    "# TF_USE_LEGACY_KERAS",
    "'TF_USE_LEGACY_KERAS in a docstring'",
    "import keras",
    "import tensorflow as tf\nx = tf.keras.backend.mean(a)",
    "from keras import backend as K\nK.clear_session()",
    "from tensorflow.keras.preprocessing.text import Tokenizer",
    "from keras.layers import Dense\nfrom keras.utils import to_categorical",
    "try:\n    from keras.engine import Layer\nexcept ImportError:\n    from keras.layers import Layer",
    "import keras\nif old:\n    keras.backend.set_learning_phase(0)",
    "def f(K):\n    return K.in_train_phase(a, b)",
    "from keras.optimizers import Adam\nAdam(learning_rate=0.01)",
    "def fit_generator(x):\n    pass\nfit_generator(3)",
    "from keras.callbacks import ModelCheckpoint\nModelCheckpoint('w.h5')",
    "from keras.callbacks import ModelCheckpoint\nModelCheckpoint('w.weights.h5', save_weights_only=True)",
    "from keras.callbacks import ModelCheckpoint\nModelCheckpoint(path, save_weights_only=True)",
    "from keras.callbacks import ModelCheckpoint\nModelCheckpoint(folder + name)",
    "from keras.callbacks import ModelCheckpoint\nModelCheckpoint(f'{folder}/{name}')",
    "import keras\nm = keras.Sequential()\nm.save(folder + '/net.keras')\nm.save_weights(folder + name)",
    "import keras\nm = keras.Sequential()\nm.save('net.h5')\nm.save('net.hdf5')\nm.save_weights('net.weights.h5')",
    "from mine import Adam\nAdam(lr=0.01)",
    "from mine import Adam\nAdam(0.01, decay=1e-6)",
    "from tensorflow.keras.layers import Dense\nDense(8, decay=1e-6)",
    "from mine import net\nnet.predict_proba(x)",
    "from tensorflow.keras import layers\nlstm = layers.LSTM(8)\nlstm.reset_states()",
    "from keras.callbacks import ModelCheckpoint\nModelCheckpoint('model.keras', save_weights_only=how)",
    "from keras.callbacks import ModelCheckpoint\nModelCheckpoint('model.hdf5', save_weights_only=how)",
    "from tensorflow import keras\nkeras.layers.Input(shape=(80,))",
]


@pytest.mark.parametrize("program", KERAS_2)
def test_programs_that_keras_3_does_not_run(program: str) -> None:
    assert keras_2(model_of(program))


@pytest.mark.parametrize("program", EITHER)
def test_programs_that_both_may_run(program: str) -> None:
    assert not keras_2(model_of(program))


@pytest.mark.parametrize(
    ("path", "gone"),
    [
        ("keras.engine.topology.Layer", True),
        ("keras.layers.Dense", False),
        ("keras.backend", False),
        ("keras.preprocessing.text.Tokenizer", True),
        ("tensorflow.keras.preprocessing.text.Tokenizer", False),
        ("tensorflow.keras.backend.placeholder", True),
        ("mine.keras.engine", False),
    ],
)
def test_paths_that_only_keras_2_has(path: str, gone: bool) -> None:
    assert knowledge.of_keras_2(path) is gone


OWN_ENGINE = [
    ("from keras_applications.nasnet import NASNet\nfrom keras.models import Model", True),
    ("import keras\nfrom keras.backend import tensorflow_backend", True),
    ("from keras.engine.topology import Layer", True),
    ("from keras_applications import vgg16\nfrom tensorflow.keras.models import Model", False),
    ("from keras_applications import vgg16", False),
    ("try:\n    from keras.legacy import interfaces\nexcept ImportError:\n    pass\nimport keras", False),
    ("from keras.models import Model", False),
    ("from keras.layers import LSTM, CuDNNLSTM", True),
    ("from tensorflow.keras.layers import LSTM\nfrom tensorflow.compat.v1.keras.layers import CuDNNLSTM", False),
    ("from .legacy import keras", False),
    ("from keras.models import Sequential, Graph", True),
    ("from tensorflow.keras.models import Graph", False),
    ("from keras.models import Sequential\nfrom theano import tensor", False),
    ("from keras.layers.advanced_activations import ReLU", False),
]


@pytest.mark.parametrize(("program", "expected"), OWN_ENGINE)
def test_programs_for_keras_before_it_was_tensorflows(program: str, expected: bool) -> None:
    assert own_engine(model_of(program, header="")) is expected


MAY_HAVE_OWN_ENGINE = [
    ("from keras.layers.advanced_activations import ReLU", True),
    ("from keras.layers.merge import Concatenate", True),
    ("from keras.layers.noise import GaussianNoise", False),
    ("from keras.layers.normalization import BatchNormalization", True),
    ("from keras.layers import CuDNNLSTM", True),
    ("from keras.engine.topology import Layer", True),
    ("from keras.layers import LSTM", False),
    ("from keras.layers import LSTM\nfrom theano import tensor as T", True),
    ("from tensorflow.keras.layers import LSTM\nimport theano", False),
    ("from keras.layers.advanced_activations import ReLU\nfrom tensorflow.keras.models import Model", False),
    ("from tensorflow.compat.v1.keras.layers import CuDNNLSTM", False),
]


@pytest.mark.parametrize(("program", "expected"), MAY_HAVE_OWN_ENGINE)
def test_programs_that_may_be_for_keras_before_it_was_tensorflows(program: str, expected: bool) -> None:
    assert may_have_own_engine(model_of(program, header="")) is expected


ENGINE_UNKNOWN = [
    ("from keras.models import load_model", True),
    ("import keras\nimport tensorflow as tf\ntf.compat.v1.Session()", True),
    ("import keras\nimport tensorflow as tf\nif new:\n    tf.random.set_seed(1)", True),
    ("from keras.models import load_model\nmodel = load_model('~/.keras/models/net.h5')", True),
    ("import keras\nkeras.layers.Dense(3)\nprint(f'{keras.__version__}')", True),
    ("import torch", False),
    ("from tensorflow.keras.models import load_model", False),
    ("from tensorflow import keras", False),
    ("try:\n    from tensorflow import keras\nexcept ImportError:\n    import keras", False),
    ("import keras\nimport tensorflow as tf\ntf.keras.backend.clear_session()", False),
    ("import keras\nimport tensorflow as tf\ntf.random.set_seed(1)", False),
    ("import keras\nimport tensorflow as tf\n@tf.function\ndef f(): pass", False),
    ("import keras\nimport tensorflow as tf\ndata = tf.data.Dataset.range(3)", False),
    ("import keras\nkeras.ops.mean(x)", False),
    ("import keras\nkeras.layers.Rescaling(1 / 255)", False),
    ("from keras.layers import LayerNormalization", False),
    ("from keras.utils import load_img", False),
    ("import keras\nkeras.utils.set_random_seed(1)", False),
    ("from keras.saving import load_model", False),
    ("import keras\nimport keras_tuner", False),
    ("import keras\nkeras.Sequential().save(f'{folder}/net.keras')", False),
    ("from keras.models import load_model\nload_model(folder + '/net.keras')", False),
    ("from keras.callbacks import ModelCheckpoint\nModelCheckpoint(filepath='net.keras')", False),
    ("from keras.layers.advanced_activations import ReLU", False),
    ("from keras.engine.topology import Layer", False),
]


@pytest.mark.parametrize(("program", "expected"), ENGINE_UNKNOWN)
def test_programs_of_which_nothing_tells_the_engine(program: str, expected: bool) -> None:
    assert engine_unknown(model_of(program, header="")) is expected


K = "from keras import backend as K\n"
UPDATED = [
    (K + "K.function([x], [], updates=[K.update(a, b)])", True),
    (K + "K.function([x], [y], [(a, b)])", True),
    (K + "u = opt.get_updates(params, loss)\nK.function([x], [], updates=u)", True),
    (K + "K.function([x], [], updates=opt.get_updates(params, loss) + net.updates)", True),
    ("from tensorflow.keras import backend as K\nK.function([x], [], updates=[a])", True),
    ("opt.get_updates(loss=loss, params=weights)", True),
    ("opt.get_updates(weights, constraints={}, loss=loss)", False),
    (K + "K.function([x], [y])", False),
    (K + "K.function([x], [y], updates=[])", False),
    (K + "K.function([x], [y], updates=None)", False),
    (K + "K.function([x], [y], updates=net.updates)", False),
    (K + "K.function([x], [y], updates=[*net.updates])", False),
    (K + "if old:\n    K.function([x], [y], updates=[a])", False),
    ("class A:\n    def get_updates(self):\n        self.a.get_updates(loss=a, params=b)", False),
    ("def get_updates(loss, params): pass\nget_updates(loss=1, params=2)", False),
]


@pytest.mark.parametrize(("code", "expected"), UPDATED)
def test_programs_that_train_on_one_graph(code: str, expected: bool) -> None:
    assert updates_graph(model_of(code)) is expected


TF = "import tensorflow as tf\n"
FIRST_ALONE = [
    (TF + "tf.Summary(value=[])", True),
    (TF + "w = tf.compat.v1.summary.FileWriter(d)\nw.add_summary(tf.Summary(value=[]))", True),
    (TF + "with tf.Session() as s: pass", True),
    (TF + "tf.compat.v1.Session()", False),
    (TF + "# tf.Session()", False),
    (TF + "s = tf.compat.v1.Session() if tf.__version__ > '2' else tf.Session()", False),
    (TF + "if hasattr(tf, 'Session'):\n    tf.Session()", False),
    (TF + "tf = tf.compat.v1\ntf.Session()", False),
    (TF + "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    pass\ntf.Session()", False),
    (TF + "tf.compat.v2.function\ntf.Session()", False),
    (TF + "@tf.function\ndef f(): pass\ntf.Session()", False),
    ("import tensorflow.compat.v1 as tf\ntf.Session()", False),
]


@pytest.mark.parametrize(("code", "expected"), FIRST_ALONE)
def test_texts_that_only_version_1_runs(code: str, expected: bool) -> None:
    assert runs_on_first_alone(text_of(code.encode(), code.encode())) is expected
