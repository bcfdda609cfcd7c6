import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, losses

BATCH_SIZE = 64
max_features = 10000
embedding_dim = 16
model = tf.keras.Sequential([
    layers.Embedding(max_features, embedding_dim),
    layers.Dropout(0.2),
    layers.GlobalAveragePooling1D(),
    layers.Dropout(0.2),
    layers.Dense(1, activation="sigmoid")])
model.compile(loss=losses.BinaryCrossentropy(), optimizer="adam", metrics=[tf.metrics.BinaryAccuracy(threshold=0.5)])
texts = np.random.randint(0, max_features, (BATCH_SIZE * 4, 250))
labels = np.random.randint(0, 2, BATCH_SIZE * 4)
train_ds = tf.data.Dataset.from_tensor_slices((texts, labels)).batch(BATCH_SIZE).cache().prefetch(tf.data.AUTOTUNE)
model.fit(train_ds, epochs=1)
