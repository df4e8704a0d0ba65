"""Copies of the files under test that all users can read, with plain paths.

Some tests run programs as another user, or as root without the superuser's privileges, for example in a sandbox. Such programs cannot read
the files under test if the checkout belongs to another user and is closed to others, as with the umask 077. Other tests write the paths into
commands for a shell, and the path of a checkout can have blanks or quotes.
"""

import atexit
import os
import re
import shutil
import stat
import tempfile
from pathlib import Path


def is_hidden(path):
    """Returns True if a user other than the owners cannot read a file, or everything in a folder."""
    path = Path(path).resolve()
    files = [path, *path.rglob("*")] if path.is_dir() else [path]
    return any(not _is_open(file) for file in files) or any(not folder.stat().st_mode & stat.S_IXOTH for folder in path.parents)


def _is_open(path):
    """Returns True if the permissions of a file or folder itself let all users read it."""
    mode = path.stat().st_mode
    needed = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0)
    return mode & needed == needed


def _open(path):
    """Gives all users the permissions that the owner has, except that of writing."""
    mode = path.stat().st_mode
    path.chmod(stat.S_IMODE(mode) | (mode & 0o500) >> 3 | (mode & 0o500) >> 6)


def is_unusable(path):
    """Returns True if the path, with or without its links, has special characters. For the superuser, who can start programs as other
    users, also returns True if the path is hidden from them."""
    plain = all(re.fullmatch(r"[A-Za-z0-9/._+-]+", str(one)) for one in (path, Path(path).resolve()))
    return not plain or (os.geteuid() == 0 and is_hidden(path))


def paths(given):
    """Returns the paths of files and folders by name, with a copy in place of each unusable path. The copies exist until this process
    ends."""
    unusable = {name: Path(path) for name, path in given.items() if os.path.exists(path) and is_unusable(path)}
    if not unusable:
        return given
    place = Path(tempfile.mkdtemp(prefix="vkl-open-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    place.chmod(0o755)
    copies = {}
    for name, path in unusable.items():
        copy = place / name / path.name
        copy.parent.mkdir(mode=0o755)
        if path.is_dir():
            shutil.copytree(path, copy)
        else:
            shutil.copy2(path, copy)
        for file in (copy, *copy.rglob("*")):
            _open(file)
        copies[name] = str(copy)
    return {**given, **copies}
