"""Lists the sizes, alignments and offsets that a target's C compiler computes for the emitted structures. The output consists of rows for
the Rust compiler.

layouts.py FILE CC ARGUMENT...     writes FILE; VKL_LAYOUTS=FILE lets a build of the loader assert its rows

The emitted rows are for targets of 64 bits. The script asks the C compiler for the same structures and members, as far as the installed
headers contain them.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "tests/abi"))

import headers  # noqa: E402 -- found through the lines above

HEAD = """// What the C compiler of a target says; see tests/targets/layouts.py.
use super::*;
use crate::handle::Driver;
use crate::layout::layouts;

layouts! {
"""


def asked():
    """Returns structures that the headers contain: name, generic arguments in Rust, members."""
    rows = headers.facts()["emitted"]
    return [(row["name"], row["arguments"], [name for name, _ in row["members"]]) for row in rows if row["name"] in headers.known()]


def answers(rows, compiler):
    """Returns the compiler's answer for each row: the size, the alignment and the offsets of the structure."""
    expressions = []
    for name, _, members in rows:
        expressions += [f"sizeof({name})", f"_Alignof({name})"]
        expressions += [f"offsetof({name}, {headers.c_name(member)})" for member in members]
    # The constants appear only in the assembly, so the script does not have to run a program.
    lines = [f'    __asm__ volatile("\\nanswer %0" : : "i"({expression}));' for expression in expressions]
    source = "\n".join([f'#include "{headers.PREAMBLE}"', "void answers(void) {", *lines, "}", ""])
    command = [*compiler, "-std=gnu11", "-S", "-xc", "-o", "-", "-"]
    text = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    numbers = re.findall(r"^answer [$#]?(\d+)", text, re.MULTILINE)
    if len(numbers) != len(expressions):
        sys.exit(f"{len(expressions)} questions, but {len(numbers)} answers")
    return iter(numbers)


def main():
    path, *compiler = sys.argv[1:]
    rows = asked()
    numbers = answers(rows, compiler)
    lines, count = [], 0
    for name, arguments, members in rows:
        size, align = next(numbers), next(numbers)
        offsets = [f"{member} {next(numbers)}" for member in members]
        count += 2 + len(offsets)
        lines.append(f"    {name}{arguments}: {', '.join([size, align, *offsets])};\n")
    if count < 500:
        sys.exit(f"only {count} facts")
    Path(path).write_text(HEAD + "".join(lines) + "}\n")
    print(f"{count} sizes, alignments and offsets")


main()
