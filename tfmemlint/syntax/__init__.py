"""What Python says of a program text: tree, spans, scopes, names, reaching definitions.

Knows no TensorFlow. May import nothing of the package.
"""
