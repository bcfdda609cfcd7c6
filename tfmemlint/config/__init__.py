"""What users may set: the configuration with its files and paths, selectors of rules, and which files a run reads.

May import `files`, `finding`, `shown`, `units`.
"""
