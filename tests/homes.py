"""Home folders that cannot be written to: functions of the folder's path, which HOME names."""

import os
import pwd


def no_folder(path, monkeypatch):
    path.write_text("a file, in which no folder can be made")


def no_right(path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)


def no_name(path, monkeypatch):
    """A user whom the system does not know, as containers start programs."""
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)


FAULTS = (no_folder, no_right, no_name)
