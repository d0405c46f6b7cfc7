"""Exercises that answer back, with a hint where an answer fails.

`d2l.check` runs a reader's function against cases, and a prediction against what the reader measures.
"""
