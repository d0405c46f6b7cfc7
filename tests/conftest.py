"""Fixtures for the tests of launched processes, here and in each framework."""

from launching import driver, isolation, nothing_is_left  # noqa: F401  (pytest finds them by name)
