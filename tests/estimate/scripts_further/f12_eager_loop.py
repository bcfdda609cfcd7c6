import numpy as np
import tensorflow as tf

BATCH_SIZE = 32

model = tf.keras.Sequential([
    tf.keras.layers.Input(shape=(48, 48, 3)),
    tf.keras.layers.Conv2D(32, 5, activation='relu', padding='same'),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.Conv2D(64, 5, activation='relu', padding='same'),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(256, activation='relu'),
    tf.keras.layers.Dense(6),
])
optimizer = tf.keras.optimizers.Adam(1e-3)


def loss(model, x, y, training):
    y_ = model(x, training=training)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=y_))


def grad(model, inputs, targets):
    with tf.GradientTape() as tape:
        loss_value = loss(model, inputs, targets, training=True)
    return loss_value, tape.gradient(loss_value, model.trainable_variables)


photos = np.random.rand(BATCH_SIZE * 5, 48, 48, 3).astype(np.float32)
kinds = np.random.randint(0, 6, BATCH_SIZE * 5).astype(np.int32)
ds_train_batch = tf.data.Dataset.from_tensor_slices((photos, kinds)).batch(BATCH_SIZE)

for epoch in range(1):
    epoch_loss_avg = tf.keras.metrics.Mean()
    for x, y in ds_train_batch:
        loss_value, grads = grad(model, x, y)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        epoch_loss_avg.update_state(loss_value)
