# Findings and repairs come though the tree of libcst lacks a blank of the text.
import tensorflow as tf
try:
    f()
except* ValueError :
    pass
ds = tf.data.Dataset.range(9).repeat().cache()
