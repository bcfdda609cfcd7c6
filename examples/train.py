"""Trains a classifier of flowers."""

import numpy as np
import tensorflow as tf
from data import KINDS, SIZE, training_batches

base = tf.keras.applications.EfficientNetB0(include_top=False, weights=None, input_shape=(SIZE, SIZE, 3), pooling="avg")
model = tf.keras.Sequential([base, tf.keras.layers.Dense(len(KINDS))])

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)

loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(1e-4)

batches = training_batches("flowers/*/*.jpg")
losses = []
for epoch in range(20):
    for images, labels in batches:
        with tf.GradientTape(persistent=True) as tape:
            loss = loss_of(labels, model(images, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        losses.append(float(loss))
    print(epoch, np.mean(losses))
