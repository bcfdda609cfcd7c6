"""What keeps programs of real projects from being measured, a small file for each: the verdict and its words."""

from __future__ import annotations

import json
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest
from daily import share

from tfmemlint.cli import commands

ALONE = "measured alone, with made-up operands of the same dtypes and shapes"
TRAINS = """
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
"""
OBSTACLES = {
    "data that is not there": (
        """
        import numpy as np
        import tensorflow as tf
        table = np.fromfile("measurements.bin")
        images = np.zeros((500, 64, 64, 3))
        {trains}
        model.fit(images, table[:500])
        """,
        "TFM202 confirmed",
        (ALONE, "FileNotFoundError"),
    ),
    "folders of pictures": (
        """
        import tensorflow as tf
        train = tf.keras.utils.image_dataset_from_directory("photos", image_size=(64, 64), batch_size=32)
        train = train.prefetch(64)
        {trains}
        model.fit(train)
        """,
        "TFM304 confirmed",
        (),
    ),
    "a callback whose training takes data of a library that is not there": (
        """
        import pandas as pd
        import tensorflow as tf
        table = pd.read_csv("prices.csv")
        labels = table["close"].values
        images = tf.random.normal([len(labels), 64, 64, 3])
        {trains}
        writer = tf.keras.callbacks.TensorBoard("logs", histogram_freq=1, write_images=True)
        model.fit(images, labels, epochs=3, validation_split=0.1, callbacks=[writer])
        """,
        "TFM607 inconclusive",
        ("epochs=2", *(() if find_spec("tensorboard") else ("summaries are written where tensorboard is installed",))),
    ),
    "a larger array makes the peak": (
        """
        import tensorflow as tf
        (x_train, y_train), (x_test, y_test) = tf.keras.datasets.mnist.load_data()
        x_train = x_train.astype("float32") / 255.0
        x_test = x_test / 255.0
        {trains}
        model.fit(x_train, y_train, validation_data=(x_test, y_test))
        """,
        "TFM203 confirmed",
        (ALONE, "in the whole program"),
    ),
    "a shuffle that holds all elements": (
        """
        import numpy as np
        import tensorflow as tf
        train = tf.data.Dataset.from_tensor_slices(np.zeros((1024, 64, 64, 3), "float32"))
        train = train.map(lambda image: image / 255.0).shuffle(1024).batch(32)
        train = train.prefetch(24)
        for batch in train:
            tf.reduce_sum(batch)
        """,
        "TFM304 not confirmed",
        ("measured alone, with made-up operands,",),
    ),
    "a peak before the data set is iterated": (
        """
        import tensorflow as tf
        def load():
            (x_train, y_train), (x_test, y_test) = tf.keras.datasets.mnist.load_data()
            train = tf.data.Dataset.from_tensor_slices((x_train.astype("float32"), y_train))
            return train, tf.data.Dataset.from_tensor_slices((x_test.astype("float32"), y_test))
        train, test = load()
        test = test.batch(100).prefetch(64)
        """,
        "TFM304 confirmed",
        ("lies elsewhere", "the data set is iterated in place of training"),
    ),
    "float64 that nothing here can repair": (
        """
        import pandas as pd
        import tensorflow as tf
        from sklearn.model_selection import train_test_split
        from sklearn.preprocessing import StandardScaler
        data = pd.read_csv("measured.csv")
        inputs, prices = data.iloc[:, 2:].values, data["price"].values
        x_train, x_test, y_train, y_test = train_test_split(inputs, prices, test_size=0.2)
        rows = StandardScaler().fit_transform(x_train)
        rows = rows.reshape((rows.shape[0], 1, rows.shape[1]))
        model = tf.keras.Sequential([tf.keras.layers.LSTM(8), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(rows, y_train)
        """,
        "TFM202 confirmed",
        ("it is given float64 arrays of", "measured.csv is not there: a table of 1000 rows was made up"),
    ),
    "lists that fit the rows of a table": (
        """
        import numpy as np
        import pandas as pd
        import tensorflow as tf
        table = pd.read_csv("labels.csv")
        kinds = []
        for number in range(len(table)):
            kinds.append(number % 2)
        table["kind"] = kinds
        images = np.zeros((len(table), 64, 64, 3))
        {trains}
        model.fit(images, table["kind"].values)
        """,
        "TFM202 confirmed",
        ("a table of 1000 rows was made up",),
    ),
    "a folder of tables": (
        """
        import tensorflow as tf
        DEFAULTS = [[0.0]] * 20 + [[0]]
        def rows(pattern, mode="eval"):
            names = ["x" + str(number) for number in range(20)] + ["label"]
            data = tf.data.experimental.make_csv_dataset(pattern, 32, names, DEFAULTS, label_name="label")
            if mode == "train":
                data = data.shuffle(2000)
            return data.prefetch(1)
        """,
        "TFM307 confirmed",
        ('mode of rows is "train", as the flagged place asks', "a table of 1000 rows was made up, with 21 columns: x0"),
    ),
    "an optimizer of another strategy": (
        """
        import tensorflow as tf
        images, labels = tf.random.normal([64, 8, 8, 1]), tf.random.normal([64, 1])
        optimizer = tf.keras.optimizers.Adam(0.01)
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
            model.compile(optimizer, "mse")
        model.fit(images, labels)
        """,
        "TFM903 confirmed",
        ("RuntimeError: Mixing different tf.distribute.Strategy objects",),
    ),
    "scikit-learn": (
        """
        import tensorflow as tf
        from sklearn.ensemble import RandomForestRegressor
        from sklearn.metrics import r2_score
        from sklearn.model_selection import train_test_split
        from sklearn.preprocessing import MaxAbsScaler
        (x, y), _ = tf.keras.datasets.cifar10.load_data()
        x = x[:4000].reshape(4000, 3072)
        x = MaxAbsScaler().fit_transform(x)
        a, b, c, d = train_test_split(x, y[:4000], train_size=0.9)
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(a, c)
        print(r2_score(d, model.predict(b)))
        """,
        "TFM203 confirmed",
        (),
    ),
    "a card that is not there": (
        """
        import numpy as np
        import tensorflow as tf
        cards = tf.config.list_physical_devices("GPU")
        tf.config.set_visible_devices(cards[0], "GPU")

        class Loader:
            def __init__(self):
                self.images = np.zeros((500, 64, 64, 3), dtype="uint8")

            def scaled(self):
                return self.images / 255.0

        {trains}
        model.fit(Loader().scaled(), tf.zeros([500]))
        """,
        "TFM203 confirmed",
        (),
    ),
    "sessions that their graph outlives": (
        """
        import tensorflow.compat.v1 as tf
        tf.disable_v2_behavior()
        weights = tf.get_variable("weights", [1024, 1024], use_resource=True)
        total = tf.reduce_sum(weights)
        for trial in range(10):
            session = tf.InteractiveSession()
            session.run(tf.global_variables_initializer())
            print(session.run(total))
        """,
        "TFM902 confirmed",
        ("in the 10 rounds of the loop",),
    ),
    "a session that is dropped a round later": (
        """
        import tensorflow.compat.v1 as tf
        tf.disable_v2_behavior()
        weights = tf.get_variable("weights", [1024, 1024], use_resource=True)
        total = tf.reduce_sum(weights)
        for trial in range(10):
            session = tf.Session()
            session.run(tf.global_variables_initializer())
            print(session.run(total))
        """,
        "TFM902 too small to measure",
        (),
    ),
    "images of which there are as many without the list": (
        """
        import glob
        import cv2
        import numpy as np
        import tensorflow as tf
        images = []
        for path in glob.glob("photos/*.jpg"):
            images.append(cv2.resize(cv2.imread(path), (224, 224)) / 255.0)
        images = np.array(images)
        {trains}
        model.fit(images, np.zeros(len(images)))
        """,
        "TFM707 confirmed",
        (),
    ),
    "options that a function hands to its parser": (
        """
        import argparse
        import tensorflow as tf

        class Options:
            def __init__(self):
                self.parser = argparse.ArgumentParser()

            def add(self, *names, **how):
                self.parser.add_argument(*names, **how)

            def parsed(self):
                return self.parser.parse_args()

        options = Options()
        options.add("--side", type=int, default=64)
        args = options.parsed()
        data = tf.data.Dataset.range(4096).map(lambda i: tf.fill([args.side, args.side], tf.cast(i, tf.float32)))
        data = data.batch(32).prefetch(64)
        for batch in data:
            tf.reduce_sum(batch)
        """,
        "TFM304 confirmed",
        (),
    ),
    "an old API elsewhere": (
        """
        import tensorflow as tf
        (x, y), _ = tf.keras.datasets.mnist.load_data()
        x = x / 255.0
        model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
        model.compile(tf.keras.optimizers.SGD(lr=0.01), "mse")
        model.fit(x, y)
        """,
        "TFM203 confirmed",
        (),
    ),
    "a statement that never ran": (
        """
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Input((64,)), tf.keras.layers.Dense(4096)])
        model.add()
        found = []
        for batch in tf.data.Dataset.from_tensor_slices(tf.zeros([1024, 64])).batch(16):
            found.append(model(batch))
            share = len(found) / (len(found) - len(found))
        print(len(found), share)
        """,
        "TFM406 confirmed",
        ("in the 64 rounds of the loop",),
    ),
    "a layer in a model that fails afterwards": (
        """
        import tensorflow as tf
        model = tf.keras.Sequential([
            tf.keras.layers.Input((224, 224, 32)),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(192),
        ])
        print(model.output.shape)
        model.add()
        """,
        "TFM604 confirmed",
        ("claimed 308,281,536 parameters, seen 308,281,536 parameters",),
    ),
    "an option that is off": (
        """
        import argparse
        import tensorflow as tf
        parser = argparse.ArgumentParser()
        parser.add_argument("--trials", action="store_true")
        args = parser.parse_args()
        model = tf.keras.Sequential([tf.keras.layers.Input((64,)), tf.keras.layers.Dense(4096)])
        if args.trials:
            found = []
            for batch in tf.data.Dataset.from_tensor_slices(tf.zeros([1024, 64])).batch(16):
                found.append(model(batch))
            print(len(found))
        """,
        "TFM406 confirmed",
        ("in the 64 rounds of the loop",),
    ),
    "settings that are a path and a choice": (
        """
        import numpy as np
        import tensorflow as tf

        def scale(config):
            place = config["data"]["folder"] / config["data"]["text"]
            if config["data"]["way"] in ["scaled", "plain"]:
                print(place)
            else:
                raise ValueError("no such way")
            images = np.ones((500, 64, 64, 3), dtype="uint8")
            return tf.constant(images / 255.0)
        """,
        "TFM203 confirmed",
        (),
    ),
    "sizes that begin as models do": (
        """
        import tensorflow as tf

        class Attention(tf.keras.layers.Layer):
            def __init__(self, d_model, d_k, h):
                super().__init__()
                self.query = tf.keras.layers.Dense(h * d_k)
                self.out = tf.keras.layers.Dense(d_model)
                self.h, self.d_k = h, d_k

            def call(self, queries):
                rows, count = queries.shape[:2]
                split = tf.reshape(self.query(queries), (rows, count, self.h, self.d_k))
                scale = tf.Variable(tf.ones(self.d_k))
                return self.out(split * scale)
        """,
        "TFM503 confirmed",
        (),
    ),
    "arguments that are looked for": (
        """
        import sys
        import numpy as np
        import tensorflow as tf
        if len(sys.argv) == 2:
            part = sys.argv[1]
        images = np.zeros(({{"test": 100}}.get(part, 500), 64, 64, 3), dtype="uint8")
        {trains}
        model.fit(images / 255.0, tf.zeros([500]))
        """,
        "TFM203 confirmed",
        (),
    ),
    "version 1 by a name alone": (
        """
        import tensorflow as tf

        class Reader:
            def __init__(self, library=tf):
                self.rows = library.placeholder(library.float32, [None, 4])

        model = tf.keras.Sequential([tf.keras.layers.Flatten(input_shape=(224, 224, 32)), tf.keras.layers.Dense(64)])
        reader = Reader()
        """,
        "TFM604 confirmed",
        (),
    ),
    "parameters that nobody passes": (
        """
        import tensorflow as tf

        class Gate(tf.keras.layers.Layer):
            def __init__(self, title):
                super().__init__()
                self.title = title

            def call(self, x, mask):
                wide = tf.tile(mask[:, :, None], [1, 1, x.shape[2]])
                return x * wide
        """,
        "TFM703 confirmed",
        ("at the made-up sizes", "at smaller ones"),
    ),
    "a model that nobody passes": (
        """
        import tensorflow as tf

        def train(model, x, mask, epochs):
            wide = tf.tile(mask[:, None], [1, x.shape[1]])
            model.fit(x * wide, epochs=epochs)
        """,
        "TFM703 confirmed",
        ("measured alone, with operands made up from their use",),
    ),
    "attributes of an object that nobody passes": (
        """
        import tensorflow as tf

        class Weighting(tf.keras.layers.Layer):
            def __init__(self, place):
                super().__init__()
                self.centers = read_centers(place)

            def weights(self, cloud):
                points = cloud._points
                wide = points * tf.tile(self.centers[:, None], [1, points.shape[1]])
                return tf.nn.softmax(wide)
        """,
        "TFM703 confirmed",
        ("measured alone, with operands made up from their use",),
    ),
    "settings that another part of the project makes": (
        """
        import tensorflow as tf

        config = None

        def weighted(x, mask):
            if config.kind == "tiled":
                return x * tf.tile(mask[:, None], [1, x.shape[1]])

        weighted(tf.random.normal([20000, 200]), tf.random.normal([20000]))
        """,
        "TFM703 confirmed",
        (),
    ),
    "shapes that do not fit at the first try": (
        """
        import tensorflow as tf

        def distances(x, y):
            return tf.linalg.norm(x[:, None] - y[None], axis=-1) + tf.image.total_variation(x)[0]
        """,
        "TFM705 confirmed",
        (),
    ),
    "flags of the command line": (
        """
        import tensorflow as tf
        from absl import app, flags
        FLAGS = flags.FLAGS
        flags.DEFINE_integer("rows", 2000, "")

        def main(_argv):
            column = tf.ones([FLAGS.rows, 1])
            wide = tf.tile(column, [1, 4000])
            total = tf.ones([FLAGS.rows, 4000]) * wide

        if __name__ == "__main__":
            app.run(main)
        """,
        "TFM703 confirmed",
        (),
    ),
    "models of a long loop, of which some rounds run": (
        """
        import tensorflow as tf

        def build(size):
            inputs = tf.keras.layers.Input(shape=(size,))
            hidden = tf.keras.layers.Dense(512, activation="relu")(inputs)
            model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(hidden))
            model.compile("sgd", "mse")
            return model

        for size in range(2, 200):
            model = build(size)
            model.fit(tf.zeros([100, size]), tf.zeros([100]))
        """,
        "TFM601 confirmed",
        ("in the 198 rounds of the loop, of which 8 ran",),
    ),
    "TensorFlow 1": (
        """
        import numpy as np
        import tensorflow as tf
        x = tf.placeholder(tf.float32, [None, 10])
        w = tf.Variable(tf.random_normal([10, 1]))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.matmul(x, w)))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for step in range(1000):
                session.run(train, {{x: np.ones((5, 10))}})
                print(session.run(tf.reduce_sum(w)))
        """,
        "TFM901 confirmed",
        (),
    ),
    "a folder that the whole program reads, in a loop": (
        """
        import imgaug_of_nobody as imgaug
        import tensorflow as tf
        imgaug.seed = 1
        train = tf.keras.utils.image_dataset_from_directory("photos", image_size=(64, 64), batch_size=8)
        train = train.repeat(4).cache()
        {trains}
        model.fit(train, epochs=3)
        """,
        "TFM305 confirmed",
        (),
    ),
    "data and settings that nobody passes": (
        """
        import tensorflow as tf

        def batches(data: tf.data.Dataset, strategy, config, writer):
            data = data.map(lambda image, label: (tf.cast(image, tf.float32) / 255.0, label))
            writer.add_text(config["log_dir"], "rows")
            data = data.batch(config["data"]["batch_size"] * strategy.num_replicas_in_sync)
            data = data.prefetch(20)
            return data
        """,
        "TFM304 confirmed",
        ("at the made-up sizes",),
    ),
    "pictures that are not there": (
        """
        import tensorflow as tf

        def read(path):
            return tf.image.decode_png(tf.io.read_file(path), channels=3)

        photos = tf.data.Dataset.list_files("photos/*/*.png").map(read).repeat(4).cache()
        for photo in photos.batch(8):
            pass
        """,
        "TFM305 confirmed",
        (),
    ),
    "names of an older Keras, and arguments that must be given": (
        """
        import argparse
        import tensorflow as tf
        from keras.layers.core import Dense
        from keras.models import Sequential
        from keras.utils import np_utils
        parser = argparse.ArgumentParser()
        group = parser.add_argument_group("model")
        group.add_argument("--classes", type=int, required=True)
        args = parser.parse_args()
        labels = np_utils.to_categorical([0] * 100, args.classes)
        for size in range(2, 200):
            model = Sequential([Dense(512), Dense(args.classes)])
            model.load_weights("best.h5")
            model.compile("sgd", "mse")
            model.fit(tf.zeros([100, size]), labels)
        """,
        "TFM601 confirmed",
        (),
    ),
    "a pipeline that nothing is known of": (
        """
        import tensorflow as tf

        def rows(files, parse, batch):
            return tf.data.TFRecordDataset(files).map(parse, num_parallel_calls=4).shuffle(500_000).batch(batch)
        """,
        "TFM309 inconclusive",
        ("say what they are in a comment", "batch of rows is made up as 32"),
    ),
    "a pipeline that a comment tells of": (
        """
        import tensorflow as tf

        # tfmemlint: example records=dataset(float32[64,64]) * 4000
        def rows(files, parse, batch):
            records = tf.data.TFRecordDataset(files).map(parse, num_parallel_calls=4)
            return records.shuffle(500_000).batch(batch)
        """,
        "TFM309 confirmed",
        ("records=dataset(float32[64,64]) * 4000 stands in for", "parse of rows is made up as a function"),
    ),
    "numbers that only the command line has": (
        """
        import argparse
        import tensorflow as tf
        parser = argparse.ArgumentParser()
        parser.add_argument("folder")
        parser.add_argument("--batch", type=int)
        args = parser.parse_args()
        train = tf.keras.utils.image_dataset_from_directory(args.folder, image_size=(64, 64), batch_size=args.batch)
        train = train.cache().prefetch(args.batch)
        {trains}
        model.fit(train, epochs=3)
        """,
        "TFM317 confirmed",
        (),
    ),
    "a list of decoded pictures": (
        """
        import tensorflow as tf

        def decode(name):
            return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(name), channels=3), (64, 64))

        pictures = list(tf.data.Dataset.list_files("photos/*.jpg").map(decode))
        """,
        "TFM310 confirmed",
        (),
    ),
    "a setting that raises and is caught": (
        """
        import tensorflow as tf
        from nobody import read_settings
        options = read_settings("settings.json")
        table = tf.Variable(tf.zeros(options["shape"]))

        def limit():
            for card in tf.config.list_physical_devices("GPU"):
                try:
                    tf.config.experimental.set_memory_growth(card, True)
                except RuntimeError as error:
                    print(error)

        limit()
        """,
        "TFM101 confirmed",
        ("Physical devices cannot be modified after being initialized (caught)",),
    ),
    "a session that comes too late": (
        """
        import tensorflow as tf
        from nobody import read_settings
        table = tf.zeros(read_settings("settings.json")["shape"])
        config = tf.compat.v1.ConfigProto()
        config.gpu_options.allow_growth = True
        session = tf.compat.v1.Session(config=config)
        print(tf.reduce_sum(table))
        """,
        "TFM108 confirmed",
        ("eager TensorFlow makes the devices of the cards first",),
    ),
    "a probe whose answer is looked through": (
        """
        import tensorflow as tf
        from tensorflow.python.client import device_lib
        names = [each.name for each in device_lib.list_local_devices() if each.device_type == "GPU"]
        for card in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(card, True)
        print(tf.ones([4]), names)
        """,
        "TFM104 confirmed",
        ("a probe makes the devices of the cards first, with options that take them whole",),
    ),
    "a layer that keeps a tensor of its graph": (
        """
        import tensorflow as tf

        class Encoder(tf.keras.layers.Layer):
            def __init__(self, units):
                super().__init__()
                self.dense = tf.keras.layers.Dense(units)

            def call(self, x):
                self.last = self.dense(x)
                return self.last * 2.0
        """,
        "TFM504 confirmed",
        ("is held at the end", "the function was called by itself"),
    ),
    "a layer that makes another in each call": (
        """
        import tensorflow as tf

        class Noisy(tf.keras.layers.Layer):
            def call(self, x):
                return tf.keras.layers.Dense(8)(x)
        """,
        "TFM503 confirmed",
        ("variables were made in 2 of 2 calls",),
    ),
    "traces that only the loop shows": (
        """
        import tensorflow as tf

        @tf.function
        def apply(change, x):
            return change(x)

        x = tf.ones([4])
        for step in range(200):
            x = apply(lambda y: y * 0.5, x)
        """,
        "TFM501 confirmed",
        (),
    ),
    "code without the cost in place of a repair": (
        """
        import numpy as np
        import tensorflow as tf
        words = np.random.randint(0, 1000, 5000)
        rows = tf.keras.utils.to_categorical(words, 1000)
        model = tf.keras.Sequential([tf.keras.layers.Dense(1000, activation="softmax")])
        model.compile("sgd", "categorical_crossentropy")
        model.fit(np.zeros((5000, 32), "float32"), rows)
        """,
        "TFM205 confirmed",
        ("what follows the flagged statement raised: measured up to there",),
    ),
    "a layer of a model whose data is not there": (
        """
        import tensorflow as tf
        from my_data import words, tags

        def build(size):
            inputs = tf.keras.Input((size,))
            hidden = tf.keras.layers.Embedding(1000, 64)(inputs)
            hidden = tf.keras.layers.Conv1D(64, 3, padding="same")(hidden)
            outputs = tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(17))(hidden)
            model = tf.keras.Model(inputs, outputs)
            model.compile("adam", "mse")
            return model

        tagger = build(40)
        tagger.fit(words, tags)
        """,
        "TFM616 confirmed",
        (ALONE,),
    ),
    "models of folds of data that is not there": (
        """
        import tensorflow as tf
        from my_data import folds, x, y

        for train, test in folds(x, y):
            model = tf.keras.Sequential([tf.keras.Input((100,)), tf.keras.layers.Dense(512), tf.keras.layers.Dense(1)])
            model.compile("adam", "mse")
            model.fit(x[train], y[train], epochs=10)
            print(model.evaluate(x[test], y[test]))
        """,
        "TFM601 confirmed",
        (ALONE,),
    ),
    "images of a generator, whose file is not there": (
        """
        import numpy as np
        from tensorflow.keras.preprocessing.image import ImageDataGenerator
        images, labels = np.fromfile("images.bin"), np.fromfile("labels.bin")
        generator = ImageDataGenerator(horizontal_flip=True)
        generator.fit(images[:5000])
        print(next(generator.flow(images, labels, batch_size=32)))
        """,
        "TFM617 confirmed",
        ("saves 16 MiB at the made-up sizes", "measured alone, with operands made up from their use"),
    ),
    "a callback, which training calls": (
        """
        import tensorflow as tf

        class Kept(tf.keras.callbacks.Callback):
            def __init__(self):
                super().__init__()
                self.weights = []

            def on_epoch_end(self, epoch, logs=None):
                self.weights.append(self.model.get_weights())

        model = tf.keras.Sequential([tf.keras.layers.Dense(100), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(tf.zeros([100, 1000]), tf.zeros([100, 1]), epochs=50, callbacks=[Kept()])
        """,
        "TFM607 confirmed",
        (),
    ),
    "an attribute larger than what can be copied": (
        """
        import numpy as np
        import tensorflow as tf

        class Agent:
            def __init__(self, actions, size=50000):
                self.size = size
                self.memory = np.zeros((self.size, 2, 80, 80, 4))
                self.net = tf.keras.Sequential([tf.keras.layers.Dense(actions)])
        """,
        "TFM701 confirmed",
        ("claimed 19 GiB, seen 19 GiB",),
    ),
    "arrays of an object in a data set": (
        """
        import tensorflow as tf

        class Data:
            def __init__(self):
                self.train, self.test = tf.keras.datasets.cifar10.load_data()
                self.x, self.y = self.train[0] / 255.0, self.train[1]

            def pipeline(self):
                return tf.data.Dataset.from_tensor_slices((self.x, self.y)).shuffle(100).batch(32)

        for batch in Data().pipeline().take(3):
            print(batch[0].shape)
        """,
        "TFM311 confirmed",
        ("claimed 1.1 GiB, seen 1.1 GiB",),
    ),
    "gradients inside of a tape that goes on": (
        """
        import tensorflow as tf

        layers = [tf.keras.layers.Dense(512, activation="relu") for _ in range(4)]
        model = tf.keras.Sequential([*layers, tf.keras.layers.Dense(1)])
        optimizer = tf.keras.optimizers.Adam()

        def step(x, y):
            with tf.GradientTape(persistent=True) as tape:
                first = tf.reduce_mean(model(x) ** 2)
                grads = tape.gradient(first, model.trainable_variables)
                second = tf.reduce_mean((model(x) - y) ** 2)
                other = tape.gradient(second, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables))
            return other

        for _ in range(5):
            step(tf.random.normal((4096, 64)), tf.random.normal((4096, 1)))
        """,
        "TFM403 confirmed",
        (),
    ),
    "records that are not there": (
        """
        import tensorflow as tf

        def parse(record):
            kinds = {{"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}}
            parsed = tf.io.parse_single_example(record, kinds)
            pixels = tf.cast(tf.io.decode_raw(parsed["image"], tf.uint8), tf.float32)
            return tf.reshape(pixels, [96, 96, 3]), parsed["label"]

        {trains}
        train = tf.data.TFRecordDataset("train.tfrecords").map(parse).shuffle(1000).batch(8)
        model.fit(train)
        """,
        "TFM308 confirmed",
        (),
    ),
    "settings, a module, a model and arguments that are not there": (
        """
        import json
        import sys
        import nobody
        import numpy as np
        import tensorflow as tf
        settings = json.load(open("settings.json"))

        @nobody.registered(device=nobody.device("gpu"))
        def scaled(images):
            return images / 255.0

        count = 300 + settings["data"]["batch_size"] * int(sys.argv[1]) + os.getpid() % 2
        images = np.zeros((count, 64, 64, 3), dtype="uint8")
        model = tf.keras.models.load_model("model.h5")
        model.fit(scaled(images), np.zeros([count, 3]))
        """,
        "TFM203 confirmed",
        (),
    ),
    "names that Keras 3 refuses": (
        """
        import numpy as np
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=(50,)), tf.keras.layers.Dense(1)])
        inner = tf.keras.Model(model.input, model.layers[0].output)
        model.compile("sgd", "mse")
        words, labels = np.zeros((50000, 50)), np.zeros(50000)
        model.fit(words, labels, verbos=0)
        print(inner.predict(words), inner.layers[-1].name)
        """,
        "TFM202 confirmed",
        (),
    ),
    "a graph that grows, without a repair": (
        """
        import tensorflow as tf
        tf.compat.v1.disable_eager_execution()
        x = tf.compat.v1.placeholder(tf.float32, [None, 10])
        with tf.compat.v1.Session() as session:
            for epoch in range(1000):
                session.run(tf.reduce_sum(x), {{x: [[1.0] * 10]}})
        """,
        "TFM901 confirmed",
        (),
    ),
    "functions that run without graphs": (
        """
        import numpy as np
        import tensorflow as tf
        tf.config.run_functions_eagerly(True)
        model = tf.keras.Sequential([tf.keras.layers.Input((10,)), tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
        model.fit(np.zeros((100, 10), "float32"), np.zeros(100, "float32"))
        """,
        "TFM506 confirmed",
        (),
    ),
    "a step that only runs without a graph": (
        """
        import numpy as np
        import tensorflow as tf
        tf.config.run_functions_eagerly(True)

        class Own(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.layer = tf.keras.layers.Dense(1)

            def call(self, x):
                return self.layer(tf.constant(np.sort(x.numpy())))

        model = Own()
        model.compile("adam", "mse")
        model.fit(np.zeros((100, 10), "float32"), np.zeros(100, "float32"))
        """,
        "TFM506 the repair fails here",
        (),
    ),
    "a layer of a model that is only built": (
        """
        import tensorflow as tf

        def build(classes=10, weights=None):
            inputs = tf.keras.Input((64, 64, 3))
            x = tf.keras.layers.Conv2D(64, 3, padding="same", activation="relu")(inputs)
            x = tf.keras.layers.Flatten()(x)
            x = tf.keras.layers.Dense(256, activation="relu")(x)
            outputs = tf.keras.layers.Dense(classes)(x)
            return tf.keras.Model(inputs, outputs)
        """,
        "TFM604 confirmed",
        ("claimed 67,109,120 parameters, seen 67,109,120 parameters",),
    ),
    "an array as long as an argument": (
        """
        import numpy as np
        import tensorflow as tf

        def vectorize(sequences, dimension=20000):
            results = np.zeros((len(sequences), dimension))
            for number, sequence in enumerate(sequences):
                results[number, sequence] = 1.0
            return results

        (x_train, y_train), _ = tf.keras.datasets.imdb.load_data(num_words=20000)
        x_train = vectorize(x_train)
        """,
        "TFM701 confirmed",
        ("claimed 3.7 GiB, seen 3.7 GiB",),
    ),
    "a draw that is repeated, of files that are not there": (
        """
        import numpy as np
        import tensorflow as tf
        x, y = np.fromfile("images.bin"), np.fromfile("labels.bin")

        def pipeline(x, y, train=True):
            data = tf.data.Dataset.from_tensor_slices((x, y))
            if train:
                data = data.shuffle(100)
            data = data.cache()
            return data.batch(32)

        train = pipeline(x, y)
        """,
        "TFM306 confirmed",
        ("the function was called by itself",),
    ),
    "a draw that is repeated and shuffled": (
        """
        import tensorflow as tf
        data = tf.data.Dataset.from_tensor_slices(tf.random.uniform([200, 64]))
        data = data.map(lambda row: row + tf.random.uniform([64])).cache().shuffle(200).batch(16)
        """,
        "TFM306 confirmed",
        (),
    ),
    "a draw among equals": (
        """
        import tensorflow as tf
        data = tf.data.Dataset.from_tensors(tf.zeros([1000])).repeat(200).shuffle(100).cache().batch(10)
        """,
        "TFM306 not confirmed",
        (),
    ),
    "a forward pass that no gradient needs": (
        """
        import tensorflow as tf
        (x, y), _ = tf.keras.datasets.mnist.load_data()
        data = tf.data.Dataset.from_tensor_slices((tf.cast(x[:, :, :, None], "float32"), y)).batch(64)
        model = tf.keras.Sequential([tf.keras.layers.Conv2D(8, 3), tf.keras.layers.GlobalMaxPooling2D()])
        model.build((None, 28, 28, 1))
        optimizer = tf.keras.optimizers.SGD()

        def loss(images):
            return tf.reduce_mean(model(images))

        for images, labels in data:
            with tf.GradientTape() as tape:
                shown = model(images)
                value = loss(images)
            gradients = tape.gradient(value, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            print(tf.reduce_max(shown))
        """,
        "TFM408 confirmed",
        (),
    ),
    "batches of batches": (
        """
        import tensorflow as tf
        (x, y), _ = tf.keras.datasets.mnist.load_data()
        data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
        data = data.shuffle(100).batch(32)
        """,
        "TFM316 confirmed",
        (),
    ),
    "a loop that is traced, in a layer that nobody calls": (
        """
        import tensorflow as tf

        class Integrator(tf.keras.layers.Layer):
            def __init__(self, units):
                super().__init__()
                self.cell = tf.keras.layers.Dense(units)

            @tf.function
            def call(self, state):
                for step in range(200):
                    state = state + 0.01 * self.cell(state)
                return state
        """,
        "TFM510 confirmed",
        ("claimed 200 nodes", "the function was called by itself"),
    ),
    "a traced loop of which two rounds do something": (
        """
        import tensorflow as tf

        @tf.function
        def chosen(values):
            total = tf.zeros_like(values)
            for n in range(400):
                if n in (3, 5):
                    total += values
            return total

        chosen(tf.ones([4]))
        """,
        "TFM510 not confirmed",
        ("claimed 400 nodes",),
    ),
    "what each call leaves in TensorFlow": (
        """
        import numpy as np
        import tensorflow as tf

        def flip(image):
            return np.flip(image.numpy(), axis=1)

        def load(paths):
            images = []
            for path in paths:
                image = tf.image.decode_png(tf.io.read_file(path))
                images.append(tf.py_function(flip, [image], tf.uint8))
            return images

        load(tf.io.gfile.glob("data/*.png"))
        """,
        "TFM511 confirmed",
        ("Python functions after it was made",),
    ),
    "a pipeline that a function makes for each epoch": (
        """
        import numpy as np
        import tensorflow as tf
        x, y = np.random.rand(20000, 32).astype("float32"), np.random.rand(20000, 1).astype("float32")

        def batches(x, y):
            return tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1000).batch(256)

        for epoch in range(10):
            for rows, labels in batches(x, y):
                print(tf.reduce_mean(rows - labels))
        """,
        "TFM312 confirmed",
        ("took memory in 6 of 6 times, 2.",),
    ),
    "a pipeline of files, which each epoch makes for nothing": (
        """
        import tensorflow as tf

        def records(pattern):
            return tf.data.TFRecordDataset(tf.io.gfile.glob(pattern)).batch(8)

        for epoch in range(10):
            for rows in records("data/*.tfrecord"):
                print(rows)
        """,
        "TFM312 inconclusive",
        ("took memory in 0 of 6 times", "files were made up"),
    ),
    "a data set that reads for each training": (
        """
        import glob
        import numpy as np
        import tensorflow as tf
        from tensorflow import keras

        class Pictures(keras.utils.PyDataset):
            def __init__(self, folder):
                super().__init__()
                found = sorted(glob.glob(folder + "/*.jpg"))
                self.pictures = np.stack([tf.io.decode_jpeg(tf.io.read_file(path)).numpy() for path in found[:4]])

            def __len__(self):
                return 2

            def __getitem__(self, number):
                return self.pictures[number * 2 : number * 2 + 2], np.zeros((2, 1), "float32")

        for rate in (0.1, 0.01, 0.001, 0.0001):
            model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
            model.compile(keras.optimizers.SGD(rate), "mse")
            pictures = Pictures("photos")
            model.fit(pictures, verbose=0)
        """,
        "TFM618 confirmed",
        ("took memory in 4 of 4 times",),
    ),
    "a tape around a loop, whose rounds start anew in each epoch": (
        """
        import tensorflow as tf

        data = tf.data.Dataset.from_tensor_slices(tf.random.normal([640, 64])).batch(32)
        weight = tf.Variable(tf.random.normal([64, 512]))
        for epoch in range(5):
            with tf.GradientTape() as tape:
                loss = 0.0
                for batch in data:
                    loss += tf.reduce_mean(tf.tanh(batch @ weight))
            weight.assign_sub(tape.gradient(loss, weight))
        """,
        "TFM404 confirmed",
        ("in the 20 rounds of the loop",),
    ),
    "tapes in a list": (
        """
        import tensorflow as tf

        data = tf.data.Dataset.from_tensor_slices(tf.random.normal([640, 64])).batch(64)
        weight = tf.Variable(tf.random.normal([64, 2048]))
        tapes = []
        for batch in data:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.tanh(batch @ weight))
            tapes.append((tape, loss))
        """,
        "TFM405 confirmed",
        (),
    ),
    "a tape that its function hands to who takes its gradient": (
        """
        import tensorflow as tf

        weight = tf.Variable(tf.random.normal([64, 2048]))

        def recorded(batch):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.tanh(batch @ weight))
            return loss, tape

        for step in range(8):
            loss, tape = recorded(tf.random.normal([64, 64]))
            weight.assign_sub(tape.gradient(loss, weight))
        """,
        "TFM405 inconclusive",
        ("the program without what is flagged failed",),
    ),
    "predictions for batches of a size that nobody knows": (
        """
        import numpy as np
        import tensorflow as tf

        model = tf.keras.Sequential([tf.keras.layers.Dense(4)])

        def scores(batches):
            found = []
            for number in range(50):
                rows, labels = next(batches)
                found.append(np.mean(model.predict(rows, verbose=0).argmax(axis=1) == labels))
            return found

        data = tf.data.Dataset.from_tensor_slices((np.ones([400, 16], "float32"), np.ones([400], "int64")))
        scores(iter(data.repeat().batch(int(input()))))
        """,
        "TFM602 confirmed",
        ("for 20 times of the flagged statement",),
    ),
    "predictions behind a training, with a Keras of which nobody knows how it predicts": (
        """
        import numpy as np
        from keras.layers import Dense
        from keras.models import Sequential
        model = Sequential()
        model.add(Dense(512, input_dim=64))
        model.add(Dense(4))
        model.compile(loss="mse", optimizer="adam")
        rows = np.zeros((4000, 64), "float32")
        model.fit(rows, np.zeros((4000, 4)), epochs=100)
        found = [0.0]
        for row in rows:
            answer = model.predict(row.reshape(1, 64))
            found.append(answer[0][0])
        print(sum(found))
        """,
        "TFM602 confirmed",
        ("for 20 times of the flagged statement", "a training before the flagged loop was ended after a few steps"),
    ),
    "layers of TensorFlow 1 that are gone": (
        """
        import numpy as np
        import tensorflow as tf
        import tensorflow.contrib.slim as slim
        from tensorflow.keras.utils import to_categorical

        images = tf.placeholder(tf.float32, [None, 28, 28, 1])
        labels = tf.placeholder(tf.float32, [None, 10])
        with slim.arg_scope([slim.conv2d], activation_fn=tf.nn.relu, normalizer_fn=slim.batch_norm):
            hidden = slim.repeat(images, 2, slim.conv2d, 4, [3, 3], scope="first")
        logits = slim.fully_connected(slim.flatten(slim.max_pool2d(hidden, [2, 2])), 10, activation_fn=None)
        loss = tf.losses.softmax_cross_entropy(labels, logits)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for step in range(30):
                fed = {{images: np.ones([8, 28, 28, 1]), labels: to_categorical([1] * 8, 10)}}
                print(session.run(tf.reduce_mean(loss), fed))
        """,
        "TFM901 confirmed",
        ("in the 30 rounds of the loop",),
    ),
    "arrays in files that are not there": (
        """
        import pickle
        import numpy as np
        import tensorflow as tf
        from tensorflow.keras import layers

        with open("data/train.pkl", "rb") as file:
            x_train, y_train = pickle.load(file)
        x_test = np.load("data/test.npy")

        model = tf.keras.Sequential([layers.Input((24, 24, 3)), layers.Flatten(), layers.Dense(10, "softmax")])
        model.compile("sgd", "sparse_categorical_crossentropy")
        model.fit(x_train, y_train)
        found = []
        for batch in tf.data.Dataset.from_tensor_slices(x_test).batch(32):
            found.append(model(batch))
        """,
        "TFM406 confirmed",
        (),
    ),
    "shapes of layers as Keras 2 has them": (
        """
        import numpy as np
        import tensorflow as tf
        from tensorflow.keras import layers

        def network(width):
            image = layers.Input((16, 16, 3))
            side = image.shape.as_list()[1]
            hidden = layers.Dense(width * side)(layers.Flatten()(image))
            return tf.keras.Model(image, layers.Dense(1)(hidden))

        for width in range(8, 40):
            model = network(width)
            model.compile("sgd", "mse")
            model.fit(np.zeros([64, 16, 16, 3]), np.zeros([64, 1]))
        """,
        "TFM601 confirmed",
        ("in the 32 rounds of the loop",),
    ),
    "a parameter that is no array after all": (
        """
        import tensorflow as tf

        model = tf.keras.Sequential([tf.keras.layers.Input((64,)), tf.keras.layers.Dense(4096)])

        class Source:
            def __init__(self, host, folder):
                self.host = host
                self.folder = folder

            def outputs(self):
                data = tf.data.Dataset.from_tensor_slices(tf.zeros([4096, 64])).batch(16).shard(4, self.host)
                found = []
                for batch in data:
                    found.append(model(batch))
                print(len(found))
        """,
        "TFM406 confirmed",
        ("in the 64 rounds of the loop",),
    ),
    "a list that is filled beside a library that is not there": (
        """
        import numpy as np
        import tensorflow as tf
        import tfmemlint_absent

        with open("info.txt") as file:
            size = int(file.readline())
        rows = []
        for name in tf.io.gfile.listdir("sounds"):
            if name.endswith(".wav"):
                sound, _ = tf.audio.decode_wav(tf.io.read_file("sounds/" + name))
                rows.append(tfmemlint_absent and sound.numpy()[: 40000 + size])
        table = np.array(rows, dtype="float")
        {trains}
        model.fit(table, np.zeros(len(rows)))
        """,
        "TFM208 confirmed",
        (),
    ),
    "losses and optimizers of tensorflow_addons": (
        """
        import tensorflow as tf
        import tensorflow_addons as tfa

        def network(width):
            model = tf.keras.Sequential([tf.keras.layers.Input((64,)), tf.keras.layers.Dense(width)])
            model.compile(tfa.optimizers.LAMB(0.01), tfa.losses.TripletSemiHardLoss(margin=0.5))
            return model

        for width in range(8, 40):
            model = network(width)
            model.fit(tf.zeros([64, 64]), tf.zeros([64, 1]))
        """,
        "TFM601 confirmed",
        ("in the 32 rounds of the loop",),
    ),
    "names of a star import": (
        """
        from typing import *
        import tensorflow as tf

        class Scale(tf.keras.layers.Layer):
            def __init__(self, dim):
                super().__init__()
                self.scale = self.add_weight(name="scale", shape=(dim,))

            def call(self, x) -> Tuple[tf.Tensor]:
                return x * self.scale

        class Block(tf.keras.layers.Layer):
            def call(self, x) -> Tuple[tf.Tensor]:
                return Scale(64)(x)
        """,
        "TFM503 confirmed",
        (),
    ),
    "a static method of a class that asks for more": (
        """
        import tensorflow as tf
        from tensorflow.keras import Input, Model, layers

        class Snapshots(tf.keras.callbacks.Callback):
            def __init__(self, folder, cycles):
                self.folder, self.cycles = folder, cycles

            @staticmethod
            def network(image):
                model = Model(image, layers.Dense(3)(layers.Flatten()(image)))
                model.compile("sgd", "mse")
                return model

            @staticmethod
            def ensemble(paths, size=(13, 13, 3)):
                image = Input(shape=size)
                outputs = []
                for path in paths:
                    model = Snapshots.network(image)
                    model.load_weights(path)
                    model.fit(tf.zeros([32, 13, 13, 3]), tf.zeros([32, 3]))
                    outputs.append(model.output)
        """,
        "TFM601 confirmed",
        (),
    ),
    "what follows raises": (
        """
        import numpy as np
        import tensorflow as tf

        def load(folder, size):
            ending = "_" + str(size)
            rows = np.loadtxt(folder + "rows" + ending, delimiter=",", dtype=float)
            labels = np.loadtxt(folder + "labels" + ending, delimiter=",", dtype=np.int32)
            return rows, labels

        def main(path, size):
            rows, labels = load(path, size)
            found = tf.contrib.learn.Estimator(model_fn=1)
            data = tf.data.Dataset.from_tensor_slices(rows)
            found.fit(x=data)
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(rows, labels)
        """,
        "TFM208 confirmed",
        (),
    ),
    "a model that is compiled to run without a graph": (
        """
        import numpy as np
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Input((10,)), tf.keras.layers.Dense(1)])
        model.compile("adam", "mse", run_eagerly=True)
        model.fit(np.load("rows.npy"), np.load("labels.npy"))
        """,
        "TFM506 confirmed",
        ("measured alone",),
    ),
    "a network of a library that is not there": (
        """
        import tensorflow as tf
        import tfmemlint_absent.tfkeras as zoo

        def network(width):
            base = zoo.EfficientNetB0(include_top=False, weights="imagenet", input_shape=(64, 64, 3))
            hidden = tf.keras.layers.Flatten()(base.output)
            return tf.keras.Model(base.input, tf.keras.layers.Dense(width)(hidden))

        for width in range(8, 40):
            model = network(width)
            model.compile("sgd", "mse")
            model.fit(tf.zeros([32, 64, 64, 3]), tf.zeros([32, width]))
        """,
        "TFM601 confirmed",
        ("in the 32 rounds of the loop",),
    ),
    "a column of a library that is not there": (
        """
        import numpy as np
        import tensorflow as tf
        import tfmemlint_absent as pd

        table = pd.read_csv("temperatures.csv")
        series = np.array(table["Temp"], float)
        {trains}
        model.fit(series[:-1], series[1:])
        """,
        "TFM208 confirmed",
        ("measured alone, with operands made up from their use",),
    ),
    "weights in a file without a name": (
        """
        import tensorflow as tf
        path = ""
        model = tf.keras.Sequential([tf.keras.layers.Input((64,)), tf.keras.layers.Dense(4096)])
        model.load_weights(path)
        found = []
        for batch in tf.data.Dataset.from_tensor_slices(tf.zeros([1024, 64])).batch(16):
            found.append(model(batch))
        print(len(found))
        """,
        "TFM406 confirmed",
        ("in the 64 rounds of the loop",),
    ),
    "a progress bar that is not there": (
        """
        import tensorflow as tf
        from tfmemlint_absent import tqdm
        model = tf.keras.Sequential([tf.keras.layers.Input((64,)), tf.keras.layers.Dense(4096)])
        found = []
        bar = tqdm(tf.data.Dataset.from_tensor_slices(tf.zeros([1024, 64])).batch(16))
        for batch in bar:
            found.append(model(batch))
            bar.set_description(f"{{len(found)}} batches")
        print(len(found))
        """,
        "TFM406 confirmed",
        ("in the 64 rounds of the loop",),
    ),
    "a table that is taken apart by something else": (
        """
        import csv
        import cv2
        import numpy as np
        import tensorflow as tf

        def load(folder):
            images = []
            with open(folder + "/labels.csv") as file:
                rows = csv.reader(file, delimiter=";")
                next(rows)
                for row in rows:
                    images.append(cv2.imread(folder + "/" + row[0])[: 128, : 128] * int(row[7]))
            return images

        images = np.array(load("signs"), dtype=float)
        {trains}
        model.fit(images, np.zeros(len(images)))
        """,
        "TFM208 confirmed",
        ("signs/labels.csv is not there",),
    ),
    "lines that are split into names": (
        """
        import numpy as np
        import tensorflow as tf

        def read(path):
            return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path), channels=3), [128, 128]).numpy()

        images, labels = [], []
        with open("splits/train.txt") as file:
            for line in file.readlines():
                path, width, label = line.strip().split(",")
                images.append(read(path))
                labels.append(int(label) * int(width))
        images = np.array(images, dtype=float)
        {trains}
        model.fit(images, np.array(labels))
        """,
        "TFM208 confirmed",
        ("splits/train.txt is not there",),
    ),
    "a search over estimators that are gone": (
        """
        import numpy as np
        import tensorflow as tf
        from keras.wrappers.scikit_learn import KerasClassifier
        from sklearn.model_selection import GridSearchCV

        def build(width=64):
            model = tf.keras.Sequential([tf.keras.layers.Dense(width, input_shape=(64,)), tf.keras.layers.Dense(3)])
            model.compile("adam", "categorical_crossentropy")
            return model

        x, y = np.random.rand(300, 64), np.arange(300) % 3
        search = GridSearchCV(KerasClassifier(build_fn=build, epochs=2), {{"width": [256, 512, 1024]}}, cv=3)
        found = search.fit(x, y)
        print(found.best_score_, found.best_params_)
        """,
        "TFM601 confirmed",
        ("its estimators train the models that they are given",),
    ),
    "a setting that is the key of a dictionary": (
        """
        import numpy as np
        import tensorflow as tf
        WIDTHS = {{"large": 512, "small": 64}}

        def train(config):
            width = WIDTHS[config.size]
            images = np.array(np.zeros((500, 64, width), "float32"), dtype=float)
            model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(images, np.zeros(len(images)), epochs=config.epochs)
        """,
        "TFM208 confirmed",
        ("settings of usual values",),
    ),
    "a buffer of more batches than there are files": (
        """
        import tensorflow as tf

        def read(path):
            return tf.image.resize(tf.io.decode_png(tf.io.read_file(path), channels=3), [32, 32])

        train = tf.data.Dataset.list_files("photos/train/*/*.png").map(read).batch(128).shuffle(1024).prefetch(1)
        """,
        "TFM307 confirmed",
        ("1024 files",),
    ),
    "a distribution of a library that is not there": (
        """
        import tensorflow as tf
        import tensorflow_probability as tfp
        model = tf.keras.Sequential([tf.keras.layers.Input((64,)), tf.keras.layers.Dense(4096)])
        noise = tfp.distributions.Normal(tf.zeros([64]), 0.1)
        found = []
        for batch in tf.data.Dataset.from_tensor_slices(tf.zeros([1024, 64])).batch(16):
            found.append(model(batch + noise.sample(16)))
        print(len(found))
        """,
        "TFM406 confirmed",
        ("in the 64 rounds of the loop",),
    ),
    "the size of a file that is not there": (
        """
        import os
        import h5py
        import numpy as np
        import tensorflow as tf

        def load(name):
            size = os.path.getsize(name) / 2**20
            with h5py.File(name, "r") as file:
                return np.array(file["x"], dtype=float), file["y"][:], size

        x, y, size = load("data/signs.h5")
        {trains}
        model.fit(x, y)
        """,
        "TFM208 confirmed",
        (),
    ),
    "a folder that a library would tell": (
        """
        import numpy as np
        import tensorflow as tf
        from tfmemlint_absent import Datasets
        path = Datasets().get_gcs_path("seismic")
        names = tf.io.gfile.glob(path + "/train/*.jpg")

        def read(name):
            return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(name), channels=3), [128, 128])

        images = np.array([read(name).numpy() for name in names], dtype=float)
        {trains}
        model.fit(images, np.zeros(len(images)))
        """,
        "TFM208 confirmed",
        ("its text is 'folder'",),
    ),
    "rows that are split into even parts": (
        """
        import numpy as np
        import pandas as pd
        import tensorflow as tf

        def weeks(table):
            train = table[1:-328]
            return np.array(np.split(train, len(train) / 7), dtype=float)

        table = pd.read_csv("days.csv", header=0, parse_dates=["datetime"], index_col=["datetime"])
        train = np.repeat(weeks(table.values), 256, axis=2)
        {trains}
        model.fit(train, train[:, 0, 0])
        """,
        "TFM208 confirmed",
        ("were to be split into",),
    ),
    "a model that the Keras in TensorFlow's source would load": (
        """
        import numpy as np
        import tensorflow as tf
        from tensorflow.python.keras.models import load_model
        model = load_model("signs.h5")
        for row in np.zeros((2000, 4096), "float32"):
            found = model.predict(row[None])
            print(found)
        """,
        "TFM602 inconclusive",
        ("names of tensorflow.python.keras are those of tf.keras", "the model was made up"),
    ),
    "optimizers of Keras in a program for version 1": (
        """
        import numpy as np
        import tensorflow as tf
        from keras.layers import Dense
        from keras.models import Sequential
        from keras.optimizers import Adam

        for width in range(8, 40):
            model = Sequential([Dense(1 << 16, input_shape=(64,)), Dense(width)])
            model.compile(Adam(lr=0.01), "mse")
            model.fit(np.zeros((64, 64)), np.zeros((64, width)))
        tf.reset_default_graph()
        """,
        "TFM601 confirmed",
        ("tensorflow is tensorflow.compat.v1 here",),
    ),
    "a debugger around a session": (
        """
        import tensorflow as tf
        from tensorflow.python import debug as tf_debug
        x = tf.placeholder(tf.float32, [None, 10])
        count, total = tf.Variable(0.0), tf.reduce_sum(x)
        with tf.Session() as session:
            session = tf_debug.TensorBoardDebugWrapperSession(session, "localhost:6064")
            session.run(tf.global_variables_initializer())
            for step in range(1000):
                now = tf.add(count, total)
                print(session.run(now, {{x: [[1.0] * 10]}}))
        """,
        "TFM901 confirmed",
        ("tensorflow.python.debug watches nothing here",),
    ),
    "a layer that hands itself on": (
        """
        import tensorflow as tf

        class Block(tf.keras.layers.Layer):
            def __init__(self, width):
                super(Block, self).__init__(self)
                self.inner = tf.keras.layers.Dense(width)

            def call(self, x):
                return self.inner(x)

        for width in range(8, 40):
            model = tf.keras.Sequential([tf.keras.layers.Input((64,)), Block(width)])
            model.compile("sgd", "mse")
            model.fit(tf.zeros([64, 64]), tf.zeros([64, width]))
        """,
        "TFM601 confirmed",
        ("in the 32 rounds of the loop",),
    ),
    "a key of what is loaded": (
        """
        import numpy as np
        import tensorflow as tf

        class Sprites:
            def __init__(self, path):
                self.images = np.load(path)["imgs"]

        images = np.array(Sprites("sprites.npz").images, dtype=float)
        {trains}
        model.fit(images, np.zeros(len(images)))
        """,
        "TFM208 confirmed",
        ("'imgs' of sprites.npz is not there",),
    ),
    "a log in a folder that is not there": (
        """
        import logging
        import numpy as np
        import tensorflow as tf
        log = logging.getLogger("train")
        log.addHandler(logging.FileHandler("logs/today/train.log"))
        images = np.array(np.zeros((500, 64, 64, 3), "float32"), dtype=float)
        log.info(images.shape)
        {trains}
        model.fit(images, np.zeros(500))
        """,
        "TFM208 confirmed",
        (),
    ),
    "a layer that takes over a constructor": (
        """
        import tensorflow as tf

        class Normalized(tf.keras.layers.Dense):
            def call(self, inputs):
                length = tf.norm(self.kernel, axis=0)
                self.scaled = self.kernel / length
                return tf.matmul(inputs, self.scaled)
        """,
        "TFM504 confirmed",
        ("units=10 is given to Normalized",),
    ),
    "a score behind the training that raises": (
        """
        import math
        import numpy as np
        import tensorflow as tf
        from tensorflow.keras.layers import LSTM, Dense, RepeatVector, TimeDistributed
        from tensorflow.keras.models import Sequential

        def build(rows):
            x, y = [], []
            for at in range(len(rows) - 60):
                x.append(rows[at : at + 50])
                y.append(rows[at + 50 : at + 60, 0])
            x, y = np.array(x), np.array(y)
            y = y.reshape((y.shape[0], y.shape[1], 1))
            model = Sequential()
            model.add(LSTM(16, input_shape=(x.shape[1], x.shape[2])))
            model.add(RepeatVector(y.shape[1]))
            model.add(LSTM(16, return_sequences=True))
            model.add(Dense(4096, activation="relu"))
            model.add(TimeDistributed(Dense(1)))
            model.compile("adam", "mse")
            model.fit(x, y)
            return model

        def score(model, rows):
            total = model.predict(rows[None, :50])[0]
            return math.sqrt(total / len(rows))

        rows = np.loadtxt("rows.txt", delimiter=",")
        model = build(rows)
        found = score(model, rows)
        print(found)
        """,
        "TFM616 confirmed",
        ("both end then with TypeError",),
    ),
    "ops in a generator": (
        """
        import tensorflow as tf
        def rows():
            for number in range(200):
                yield tf.one_hot(number, 1000)
        ds = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec((1000,))).batch(4)
        {trains}
        model.fit(ds.map(lambda x: (x, x[:, :1])))
        """,
        "TFM319 confirmed",
        ("it ran eagerly", "ms each"),
    ),
    "a data set in a generator": (
        """
        import tensorflow as tf
        rows = tf.data.Dataset.range(200).map(lambda n: tf.one_hot(n, 1000))
        def some(train):
            def generator():
                for row in rows:
                    yield row.numpy(), row.numpy()[:1]
            return generator
        signature = (tf.TensorSpec((1000,)), tf.TensorSpec((1,)))
        ds = tf.data.Dataset.from_generator(some(True), output_signature=signature)
        {trains}
        model.fit(ds.batch(4))
        """,
        "TFM319 confirmed",
        ("it ran eagerly", "ms each"),
    ),
    "an option that the code needs and that has no default": (
        """
        import argparse
        import os
        import numpy as np
        import tensorflow as tf
        parser = argparse.ArgumentParser()
        parser.add_argument("--batch-size")
        parser.add_argument("--data")
        parser.add_argument("--name")
        args = parser.parse_args()
        labels = np.load(os.path.join(args.data, "labels.npy"))
        images = np.zeros((4096, 64, 64, 3))
        {trains}
        model.fit(images, labels, batch_size=int(args.batch_size))
        """,
        "TFM202 confirmed",
        ("--batch-size 32 --data data", "labels.npy is not there"),
    ),
    "a program of version 1 that is eager": (
        """
        import tensorflow as tf
        tf.enable_eager_execution()
        model = tf.keras.Sequential([tf.keras.layers.Dense(4096, input_shape=(64,))])
        found = []
        for batch in tf.data.Dataset.from_tensor_slices(tf.zeros([1024, 64])).batch(16):
            found.append(model(tf.to_float(batch)))
        print(len(found))
        """,
        "TFM406 confirmed",
        ("and runs eagerly",),
    ),
    "volumes that are written to a place of their size": (
        """
        import numpy as np
        import tensorflow as tf
        volumes = np.zeros((20, 96, 96, 32, 1))
        for number in range(20):
            volumes[number, :, :, :, 0] = np.load("volumes/" + str(number) + "-image.npy")
        {trains}
        model.fit(volumes, np.zeros(20))
        """,
        "TFM202 confirmed",
        ("0-image.npy is not there: float32[96,96,32] was made up",),
    ),
    "rows of a table that are pictures": (
        """
        import numpy as np
        import pandas as pd
        import tensorflow as tf
        table = pd.read_csv("letters.csv")
        labels, pixels = table["label"].values, table.drop(columns=["label"]).values
        images = np.zeros((len(pixels), 64, 64, 3))
        images[:, :28, :28, 0] = pixels.reshape(len(pixels), 28, 28)
        {trains}
        model.fit(images, labels)
        """,
        "TFM202 confirmed",
        ("a table of 1000 rows was made up, with 785 columns: label",),
    ),
    "columns that only an error names": (
        """
        import pandas as pd
        import tensorflow as tf
        WORDS = ["age", "height", "weight"]
        table = pd.read_csv("people.csv")
        labels, found = table.pop("label"), dict(table)
        total = sum(found[word].values for word in WORDS)
        images = tf.random.normal([len(labels), 64, 64, 3]) * tf.cast(total[:, None, None, None], tf.float32)
        ds = tf.data.Dataset.from_tensor_slices((images, labels)).batch(32).prefetch(500)
        {trains}
        model.fit(ds)
        """,
        "TFM304 confirmed",
        ("height",),
    ),
    "classes of a folder by their names": (
        """
        import tensorflow as tf
        train = tf.keras.utils.image_dataset_from_directory(
            "animals", class_names=["cat", "dog", "owl"], image_size=(64, 64), batch_size=16)
        train = train.prefetch(64)
        model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(3)])
        model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        model.fit(train)
        """,
        "TFM304 confirmed",
        ("a folder with 3 folders",),
    ),
    "a number that a function refuses to do without": (
        """
        import tensorflow as tf
        def rows(count=0):
            if not count:
                raise ValueError("how many?")
            ds = tf.data.Dataset.range(4000).map(lambda n: tf.one_hot(n % count, 20000))
            return ds.batch(8).prefetch(100)
        """,
        "TFM304 confirmed",
        ("count of rows is made up",),
    ),
    "an option that must be given, and has a default": (
        """
        import argparse
        import tensorflow as tf
        parser = argparse.ArgumentParser()
        parser.add_argument("--count", type=int, default=200, required=True)
        args = parser.parse_args()
        tf1 = tf.compat.v1
        tf1.disable_eager_execution()
        x = tf1.placeholder(tf.float32, [None, 4])
        with tf1.Session() as session:
            for number in range(args.count):
                session.run(tf.nn.relu(x * 2.0), feed_dict=dict([(x, [[1.0] * 4])]))
        """,
        "TFM901 confirmed",
        ("--count 200",),
    ),
    "batches that only change places": (
        """
        import tensorflow as tf
        ds = tf.keras.utils.image_dataset_from_directory("leaves", image_size=(64, 64), batch_size=16)
        ds = ds.cache().shuffle(1000).prefetch(1)
        {trains}
        model.fit(ds)
        """,
        "TFM307 confirmed",
        ("batches has the same rows in both epochs",),
    ),
    "parts that are joined in a loop": (
        """
        import numpy as np
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(50)])
        ds = tf.data.Dataset.from_tensor_slices(tf.random.normal([640, 8])).batch(32)
        found = None
        for number, rows in enumerate(ds):
            given = model.predict_on_batch(rows)
            found = given if number == 0 else np.concatenate([found, given])
        print(found.shape)
        """,
        "TFM702 confirmed",
        ("were copied in",),
    ),
    "a generator of pictures that a function makes": (
        """
        import absent
        import tensorflow as tf
        def train(model):
            images, labels = absent.load()
            changes = tf.keras.preprocessing.image.ImageDataGenerator(rotation_range=9)
            changes.fit(images)
            model.fit(changes.flow(images, labels))
        """,
        "TFM617 confirmed",
        ("a generator takes images alone",),
    ),
    "a call in the loop behind one before it": (
        """
        import tensorflow as tf
        tf1 = tf.compat.v1
        tf1.disable_eager_execution()
        def made(x):
            return tf1.nn.relu(x * 2.0)
        x = tf1.placeholder(tf.float32, [None, 4])
        first = made(x)
        with tf1.Session() as session:
            for number in range(30):
                session.run(made(x), feed_dict=dict([(x, [[1.0] * 4])]))
        """,
        "TFM901 confirmed",
        ("in the 30 rounds of the loop",),
    ),
    "arguments of Keras 1": (
        """
        import os
        import numpy as np
        from tensorflow.keras.layers import Convolution2D, Dense, Flatten
        from tensorflow.keras.models import Sequential
        os.mkdir("results/first")
        images = np.zeros((2000, 32, 32, 3))
        layers = [Convolution2D(4, 3, 3, border_mode="same", subsample=(4, 4)), Flatten(), Dense(output_dim=1)]
        model = Sequential(layers)
        model.compile("sgd", "mse")
        model.fit(images, np.zeros((2000, 1), "float32"), nb_epoch=1)
        """,
        "TFM202 confirmed",
        ("padding was set for border_mode of Conv2D", "the third number of Conv2D are its kernel"),
    ),
    "folders that a program may not write to": (
        """
        import numpy as np
        import tensorflow as tf
        images = np.zeros((500, 64, 64, 3))
        {trains}
        model.fit(images, np.zeros((500, 1), "float32"), callbacks=[tf.keras.callbacks.TensorBoard("/usr/share/more")])
        """,
        "TFM202 confirmed",
        ("/usr/share/more", "cannot be written here"),
    ),
}


PARTS = 8
"""On how many days each of the files has been measured once; `make obstacles` measures all, side by side."""


@pytest.mark.tensorflow
@pytest.mark.parametrize("part", share(range(PARTS), PARTS))
def test_each_obstacle_has_its_verdict(part: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    obstacles = dict(list(OBSTACLES.items())[part::PARTS])
    for name, (text, _, _) in obstacles.items():
        written = textwrap.dedent(text).lstrip("\n").format(trains=TRAINS.strip())
        (tmp_path / f"{name.replace(' ', '_')}.py").write_text(written, encoding="utf-8")
    codes = {verdict.partition(" ")[0] for _, verdict, _ in obstacles.values()}
    others = {name: sorted(codes - {verdict.partition(" ")[0]}) for name, (_, verdict, _) in obstacles.items()}
    lines = [f'"{name.replace(" ", "_")}.py" = {json.dumps(each)}' for name, each in others.items()]
    config = ('select = ["ALL"]', "[per-file-ignores]", *lines)  # what else is found is not measured
    (tmp_path / "tfmemlint.toml").write_text("\n".join(config))
    select = ",".join(sorted(codes))
    words = ["verify", "--device", "cpu", "--repeat", "1", "--output-format", "json", "--select", select]
    assert commands.main([*words, str(tmp_path)]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    found = {(Path(each["place"].split(":")[0]).stem, each["code"]): each for each in results}
    verdicts = {
        name: found[name.replace(" ", "_"), verdict.partition(" ")[0]] for name, (_, verdict, _) in obstacles.items()
    }
    assert {name: f"{each['code']} {each['verdict']}" for name, each in verdicts.items()} == {
        name: verdict for name, (_, verdict, _) in obstacles.items()
    }
    missing = {
        (name, word): each["reason"]
        for name, each in verdicts.items()
        for word in obstacles[name][2]
        if word not in "\n".join((each["reason"], *each["notes"]))
    }
    assert missing == {}
