import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import LSTM, GRU, Bidirectional, Dense, Dropout, Conv1D
from tensorflow.keras.models import Sequential

BATCH_SIZE = 64
WINDOW = 96
FEATURES = 14
HORIZON = 24

series = np.cumsum(np.random.randn(5000, FEATURES), axis=0).astype("float32")


def windows():
    for start in range(len(series) - WINDOW - HORIZON):
        yield series[start:start + WINDOW], series[start + WINDOW:start + WINDOW + HORIZON, 0]


dataset = tf.data.Dataset.from_generator(
    windows,
    output_signature=(
        tf.TensorSpec(shape=(WINDOW, FEATURES), dtype=tf.float32),
        tf.TensorSpec(shape=(HORIZON,), dtype=tf.float32),
    ),
)
dataset = dataset.shuffle(500).batch(BATCH_SIZE, drop_remainder=True).prefetch(1)

model = Sequential([
    Conv1D(32, kernel_size=3, padding="causal", activation="relu", input_shape=(WINDOW, FEATURES)),
    Bidirectional(LSTM(96, return_sequences=True)),
    Dropout(0.2),
    Bidirectional(GRU(64)),
    Dense(64, activation="relu"),
    Dense(HORIZON),
])
model.compile(loss=tf.keras.losses.Huber(), optimizer=tf.keras.optimizers.SGD(learning_rate=1e-5, momentum=0.9),
              metrics=["mae"])
model.fit(dataset, epochs=1, steps_per_epoch=4)
