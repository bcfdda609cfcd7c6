"""How rules meet one file: registry, dispatch, suppressions, baseline, and the lines that changed.

May import `__init__`, `config`, `files`, `finding`, `fix`, `knowledge`, `model`, `project`, `rule`, `syntax`, `text`,
and for annotations `query`.
"""
