import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

BATCH_SIZE = 24


def face_net():
    image = tf.keras.Input(shape=(80, 80, 3), name='image')
    h = image
    for i, width in enumerate([24, 48, 96, 128]):
        h = layers.Conv2D(width, 3, padding='same', name=f'conv{i}')(h)
        h = layers.LeakyReLU(negative_slope=0.1)(h)
        h = layers.MaxPool2D()(h)
        h = layers.SpatialDropout2D(0.1)(h)
    shared = layers.Flatten()(h)
    a = layers.Dense(128, activation='elu')(shared)
    age = layers.Dense(1, name='age')(a)
    g = layers.Dense(64, activation='elu')(shared)
    gender = layers.Dense(1, activation='sigmoid', name='gender')(g)
    return tf.keras.Model(inputs=image, outputs={'age': age, 'gender': gender})


def make_data(n):
    x = np.random.uniform(size=(n, 80, 80, 3)).astype('float32')
    y = {
        'age': np.random.uniform(1, 90, size=(n, 1)).astype('float32'),
        'gender': np.random.randint(0, 2, size=(n, 1)).astype('float32'),
    }
    return tf.data.Dataset.from_tensor_slices((x, y)).shuffle(n).batch(BATCH_SIZE, drop_remainder=True)


net = face_net()
net.compile(
    optimizer=tf.keras.optimizers.Adam(learning_rate=tf.keras.optimizers.schedules.ExponentialDecay(1e-3, 1000, 0.9)),
    loss={'age': 'mse', 'gender': 'binary_crossentropy'},
    loss_weights={'age': 0.01, 'gender': 1.0},
    metrics={'age': 'mae', 'gender': 'accuracy'},
)
net.fit(make_data(BATCH_SIZE * 5), epochs=1)
