import numpy as np
import tensorflow as tf

BATCH_SIZE = 8
IMG_SIZE = 96
base_model = tf.keras.applications.MobileNetV2(input_shape=(IMG_SIZE, IMG_SIZE, 3), include_top=False, weights=None)
x = tf.keras.layers.GlobalAveragePooling2D()(base_model.output)
x = tf.keras.layers.Dropout(0.2)(x)
outputs = tf.keras.layers.Dense(5, activation="softmax")(x)
model = tf.keras.Model(base_model.input, outputs)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])

images = np.random.rand(BATCH_SIZE * 4, IMG_SIZE, IMG_SIZE, 3).astype("float32")
labels = np.random.randint(0, 5, BATCH_SIZE * 4)
dataset = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(100).batch(BATCH_SIZE).prefetch(tf.data.AUTOTUNE)
model.fit(dataset, epochs=1)
