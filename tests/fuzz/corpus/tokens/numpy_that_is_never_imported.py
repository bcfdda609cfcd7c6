# An import that a repair adds does not give sense to other code of the file.
import tensorflow as tf


def enters_twice(path):
    both = np.zeros((2000, 2000), dtype=float)
    labels = pd.read_csv(path)["label"].to_numpy(float)
    return tf.constant(both), tf.data.Dataset.from_tensor_slices(labels)
