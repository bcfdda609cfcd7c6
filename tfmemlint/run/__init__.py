"""Many files: what has to be read again, in which process, and what is repaired.

May import `__init__`, `config`, `files`, `finding`, `fix`, `lint`, `project`, `text`.
"""
