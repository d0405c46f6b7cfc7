"""The files that a run left in its folder, copied for the run after it."""

import os
import shutil
import stat
from pathlib import Path


def copy_leftovers(source: Path, target: Path) -> None:
    """Copy a folder with its files, folders and the links among them, without what is hidden or none of these."""
    home = source.resolve()

    def left_behind(folder: str, names: list[str]) -> set[str]:
        return {name for name in names if name.startswith(".") or not can_be_copied(Path(folder, name), home)}

    shutil.copytree(source, target, symlinks=True, ignore=left_behind)


def can_be_copied(path: Path, home: Path) -> bool:
    """Tell whether `path` is a file or a folder that can be read, or a link to one in the folder `home`.

    A link whose address begins at the root leads into a folder that is gone by the time that the copy is used.
    """
    if path.is_symlink():
        return not os.path.isabs(os.readlink(path)) and path.exists() and path.resolve().is_relative_to(home)
    mode = path.stat().st_mode
    return stat.S_ISREG(mode) and os.access(path, os.R_OK) or stat.S_ISDIR(mode) and os.access(path, os.R_OK | os.X_OK)
