# Findings and repairs come though the tree of libcst lacks a blank of the text.
import tensorflow as tf
try:
    import numpy as np
except ImportError :
    np = None
ds = tf.data.Dataset.range(9).repeat().cache().batch(3).prefetch(1)
