"""Hides the Vulkan files and variables of this machine from a test program. `apart.py COMMAND...` runs a command in this way.

A test chooses the folders of its programs with variables, but the loader also searches some folders that no variable replaces. If one of
these folders has a file, for example the manifest of an implicit layer, `words` returns a command that starts a program in a separate mount
namespace. In this namespace, the folder is empty. Other processes do not see the change.
"""

import functools
import os
import subprocess
import sys

# Folders of the loader, of the driver service and of the driver catalogue. The tests expect the files of Mesa in /usr/share/vulkan.
PLACES = (
    "/etc/vulkan",
    "/etc/xdg/vulkan",
    "/usr/local/etc/vulkan",
    "/usr/local/share/vulkan",
    "/etc/vulkan-loader",
    "/run/vulkan-loader",
    "/var/cache/vulkan-loader",
)
# Variables that change the results of the loader, drivers, layers and programs that tests start. The tests set their own values. Reports of
# vkloader also name the variables of the processes above it.
BEGINNINGS = ("VK_", "XDG_", "MESA_")
NAMES = {"DISPLAY", "WAYLAND_DISPLAY", "DRI_PRIME", "POSIXLY_CORRECT"}
# Mounts an empty folder over each place before the word `--`, and then runs the command after this word.
SHELL = 'while [ "$1" != -- ]; do mount -t tmpfs -o mode=755 none "$1" || exit; shift; done; shift; exec "$@"'
# For users other than root, only the root of a user namespace can mount, and a second user namespace restores the user's own ID.
OWN = 'exec unshare --user --map-user="$0" --map-group="$1" -- "${@:2}"'


def variables():
    """Returns the variables of this process that test programs inherit."""
    return {name: value for name, value in os.environ.items() if not name.startswith(BEGINNINGS) and name not in NAMES}


def has_file(place):
    """Returns True if there is a file below the folder."""
    return any(files for _, _, files in os.walk(place))


@functools.cache
def words(places=PLACES):
    """Returns the words to put before a command so that the places are empty, or no words if they are already empty. Prints a line and
    returns no words if this system does not permit a mount namespace."""
    if not sys.platform.startswith("linux"):
        return []
    filled = [place for place in places if has_file(place)]
    if not filled:
        return []
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = ["unshare", *user, "--mount", "--propagation", "private", "--", "sh", "-c", SHELL, "sh", *filled, "--"]
    if user:
        command += ["bash", "-c", OWN, str(os.geteuid()), str(os.getegid())]
    try:
        tried = subprocess.run([*command, "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        reason = tried.stderr.strip() if tried.returncode else ""
    except OSError as error:
        tried, reason = None, str(error)
    if tried and tried.returncode == 0:
        return command
    print(f"SKIPPED: the files in {', '.join(filled)} cannot be hidden from the tests, and can change their results: {reason}", flush=True)
    return []


if __name__ == "__main__":
    command = [*words(), *sys.argv[1:]]
    os.execvpe(command[0], command, variables())
