"""A tree of libcst's classes made from Python's own `ast`, at a fifth of the cost of libcst's parser: enough to tell
that a program holds no finding, which is so for nearly all.

May import `syntax`, and nothing else of the package.
"""
