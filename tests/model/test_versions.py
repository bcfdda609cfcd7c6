"""Which version of TensorFlow a program shows that it is written for."""

import pytest
from programs import model_of

FIRST = [
    "import tensorflow as tf\ny = tf.log(x)",
    "import tensorflow as tf\ny = tf.layers.dense(x, 3)",
    "import tensorflow as tf\ntf.flags.DEFINE_string('a', 'b', 'c')",
    "import tensorflow as tf\nopt = tf.train.AdamOptimizer()",
    "from tensorflow.contrib import slim",
    "from keras.engine.topology import Layer",
    "import tensorflow.contrib.slim as slim",
    "from keras.models import Model\nModel(input=x, output=y)",
    "from keras.layers import Convolution2D\nConvolution2D(32, 3, 3, border_mode='same')",
    "from keras.models import Sequential\nmodel = Sequential()\nmodel.fit(x, y, nb_epoch=3)",
    "import tensorflow as tf\nimport tensorflow.compat.v1 as v1\ndef f(tf):\n    tf.ConfigProto()\nf(tf)\nf(v1)",
]
SECOND_OR_BOTH = [
    "import tensorflow as tf\ny = tf.math.log(x)\nz = tf.keras.layers.Dense(3)",
    "import tensorflow as tf\ntf.summary.scalar('a', 1)\ntf.train.Checkpoint()",
    "import tensorflow.compat.v1 as tf\ny = tf.layers.dense(x, 3)",
    "from net import tf\ny = tf.layers.dense(x, 3)",
    "import tensorflow as tf\nself.tf.layers.dense(x, 3)",
    "from keras.models import Model\nModel(inputs=x, outputs=y)",
    "from mine import Model\nModel(input=x, output=y)",
    "run(nb_epoch=3)",
    "from tensorflow.keras.models import Sequential\nmodel = Sequential()\nmodel.fit(x, y, nb_epoch=3)",
]


@pytest.mark.parametrize("program", FIRST)
def test_names_that_version_2_lacks(program: str) -> None:
    assert model_of(program).before_version_2


@pytest.mark.parametrize("program", SECOND_OR_BOTH)
def test_names_that_version_2_has_or_that_are_not_tensorflows(program: str) -> None:
    assert not model_of(program).before_version_2
