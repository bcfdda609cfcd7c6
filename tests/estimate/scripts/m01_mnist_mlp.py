import numpy as np
import tensorflow as tf
from tensorflow import keras

BATCH_SIZE = 128
x_train = np.random.rand(BATCH_SIZE * 4, 28, 28).astype("float32")
y_train = np.random.randint(0, 10, BATCH_SIZE * 4)

model = keras.Sequential([
    keras.layers.Flatten(input_shape=(28, 28)),
    keras.layers.Dense(1024, activation="relu"),
    keras.layers.Dropout(0.3),
    keras.layers.Dense(1024, activation="relu"),
    keras.layers.Dropout(0.3),
    keras.layers.Dense(512, activation="relu"),
    keras.layers.Dense(10, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=BATCH_SIZE, epochs=1)
