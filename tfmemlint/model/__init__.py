"""What the code says: text, tree, names, values, flow and order of effects. It knows TensorFlow and no rule."""
