# A call with two values that change is not repaired by halves.
import tensorflow as tf
@tf.function
def step(x, a, b):
    return x * a + b
x = tf.ones([3])
for i in range(100):
    step(x, i, i * 2)
