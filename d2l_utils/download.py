"""Files from the network: kept, resumed where a transfer broke off, checked before they get their name.

Standard library only.
"""

import hashlib
import os
import sys
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

TIMEOUT = 20  # seconds without a byte
CHUNK = 1 << 16  # bytes
NOT_SATISFIABLE = 416  # the server has no byte from there on


def download(url, md5, folder=None, cure="or call again once the network is back"):
    """Return the path of the file at `url`, which is downloaded unless a whole one is there already.

    It lies in `folder`: $D2L_DATA or ~/.cache/d2l. What a broken transfer left is kept beside it as `.part` and
    continued by the next call. RuntimeError with a `cure` if there is no network or if the MD5 sum differs.
    """
    folder = Path(folder or os.environ.get("D2L_DATA") or Path.home() / ".cache" / "d2l")
    path = folder / url.rpartition("/")[2]
    part = path.with_name(path.name + ".part")
    help_ = f"put the file {path.name} into {folder}, {cure}"
    if checksum(path) == md5:
        return path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if checksum(part) != md5:
            _transfer(url, part)
    except (OSError, HTTPException) as error:
        raise RuntimeError(f"cannot download {url} ({error}): {help_}") from error
    if checksum(part) != md5:
        part.unlink()
        raise RuntimeError(f"the download of {url} has a wrong MD5 sum and was removed: call again, or {help_}")
    os.replace(part, path)
    return path


def checksum(path):
    """Return the MD5 sum of a file in hexadecimal digits, or None if there is no such file."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _transfer(url, part):
    """Append to the file `part` what it lacks, or write it afresh where the server gives the whole file only."""
    done = part.stat().st_size if part.exists() else 0
    try:
        response = urlopen(Request(url, headers={"Range": f"bytes={done}-"} if done else {}), timeout=TIMEOUT)
    except HTTPError as error:
        if error.code != NOT_SATISFIABLE or not done:
            raise
        part.unlink()
        _transfer(url, part)
        return
    with response:
        done = done if response.status == 206 else 0
        length = response.headers["Content-Length"]
        total = done + int(length) if length else None
        with part.open("ab" if done else "wb") as file:
            for chunk in iter(lambda: response.read(CHUNK), b""):
                file.write(chunk)
                _progress(part.stem, done, done := done + len(chunk), total)
    if total and done < total:
        raise OSError(f"the connection ended after {done} of {total} bytes")


def _progress(name, before, done, total):
    """Write the percentage over the last one on the standard error stream, where it has changed."""
    if not total:
        return
    percent = 100 * done // total
    if percent > 100 * before // total:
        end = "\n" if done == total else ""
        print(f"\r{name}: {percent:3d} % of {total / 1e6:.1f} MB", end=end, file=sys.stderr, flush=True)
