"""What values are and when things happen: an abstract interpreter that knows TensorFlow and no rule.

May import `finding`, `knowledge`, `syntax`, `text`, `units`, and for annotations `config`, `project`.
"""
