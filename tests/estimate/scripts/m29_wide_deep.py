import numpy as np
import tensorflow as tf
from tensorflow import keras

BATCH_SIZE = 256
user = keras.layers.Input(shape=(1,), name="user")
item = keras.layers.Input(shape=(1,), name="item")
dense_in = keras.layers.Input(shape=(40,), name="dense_in")
u = keras.layers.Flatten()(keras.layers.Embedding(50000, 32)(user))
i = keras.layers.Flatten()(keras.layers.Embedding(20000, 32)(item))
x = keras.layers.Concatenate()([u, i, dense_in])
x = keras.layers.Dense(512, activation="relu")(x)
x = keras.layers.BatchNormalization()(x)
x = keras.layers.Dropout(0.3)(x)
x = keras.layers.Dense(256, activation="relu")(x)
x = keras.layers.BatchNormalization()(x)
x = keras.layers.Dropout(0.3)(x)
x = keras.layers.Dense(64, activation="relu")(x)
out = keras.layers.Dense(1, activation="sigmoid")(x)
model = keras.Model([user, item, dense_in], out)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["AUC"])
n = BATCH_SIZE * 4
model.fit([np.random.randint(0, 50000, (n, 1)), np.random.randint(0, 20000, (n, 1)), np.random.rand(n, 40)],
          np.random.randint(0, 2, n), batch_size=BATCH_SIZE)
