"""Dtypes and shapes of NumPy arrays and tensors as NumPy 2 and TensorFlow make them."""

import pytest
from programs import model_of, shown_in, value_in

from tfmemlint import knowledge
from tfmemlint.model.transfer import table
from tfmemlint.model.values import Array

SKLEARN = "import sklearn.datasets as d\nimport sklearn.preprocessing as p\n"
SPLIT = "from sklearn.model_selection import train_test_split\n"
PANDAS = "import pandas as pd\nimport sklearn.datasets as d\nimport sklearn.pipeline as q\n"
PANDAS += "import sklearn.preprocessing as p\nt = pd.read_csv(f)\n"
FILLED = "x = np.zeros((500, 6))\nn = 8\nw = []\n"
LIBRARIES = [
    (FILLED + "for i in range(90, 500):\n    w.append(x[i - 90 : i])\nnp.array(w)", "np float64 (410, 90, 6)"),
    (FILLED + "for i in range(90, 500):\n    w.append(x[i - 90 : i + 1, 0])\nnp.array(w)", "np float64 (410, 91)"),
    (FILLED + "for i in range(k):\n    w.append(x[i : i + n])\nnp.array(w)", "np float64 (?, 8, 6)"),
    (FILLED + "for i in range(9):\n    w.append(x[i:])\nnp.array(w)", "np float64 (9, ?, 6)"),
    (FILLED + "for i in range(9):\n    if i > k:\n        w.append(x[i : i + 2])\nnp.array(w)", "np float64 (?, 2, 6)"),
    (FILLED + "for i in range(9):\n    w.append(x[i : i + 2])\n    if k:\n        break\nnp.array(w)",
     "np float64 (?, 2, 6)"),
    (FILLED + "for k in z:\n    for i in [1, 2]:\n        w.append(x[i : i + 2])\nnp.array(w)",
     "np float64 (?, 2, 6)"),
    (FILLED + "np.array([x[i : i + n] for i in range(20)])", "np float64 (20, 8, 6)"),
    (FILLED + "x[np.random.randint(0, 500, size=32)]", "np float64 (32, 6)"),
    (FILLED + "x[:, np.array([1, 2])]", "np float64 (500, 2)"),
    (FILLED + "x[np.random.randint(0, 9, size=4), np.array([1])]", "np float64 (?, ?)"),
    (FILLED + "x[x[:, 0] > 0.5]", "np float64 (?, 6)"),
    (SKLEARN + "p.StandardScaler().fit_transform(np.zeros((4, 2), np.float32))", "np float32 (4, 2)"),
    (SKLEARN + "p.StandardScaler().fit_transform(np.arange(4))", "np float64 (4)"),
    (SKLEARN + "p.StandardScaler().fit_transform(x)", "?"),
    (SKLEARN + "d.load_digits().data", "np float64 (1797, 64)"),
    (SKLEARN + "d.load_digits()['data']", "np float64 (1797, 64)"),
    (SKLEARN + "d.load_digits(return_X_y=True)[0]", "np float64 (1797, 64)"),
    (SKLEARN + "d.load_digits(as_frame=True).data", "?"),
    (SKLEARN + "d.fetch_olivetti_faces().data", "np float32 (400, 4096)"),
    (SKLEARN + "d.load_digits().target", "?"),
    (SPLIT + "train_test_split(np.zeros((10, 2)))", "[np float64 (7, 2), np float64 (3, 2)]"),
    (SPLIT + "train_test_split(np.zeros((10, 2)), test_size=0.25)", "[np float64 (7, 2), np float64 (3, 2)]"),
    (SPLIT + "train_test_split(np.zeros((10, 2)), train_size=0.75)", "[np float64 (7, 2), np float64 (3, 2)]"),
    (SPLIT + "train_test_split(np.zeros((20, 2)), train_size=7 / 8)", "[np float64 (17, 2), np float64 (3, 2)]"),
    (SPLIT + "train_test_split(np.zeros((10, 2)), train_size=4, test_size=0.2)",
     "[np float64 (4, 2), np float64 (2, 2)]"),
    (SPLIT + "train_test_split(np.zeros((10, 2)), train_size=n)", "[np float64 (?, 2), np float64 (?, 2)]"),
    (PANDAS + "t.values", "np ? ..."),
    (PANDAS + "(t / 255).values", "np float64 ..."),
    (PANDAS + "((t - t.mean()) / t.std()).dropna()[['a', 'b']].to_numpy()", "np float64 ..."),
    (PANDAS + "(t['a'] * 0.5).values", "np float64 ..."),
    (PANDAS + "(t * 2).values", "np ? ..."),
    (PANDAS + "(1 - t / 2).iloc[:5].values", "np float64 ..."),
    (PANDAS + "(t > 0.5).values", "?"),
    (PANDAS + "t.drop('a', axis=1).values / 255", "np float64 ..."),
    (PANDAS + "t.iloc[:, 1:].values.reshape(-1, 28, 28, 1) / 255", "np float64 (?, 28, 28, 1)"),
    (PANDAS + "np.array(t) / 255", "np float64 ..."),
    (PANDAS + "t['a'].to_numpy() * 0.5", "np float64 ..."),
    (PANDAS + "t.values * 2", "np ? ..."),
    (PANDAS + "t.values.astype('float32') / 255", "np float32 ..."),
    (PANDAS + "np.asarray(t, dtype=np.float32) / 255", "np float32 ..."),
    (PANDAS + "t.values[:9] / t.values.max()", "np float64 ..."),
    (PANDAS + "p.MinMaxScaler().fit_transform(t['a'].values.reshape(-1, 1))", "np float64 (?, 1)"),
    (PANDAS + "p.MinMaxScaler().fit_transform(t.values.astype(np.float32))", "np float32 ..."),
    (PANDAS + "import sklearn.model_selection as s\n(s.train_test_split(t)[0] / 255).values", "np float64 ..."),
    (PANDAS + "t.pct_change().dropna().values", "np float64 ..."),
    (PANDAS + "q.make_pipeline(p.StandardScaler(), p.MinMaxScaler()).fit_transform(t)", "np float64 ..."),
    (PANDAS + "q.Pipeline([('a', p.Normalizer())]).fit_transform(np.zeros(9, np.float32))", "np float32 (9)"),
    (PANDAS + "q.Pipeline([('a', p.StandardScaler()), ('b', other)]).fit_transform(t)", "?"),
    (PANDAS + "d.make_regression(n_samples=5000, n_features=20, noise=0.1)[0]", "np float64 (5000, 20)"),
    (PANDAS + "d.make_moons()[0]", "np float64 (100, 2)"),
    (PANDAS + "d.make_classification(n)[0]", "np float64 (?, 20)"),
    (PANDAS + "(t / 255).to_numpy(np.float32)", "np float32 ..."),
    (PANDAS + "(t / 255).astype('float32')", "np float32 ..."),
    (PANDAS + "t.drop(columns=['a'], inplace=True)", "?"),
    (PANDAS + "p.MinMaxScaler().fit_transform(t[['a']])", "np float64 ..."),
    ("import pandas as pd\n(pd.read_csv(f, dtype=np.float32) / 255).values", "?"),
    ("import pandas as pd\n(pd.read_csv(f, **options) / 255).values", "?"),
]  # fmt: skip
NUMPY = [
    ("np.zeros((2, 3))", "np float64 (2, 3)"), ("np.zeros(5, dtype='float32')", "np float32 (5)"),
    ("np.ones((2,), np.uint8)", "np uint8 (2)"), ("np.full((2, 2), 1)", "np int64 (2, 2)"),
    ("np.full((2, 2), 0.5)", "np float64 (2, 2)"), ("np.arange(10)", "np int64 (10)"),
    ("np.arange(0, 1, 0.25)", "np float64 (4)"), ("np.linspace(0, 1, 7)", "np float64 (7)"),
    ("np.eye(3)", "np float64 (3, 3)"), ("np.array([1, 2])", "np int64 (2)"),
    ("np.array([[1.0], [2.0]])", "np float64 (2, 1)"), ("np.array([1, 2.0])", "np float64 (2)"),
    ("np.array([1, 2], dtype=np.float32)", "np float32 (2)"), ("np.array(unknown)", "np ? ..."),
    ("np.random.rand(4, 5)", "np float64 (4, 5)"), ("np.random.randint(0, 5, (3,))", "np int64 (3)"),
    ("np.random.default_rng(0).normal(size=(4,))", "np float64 (4)"),
    ("np.random.choice(100, 5)", "np int64 (5)"), ("np.random.choice(len(x), (2, 3))", "np int64 (2, 3)"),
    ("np.random.choice(np.zeros(9, np.uint8), size=n)", "np uint8 ..."),
    ("np.random.choice(x, 5)", "np ? (5)"), ("np.random.choice([1.0, 2.0], 5)", "np float64 (5)"),
    ("np.random.default_rng(0).choice(np.zeros((9, 3)), 5)", "np float64 (5, 3)"),
    ("np.random.default_rng(0).choice(x, 5)", "np ? ..."),
    ("np.random.multivariate_normal([0, 0], np.eye(2), 9)", "np float64 (9, 2)"),
    ("np.random.multivariate_normal(np.zeros(3, np.float32), c)", "np float64 (3)"),
    ("np.random.multivariate_normal([0, 0], c, size=None)", "np float64 (2)"),
    ("np.random.multivariate_normal([0, 0], c, size=n)", "np float64 ..."),
    ("np.random.multivariate_normal(m, c, 9)", "np float64 ..."),
    ("np.random.multivariate_normal([0, 0], *more)", "np float64 ..."),
    ("np.random.default_rng(0).multivariate_normal([0, 0, 0], c, (4, 5))", "np float64 (4, 5, 3)"),
    ("np.random.RandomState(0).multivariate_normal([0, 0], c, (n, 5))", "np float64 (?, 5, 2)"),
    ("np.zeros_like(np.ones((2, 2), np.int8))", "np int8 (2, 2)"),
    ("import sklearn.preprocessing as p\np.MinMaxScaler().fit_transform(np.zeros((4, 2)))", "np float64 (4, 2)"),
    ("import sklearn.preprocessing as p\ns = p.StandardScaler().fit(np.zeros((4, 2)))\n"
     "s.transform(np.zeros((2, 2), np.float32))", "np float32 (2, 2)"),
    ("import sklearn.preprocessing as p\np.MinMaxScaler().fit_transform(np.zeros((4, 2), np.uint8))",
     "np float64 (4, 2)"),
    ("np.abs(np.zeros((2, 3)))", "np float64 (2, 3)"), ("tf.truediv(tf.zeros((2, 3)), 2.0)", "tf float32 (2, 3)"),
    ("tf.math.negative(tf.zeros((2, 3)))", "tf float32 (2, 3)"),
    ("np.zeros((n, 3))", "np float64 (?, 3)"), ("np.zeros(shape)", "np float64 ..."),
    ("np.zeros((2, 3)).astype(np.float32)", "np float32 (2, 3)"), ("np.float32(np.zeros(3))", "np float32 (3)"),
    ("np.zeros((2, 3)).reshape(6)", "np float64 (6)"), ("np.zeros((2, 3)).reshape(-1, 2)", "np float64 (3, 2)"),
    ("np.zeros((2, 3)).T", "np float64 (3, 2)"), ("np.zeros((2, 3)).flatten()", "np float64 (6)"),
    ("np.expand_dims(np.zeros((2, 3)), -1)", "np float64 (2, 3, 1)"), ("np.zeros((2, 3)).shape", "(len 2, 3)"),
    ("np.zeros((2, 3)).shape[1]", "3"), ("np.zeros((2, 3)).ndim", "2"), ("np.zeros((2, 3)).size", "6"),
    ("np.zeros((2, 3)).dtype", "np.float64"), ("np.zeros((2, 3), np.int8).nbytes", "6"),
    ("np.stack([np.zeros((2, 3)), np.zeros((2, 3))])", "np float64 (2, 2, 3)"),
    ("np.stack([np.zeros((2, 3)) for _ in range(5)])", "np float64 (5, 2, 3)"),
    ("np.array([np.zeros(3) for _ in range(50)])", "np float64 (50, 3)"),
    ("np.array([np.zeros(3) for i in range(50) if i])", "np float64 (?, 3)"),
    ("np.concatenate([np.zeros((2, 3)) for _ in range(5)])", "np float64 (10, 3)"),
    ("np.random.rand(2, *(4, 5))", "np float64 (2, 4, 5)"),
    ("np.concatenate([np.zeros((2, 3)), np.zeros((4, 3))])", "np float64 (6, 3)"),
    ("np.concatenate((np.zeros((2, 3)), np.zeros((2, 1))), axis=1)", "np float64 (2, 4)"),
    ("np.vstack([np.zeros((2, 3)), np.zeros((1, 3))])", "np float64 (3, 3)"),
    ("np.transpose(np.zeros((2, 3, 4)), (2, 0, 1))", "np float64 (4, 2, 3)"),
    ("np.squeeze(np.zeros((2, 1, 3)))", "np float64 (2, 3)"),
    ("np.repeat(np.zeros((2, 3)), 4, axis=0)", "np float64 (8, 3)"),
    ("np.tile(np.zeros((2, 3)), (2, 2))", "np float64 (4, 6)"), ("np.mean(np.zeros((2, 3)), axis=0)", "np float64 (3)"),
    ("np.zeros((2, 3)).sum(axis=1)", "np float64 (2)"), ("np.argmax(np.zeros((2, 3)), axis=1)", "np int64 (2)"),
    ("np.max(np.zeros((2, 3), np.uint8))", "np uint8 ()"), ("np.dot(np.zeros((2, 3)), np.zeros((3, 4)))", "?"),
    ("np.zeros((2, 3)) > 0.5", "np bool (2, 3)"), ("(np.zeros((2, 3)) == np.ones(3)).astype(int)", "np int64 (2, 3)"),
    ("np.zeros(3) is None", "?"), ("np.zeros(3) != None", "?"), ("1 < np.zeros(3) < 2", "?"),
    ("np.meshgrid(np.linspace(0, 1, 3), np.arange(2))", "[np float64 (2, 3), np int64 (2, 3)]"),
    ("np.meshgrid(np.zeros(3), np.zeros(2), indexing='ij')[0]", "np float64 (3, 2)"),
    ("np.meshgrid(x, np.zeros(2))", "?"), ("np.load('f.npy')", "np ? ..."),
    ("np.pad(np.zeros((2, 2)), 1)", "np float64 ..."),
    ("np.asarray(tf.zeros([2]))", "np float32 (2)"), ("tf.zeros([2]).numpy()", "np float32 (2)"),
]  # fmt: skip

SET = "def f(r, c=None):\n    x = tf.io.decode_raw(r, tf.uint8)\n    "
TENSORS = [
    (SET + "x.set_shape([9])\n    return x\nf(y)", "tf uint8 (9)"),
    (SET + "x = tf.cast(x, tf.float32)\n    x.set_shape((n, 9))\n    return x + 1\nf(y)", "tf float32 (?, 9)"),
    (SET + "x.set_shape([9])\n    x = tf.zeros(n)\n    return x\nf(y)", "tf float32 ..."),
    (SET + "if c:\n        x.set_shape([9])\n    return x\nf(y)", "tf uint8 ..."),
    (SET + "z = x\n    x.set_shape([9])\n    return z\nf(y)", "tf uint8 ..."),
    ("tf.numpy_function(f, [x], tf.int64)", "tf int64 ..."),
    ("tf.py_function(f, [x], [tf.float32, tf.uint8])[1]", "tf uint8 ..."),
    ("tf.py_function(f, [x], unknown)", "?"),
    ("tf.zeros([2, 3])", "tf float32 (2, 3)"), ("tf.ones((2,), tf.int32)", "tf int32 (2)"),
    ("tf.constant([1, 2])", "tf int32 (2)"),
    ("tf.constant([1.0])", "tf float32 (1)"),
    ("tf.constant('a')", "tf string ()"),
    ("tf.constant(np.zeros(3))", "tf float64 (3)"), ("tf.constant(1, tf.int64)", "tf int64 ()"),
    ("tf.convert_to_tensor(np.zeros(3), dtype=tf.float32)", "tf float32 (3)"), ("tf.constant(unknown)", "tf ? ..."),
    ("tf.Variable(tf.zeros([3]))", "var float32 (3)"), ("tf.Variable(2.0)", "var float32 ()"),
    ("tf.fill([2, 2], 7)", "tf int32 (2, 2)"), ("tf.range(5)", "tf int32 (5)"), ("tf.eye(4)", "tf float32 (4, 4)"),
    ("tf.random.normal([4, 4])", "tf float32 (4, 4)"), ("tf.one_hot([1, 2], 5)", "tf float32 (2, 5)"),
    ("tf.cast(np.zeros(3), tf.float16)", "tf float16 (3)"), ("tf.cast([1, 2], 'float32')", "tf float32 (2)"),
    ("tf.reshape(tf.zeros([2, 6]), [3, -1])", "tf float32 (3, 4)"),
    ("tf.reshape(tf.zeros([2, 6]), [-1])", "tf float32 (12)"),
    ("tf.expand_dims(tf.zeros([2, 3]), 0)", "tf float32 (1, 2, 3)"), ("tf.squeeze(tf.zeros([2, 1]))", "tf float32 (2)"),
    ("tf.transpose(tf.zeros([2, 3]))", "tf float32 (3, 2)"),
    ("tf.transpose(tf.zeros([2, 3, 4]), [0, 2, 1])", "tf float32 (2, 4, 3)"),
    ("tf.stack([tf.zeros([2]), tf.zeros([2])])", "tf float32 (2, 2)"),
    ("tf.stack([tf.zeros([3, 5]), tf.zeros([3, 5])], axis=1)", "tf float32 (3, 2, 5)"),
    ("tf.stack([tf.zeros([3, 5]), tf.zeros([3, 5])], axis=-1)", "tf float32 (3, 5, 2)"),
    ("tf.stack([tf.zeros([3, 5]), tf.zeros([3, 5])], axis=-3)", "tf float32 (2, 3, 5)"),
    ("tf.stack([tf.zeros([3, 5]), tf.zeros([3, 5])], axis=3)", "tf float32 ..."),
    ("tf.stack([tf.zeros([3, 5]), tf.zeros([3, 5])], axis=-4)", "tf float32 ..."),
    ("tf.concat([tf.zeros([2, 3]), tf.zeros([4, 3])], 0)", "tf float32 (6, 3)"),
    ("tf.concat([tf.zeros([2, 3]), x], 0)", "tf ? ..."),
    ("with tf.GradientTape() as tape:\n    x = tf.Variable(tf.zeros([3]))\ntape.gradient(y, x)", "tf float32 (3)"),
    ("with tf.GradientTape() as tape:\n    pass\ntape.gradient(y, [tf.zeros([3])])", "tf ? ..."),
    ("tf.math.l2_normalize(tf.zeros([2, 3]), axis=1)", "tf float32 (2, 3)"),
    ("tf.nn.silu(tf.zeros([2, 3], tf.float16))", "tf float16 (2, 3)"),
    ("tf.cast(tf.zeros([2, 3]) > 0.5, tf.int32) / 2", "tf float64 (2, 3)"), ("tf.zeros([2]) >= x", "?"),
    ("tf.tile(tf.zeros([2, 3]), [2, 1])", "tf float32 (4, 3)"),
    ("tf.repeat(tf.zeros([2, 3]), 2, axis=0)", "tf float32 (4, 3)"),
    ("tf.matmul(tf.zeros([2, 3]), tf.zeros([3, 5]))", "tf float32 (2, 5)"),
    ("tf.matmul(tf.zeros([2, 3]), tf.zeros([5, 3]), transpose_b=True)", "tf ? ..."),
    ("tf.reduce_sum(tf.zeros([2, 3]))", "tf float32 ()"),
    ("tf.reduce_mean(tf.zeros([2, 3]), axis=1)", "tf float32 (2)"),
    ("tf.reduce_max(tf.zeros([2, 3]), axis=0, keepdims=True)", "tf float32 (1, 3)"),
    ("tf.argmax(tf.zeros([2, 3]), axis=1)", "tf int64 (2)"),
    ("tf.image.random_saturation(tf.zeros([4, 5, 3]), 0.5, 1.5)", "tf float32 (4, 5, 3)"),
    ("tf.image.adjust_brightness(tf.zeros([4, 5, 3]), 0.1)", "tf float32 (4, 5, 3)"),
    ("tf.nn.relu(tf.zeros([2]))", "tf float32 (2)"), ("tf.square(tf.zeros([2]))", "tf float32 (2)"),
    ("tf.broadcast_to(tf.zeros([1, 3]), [5, 3])", "tf float32 (5, 3)"),
    ("tf.image.resize(tf.zeros([9, 9, 3]), [4, 5])", "tf float32 (4, 5, 3)"),
    ("tf.io.decode_jpeg(b, channels=3)", "tf uint8 (?, ?, 3)"), ("tf.shape(tf.zeros([2, 3]))[1]", "3"),
    ("tf.zeros([2, 3]).shape[0]", "len 2"), ("a.shape[0]", "len ?"), ("a.shape[1]", "?"), ("a.shape[-1]", "?"),
    ("keras.ops.eye(3)", "tf float32 (3, 3)"), ("keras.backend.zeros((2, 3))", "tf float32 (2, 3)"),
    ("tf.linalg.matmul(tf.zeros([2, 3]), tf.zeros([3, 5]))", "tf float32 (2, 5)"),
    ("tf.gather(tf.zeros([9, 3]), [0, 1])", "tf float32 (2, 3)"),
    ("tf.zeros_like(np.ones((2,), np.int8))", "tf int8 (2)"),
    ("keras.Input((8, 8, 3))", "keras float32 (?, 8, 8, 3)"),
    ("keras.datasets.mnist.load_data()[0][0]", "np uint8 (60000, 28, 28)"),
    ("keras.utils.to_categorical(np.zeros(5, np.int64), 10)", "np float64 (5, 10)"), ("tf.unknown_thing(3)", "?"),
]  # fmt: skip

CV = "import cv2\n"
PICTURES = [
    (CV + "cv2.cvtColor(cv2.resize(cv2.imread('a'), (5, 4)), cv2.COLOR_BGR2RGB)", "np uint8 (4, 5, 3)"),
    (CV + "cv2.cvtColor(cv2.resize(cv2.imread('a'), (5, 4)), cv2.COLOR_BGR2GRAY)", "np uint8 (4, 5)"),
    (CV + "cv2.cvtColor(cv2.imread('a', 0), cv2.COLOR_GRAY2RGBA)", "np uint8 (?, ?, 4)"),
    (CV + "cv2.cvtColor(cv2.resize(cv2.imread('a'), (5, 4)), code)", "np uint8 ..."),
    (CV + "cv2.cvtColor(cv2.resize(cv2.imread('a'), (5, 4)), cv2.COLOR_BGR2YUV_I420)", "np uint8 ..."),
    (CV + "cv2.GaussianBlur(cv2.resize(cv2.imread('a'), (5, 4)), (3, 3), 0)", "np uint8 (4, 5, 3)"),
    (CV + "cv2.rotate(cv2.resize(cv2.imread('a'), (5, 4)), cv2.ROTATE_180)", "np uint8 ..."),
]  # fmt: skip

ARITHMETIC = [
    ("np.zeros((2, 3), np.float32) * 2", "np float32 (2, 3)"), ("np.zeros(3, np.float32) * 2.0", "np float32 (3)"),
    ("np.zeros(3, np.uint8) / 255", "np float64 (3)"), ("np.zeros(3, np.uint8) * 0.5", "np float64 (3)"),
    ("np.zeros(3, np.float32) + np.zeros(3)", "np float64 (3)"),
    ("np.zeros((4, 1)) - np.zeros((1, 5))", "np float64 (4, 5)"),
    ("np.zeros(3, np.float32) / np.zeros(3, np.int64)", "np float64 (3)"), ("-np.zeros(3)", "np float64 (3)"),
    ("np.zeros((2, 3)) @ np.zeros((3, 4))", "np float64 (2, 4)"),
    ("tf.zeros([2, 3]) @ tf.zeros([3, 4])", "tf float32 (2, 4)"),
    ("tf.zeros([2]) * np.zeros(2)", "tf float32 (2)"),
    ("1.0 - tf.zeros([2])", "tf float32 (2)"),
    ("tf.zeros([2], tf.int32) / 2", "tf float64 (2)"),
    ("tf.zeros([4, 1]) - tf.zeros([5])", "tf float32 (4, 5)"), ("np.zeros(3) + unknown", "?"),
    ("np.sqrt(np.zeros(3, np.float32))", "np float32 (3)"), ("np.zeros(3, np.int64) // 2", "np int64 (3)"),
    ("np.zeros(3, np.int64) ** 2", "np int64 (3)"),
]  # fmt: skip

INDEXED = [
    ("np.zeros((4, 5))[0]", "np float64 (5)"),
    ("np.zeros((4, 5))[1:3]", "np float64 (2, 5)"),
    ("np.zeros((4, 5))[:, 0]", "np float64 (4)"),
    ("np.zeros((4, 5))[..., None]", "np float64 (4, 5, 1)"), ("np.zeros((4, 5))[np.newaxis]", "np float64 (1, 4, 5)"),
    ("np.zeros((4, 5))[i]", "np float64 ..."),
    ("np.zeros((4, 5))[:n]", "np float64 (?, 5)"),
    ("np.zeros((4, 5))[::2]", "np float64 (2, 5)"),
    ("np.zeros((4, 5))[-1]", "np float64 (5)"),
    ("np.zeros((4, 5))[0, 0]", "np float64 ()"),
    ("tf.zeros([4, 5])[:, tf.newaxis]", "tf float32 (4, 1, 5)"),
    ("np.zeros((4, 5))[unknown > 3]", "np float64 ..."),
    ("x = np.zeros((4, 5))\nfor row in x:\n    probe(row)", "np float64 (5)"),
    ("x = np.zeros((4, 5))\nx[0] = 3\nx", "np float64 (4, 5)"), ("a, b = np.zeros((2, 5))\nb", "np float64 (5)"),
]  # fmt: skip

BYTES = [
    ("np.zeros((1000, 1000))", 8_000_000), ("tf.zeros([10, 10], tf.float16)", 200), ("np.zeros((n, 3))", None),
    ("tf.constant('a')", None), ("keras.datasets.cifar10.load_data()[0][0]", 50_000 * 32 * 32 * 3), ("np.zeros(0)", 0),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), [*LIBRARIES, *NUMPY, *TENSORS, *ARITHMETIC, *INDEXED, *PICTURES])
def test_dtype_and_shape(program: str, expected: str) -> None:
    assert shown_in(program) == expected


@pytest.mark.parametrize(("program", "expected"), BYTES)
def test_bytes(program: str, expected: int | None) -> None:
    value = value_in(model_of(program))
    assert isinstance(value, Array)
    assert value.bytes == expected


def test_every_model_is_asked_by_the_canonical_name() -> None:
    """What is written for another name alone is never used: callers ask by the canonical one."""
    missing = {knowledge.canonical(name) for name in table.TABLE} - set(table.TABLE)
    assert not missing
