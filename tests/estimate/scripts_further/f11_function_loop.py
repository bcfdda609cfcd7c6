import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

BATCH_SIZE = 32
EPOCHS = 1


def get_model():
    inputs = tf.keras.Input(shape=(64, 64, 3))
    x = layers.Conv2D(48, 3, activation="relu", padding="same")(inputs)
    x = layers.Conv2D(48, 3, activation="relu", padding="same")(x)
    x = layers.MaxPooling2D(2)(x)
    x = layers.BatchNormalization()(x)
    x = layers.Conv2D(96, 3, activation="relu", padding="same")(x)
    x = layers.MaxPooling2D(2)(x)
    x = layers.Flatten()(x)
    x = layers.Dropout(0.5)(x)
    x = layers.Dense(128, activation="relu")(x)
    return tf.keras.Model(inputs=inputs, outputs=layers.Dense(10, name="predictions")(x))


model = get_model()
optimizer = tf.keras.optimizers.SGD(learning_rate=1e-3, momentum=0.9)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train_acc_metric = tf.keras.metrics.SparseCategoricalAccuracy()
train_loss_metric = tf.keras.metrics.Mean()

x_train = np.random.rand(BATCH_SIZE * 6, 64, 64, 3).astype("float32")
y_train = np.random.randint(0, 10, BATCH_SIZE * 6)
train_dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train))
train_dataset = train_dataset.shuffle(buffer_size=1024).batch(BATCH_SIZE)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss_value = loss_fn(y, logits)
        loss_value += 1e-4 * tf.add_n([tf.nn.l2_loss(v) for v in model.trainable_variables if "kernel" in v.name])
    grads = tape.gradient(loss_value, model.trainable_weights)
    optimizer.apply(grads, model.trainable_weights)
    train_acc_metric.update_state(y, logits)
    train_loss_metric.update_state(loss_value)
    return loss_value


for epoch in range(EPOCHS):
    for step, (x_batch_train, y_batch_train) in enumerate(train_dataset):
        loss_value = train_step(x_batch_train, y_batch_train)
        if step % 200 == 0:
            print("step", step, "loss", float(loss_value))
    print("acc", float(train_acc_metric.result()))
    train_acc_metric.reset_state()
    train_loss_metric.reset_state()
