# Findings and repairs come though the tree of libcst lacks a blank of the text.
import tensorflow as tf
a = 1
s = f'{a !r }'
ds = tf.data.Dataset.range(9).repeat().cache()
