# Findings and repairs come though the tree of libcst lacks a line of the text.
import tensorflow as tf

x = 1
ds = tf.data.Dataset.range(9).repeat().cache().batch(3).prefetch(1)
