import numpy as np
import tensorflow as tf
from tensorflow import keras

BATCH_SIZE = 8
model = keras.Sequential([
    keras.layers.Input((96, 96, 3)),
    keras.layers.Conv2D(32, 3, activation="relu"),
    keras.layers.BatchNormalization(),
    keras.layers.Conv2D(64, 3, strides=2, activation="relu"),
    keras.layers.BatchNormalization(),
    keras.layers.Conv2D(128, 3, strides=2, activation="relu"),
    keras.layers.AveragePooling2D(2),
    keras.layers.Flatten(),
    keras.layers.Dense(128, activation="relu"),
    keras.layers.Dense(3, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(1e-3, gradient_accumulation_steps=4),
              loss="sparse_categorical_crossentropy", metrics=["accuracy"])
X = np.random.rand(BATCH_SIZE * 6, 96, 96, 3).astype("float32")
y = np.random.randint(0, 3, BATCH_SIZE * 6)
model.fit(X, y, batch_size=BATCH_SIZE, epochs=1)
