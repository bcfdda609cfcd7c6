# A repair does not move what starts the runtime to the front.
import os

import tensorflow as tf

x = tf.zeros([1000, 64])
gpus = tf.config.list_logical_devices("GPU")
if len(gpus) > 1:
    os.environ["CUDA_VISIBLE_DEVICES"] = "0"
