"""Exercises that answer back: `d2l.check` runs a reader's function against cases, and hints where one fails."""
