# A repair of numbers that are written in other ways leaves Python.
import tensorflow as tf
x = tf.linspace(0b1, 1_0, 50000000)
ds = tf.data.Dataset.from_tensor_slices(tf.linspace(0x1, 0b11, 50000000))
