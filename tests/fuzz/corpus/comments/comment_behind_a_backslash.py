# Taking a comment out does not join two lines.
import tensorflow as tf

ds = tf.data.Dataset.range(100) \  # tfmemlint: ignore[TFM999]
y = 1
