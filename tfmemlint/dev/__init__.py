"""Tools for people who work on rules: `python -m tfmemlint.dev COMMAND`.

May import `cli`, `config`, `files`, `finding`, `knowledge`, `lint`, `model`, `report`, `rule`, `shown`, `syntax`,
`testing`, `text`, `units`, `verify`.
"""
