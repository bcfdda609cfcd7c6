import tensorflow as tf
def main():
    ds = tf.data.Dataset.range(3).repeat().cache()
\
import os
    try:
        pass
    except RuntimeError:
        pass
