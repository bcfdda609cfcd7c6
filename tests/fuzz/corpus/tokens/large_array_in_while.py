# A definition that reaches the end of a loop merged from others makes no rule fail.
import tensorflow as tf
import numpy as np

while True:
    images = np.random.rand(50000, 64, 64)

    @tf.function
    def step(x):
        return x + images
