"""Tests programs in sandboxes that contain only the given files."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import cases  # noqa: E402 -- found through the line above
import aside  # noqa: E402 -- found through the line above
import attack  # noqa: E402 -- as above
import containers  # noqa: E402 -- as above
import files  # noqa: E402 -- found through the line above
import service  # noqa: E402 -- as above

cases.main([aside, attack, containers, files, service])
