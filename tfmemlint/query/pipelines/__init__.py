"""tf.data: what a pipeline is known to be, its steps and elements, and what consumes or keeps them."""
