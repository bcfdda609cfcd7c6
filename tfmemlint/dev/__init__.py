"""Tools for people who work on rules: `python -m tfmemlint.dev COMMAND`.

May import `__init__`, `cli`, `config`, `files`, `finding`, `knowledge`, `lint`, `model`, `query`, `report`, `rule`,
`shown`, `syntax`, `testing`, `text`, `units`, `verify`.
"""
