# A definition that reaches the end of a loop merged from others makes no rule fail.
import tensorflow as tf
import numpy as np

for i in range(3):
    images = np.random.rand(50000, 64, 64)
    ds = tf.data.Dataset.range(5).map(lambda x: x + images)
