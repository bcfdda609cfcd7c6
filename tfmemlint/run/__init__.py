"""Many files: what has to be read again, in which process, and what is repaired.

May import `lint`, `fix` and what these may import.
"""
