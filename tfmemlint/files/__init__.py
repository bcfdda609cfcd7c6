"""Files that somebody else may have written or may read: bounded reading, whole replacement, folders of our own.

May import nothing of the package.
"""
