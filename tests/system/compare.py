"""Compares the output of programs on the distribution's loader with the output on our loader.

compare.py BEFORE AFTER

programs.sh filled both folders.
"""

import difflib
import re
import sys
from pathlib import Path

# Lines of vulkaninfo that are different between the distribution's loader and our loader, each with its reason.
KNOWN = Path(__file__).resolve().parent.parent / "real" / "vulkaninfo_differences.txt"
# Text that is different between runs: addresses, and measured speeds.
VARYING = [(r"0x[0-9a-f]{7,}", "ADDRESS"), (r"FPS: .*|FrameTime: .*|glmark2 Score: .*", "SPEED")]


def known():
    """Returns the expressions in the list by their signs."""
    for line in KNOWN.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            sign, expression, _ = re.split(r"\s{2,}", line, maxsplit=2)
            yield sign, re.compile(expression)


def lines(file):
    text = file.read_text(encoding="utf-8", errors="replace")
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text)
    return text.splitlines()


def differences(before, after, allowed):
    for line in difflib.unified_diff(lines(before), lines(after), n=0, lineterm=""):
        if line.startswith(("---", "+++", "@@")):
            continue
        text = line[1:].strip()
        # A line of = or - below a heading is as long as the heading, so the comparison ignores these lines.
        if text.strip("=-") and not any(sign == line[0] and rule.fullmatch(text) for sign, rule in allowed):
            yield line


def main():
    before, after = map(Path, sys.argv[1:])
    names = sorted({file.name for folder in (before, after) for file in folder.iterdir()})
    allowed = list(known())
    failed = not names
    for name in names:
        if not (before / name).is_file() or not (after / name).is_file():
            wrong = ["was run under one loader only"]
        else:
            wrong = list(differences(before / name, after / name, allowed if name.startswith("vulkaninfo") else []))
            # If a program failed under both loaders, the outputs are equal. The failure itself is therefore an error.
            if lines(after / name)[-1] not in ("ended with 0", "ended with 2" if name == "zink-eglinfo" else ""):
                wrong.append(lines(after / name)[-1])
        if wrong:
            failed = True
            print(f"  FAIL  {name}: {len(wrong)} lines")
            print("\n".join(wrong[:20]))
        else:
            print(f"  ok    {name}: the same {len(lines(after / name))} lines on both loaders")
    sys.exit(failed)


if __name__ == "__main__":
    main()
