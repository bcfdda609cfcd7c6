import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

BATCH_SIZE = 64
model = tf.keras.Sequential([
    layers.Input(shape=(256, 6)),
    layers.Conv1D(64, 5, activation="relu", padding="same"),
    layers.Conv1D(64, 5, activation="relu", padding="same"),
    layers.MaxPooling1D(4),
    layers.Conv1D(128, 3, activation="relu", padding="same"),
    layers.BatchNormalization(),
    layers.LSTM(64),
    layers.Dense(32, activation="relu"),
    layers.Dense(6, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy")
signals = np.random.randn(BATCH_SIZE * 4, 256, 6).astype("float32")
activity = np.random.randint(0, 6, BATCH_SIZE * 4)
model.fit(signals, activity, batch_size=BATCH_SIZE)
