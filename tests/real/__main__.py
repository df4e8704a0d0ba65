"""Tests the library with real programs, a real driver and real layers, and compares it with the installed loader of the system."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import cases  # noqa: E402 -- found through the line above
import built  # noqa: E402
import installed  # noqa: E402
import layers  # noqa: E402
import lazily  # noqa: E402
import mesa_layers  # noqa: E402
import order  # noqa: E402
import programs  # noqa: E402
import redirected  # noqa: E402
import shown  # noqa: E402
import vkcube  # noqa: E402
import vulkaninfo  # noqa: E402

cases.main([programs, vulkaninfo, vkcube, mesa_layers, layers, lazily, order, redirected, installed, built, shown])
