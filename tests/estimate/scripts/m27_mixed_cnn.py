import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, mixed_precision

mixed_precision.set_global_policy("mixed_bfloat16")
BATCH_SIZE = 16
model = tf.keras.Sequential([
    layers.Input(shape=(64, 64, 3)),
    layers.Conv2D(64, 3, activation="relu", padding="same"),
    layers.Conv2D(64, 3, activation="relu", padding="same"),
    layers.MaxPooling2D(),
    layers.Conv2D(128, 3, activation="relu", padding="same"),
    layers.BatchNormalization(),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(256, activation="relu"),
    layers.Dense(10),
    layers.Activation("softmax", dtype="float32"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
x_train = np.random.rand(BATCH_SIZE * 4, 64, 64, 3).astype("float32")
y_train = np.random.randint(0, 10, BATCH_SIZE * 4)
model.fit(x_train, y_train, batch_size=BATCH_SIZE, epochs=1)
