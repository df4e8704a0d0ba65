"""Tests of the binary interface: the exports and imports of the library, and the emitted types in comparison with the C headers."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import cases  # noqa: E402 -- found through the line above
import headers  # noqa: E402
import library  # noqa: E402
import promises  # noqa: E402

cases.main([library, promises, headers])
