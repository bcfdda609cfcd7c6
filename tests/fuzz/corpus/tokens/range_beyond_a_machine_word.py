# A count beyond a machine word is a number like any other.
import tensorflow as tf

for i in range(2**63):
    step = tf.function(lambda x: x + i)
    step(tf.ones([3]))
