"""TensorFlow's runtime: what starts it, its devices and their settings, strategies, and who else uses the card."""
