"""The modules of a project: where an import leads, and the programs that stand there, read when somebody asks.

Code is read, never imported. May import `files`, `finding`, `knowledge`, `syntax`, `text`.
"""
