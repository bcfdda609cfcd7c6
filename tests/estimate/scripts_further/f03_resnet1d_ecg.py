from functools import partial

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers as L

BATCH_SIZE = 32

Conv = partial(L.Conv1D, padding="same", use_bias=False, kernel_initializer="he_normal")


class ResidualUnit(L.Layer):
    def __init__(self, filters, strides=1, activation="relu", **kwargs):
        super().__init__(**kwargs)
        self.activation = tf.keras.activations.get(activation)
        self.main_layers = [
            Conv(filters, kernel_size=7, strides=strides),
            L.BatchNormalization(),
            self.activation,
            Conv(filters, kernel_size=7),
            L.BatchNormalization(),
        ]
        self.skip_layers = []
        if strides > 1:
            self.skip_layers = [
                Conv(filters, kernel_size=1, strides=strides),
                L.BatchNormalization(),
            ]

    def call(self, inputs):
        Z = inputs
        for layer in self.main_layers:
            Z = layer(Z)
        skip_Z = inputs
        for layer in self.skip_layers:
            skip_Z = layer(skip_Z)
        return self.activation(Z + skip_Z)


model = tf.keras.Sequential([
    L.InputLayer(shape=(1000, 12)),
    Conv(64, kernel_size=15, strides=2),
    L.BatchNormalization(),
    L.Activation("relu"),
    L.MaxPool1D(pool_size=3, strides=2, padding="same"),
])
prev_filters = 64
for filters in [64] * 2 + [128] * 2 + [196] * 2:
    strides = 1 if filters == prev_filters else 2
    model.add(ResidualUnit(filters, strides=strides))
    prev_filters = filters
model.add(L.GlobalAvgPool1D())
model.add(L.Dense(5, activation="sigmoid"))

ecg = np.random.randn(BATCH_SIZE * 4, 1000, 12).astype(np.float32)
diagnoses = np.random.randint(0, 2, (BATCH_SIZE * 4, 5)).astype(np.float32)

model.compile(loss="binary_crossentropy", optimizer=tf.keras.optimizers.Nadam(learning_rate=1e-3),
              metrics=[tf.keras.metrics.AUC(multi_label=True)])
model.fit(ecg, diagnoses, epochs=1, batch_size=BATCH_SIZE)
