"""Tests programs in sandboxes that contain only the given files."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import cases  # noqa: E402 -- found through the line above
import aside  # noqa: E402 -- found through the line above
import attack  # noqa: E402 -- as above
import containers  # noqa: E402 -- as above
import files  # noqa: E402 -- found through the line above
import opened  # noqa: E402 -- as above
import service  # noqa: E402 -- as above

# The sandboxes of root have no privileges over the files of other users, and the cases write the paths into commands of a shell.
UNDER_TEST = ("VKL_LIBRARY", "VKL_PROGRAMS", "VKL_VKLOADER", "VKL_SERVICE")
os.environ.update(opened.paths({name: os.environ[name] for name in UNDER_TEST if os.environ.get(name)}))

cases.main([aside, attack, containers, files, service])
