"""Photos of flowers, one folder for each kind, as batches for training."""

import tensorflow as tf

KINDS = ("daisy", "dandelion", "roses", "sunflowers", "tulips")
SIZE = 224


def load(path):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    image = tf.image.resize(image, (SIZE, SIZE)) / 255.0
    label = tf.strings.split(path, "/")[-2]
    return image, tf.argmax(tf.equal(label, KINDS))


def flip(image, label):
    return tf.image.random_flip_left_right(image), label


def training_batches(pattern, batch_size=64):
    photos = tf.data.Dataset.list_files(pattern)
    photos = photos.map(load, num_parallel_calls=tf.data.AUTOTUNE).map(flip)
    return photos.batch(batch_size).prefetch(200)
