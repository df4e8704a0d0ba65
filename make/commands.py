"""What shows that the commands in README.md, CONTRIBUTING.md and docs/ do what they say.

Every command that one of these shows has a row here: a file of the tests that runs it, with the words by which it does, or the
reason why no test does. A command without a row is an error, as is a row that no document needs, or whose words are gone.
"""

import re

# What a command begins with, behind settings of variables.
PROGRAMS = (
    r"make/\S+|(?:target/release/)?vkloader(?= )|registry/\S+\.sh|make|cargo|python3|vkgen|git|ldconfig|ln|mkdir|rm|cp|sudo|apt|apt-get|vulkaninfo|vkcube|pkg-config|cmake"
    r"|ldd|readelf|objdump|nm|grep|cat|ls|env|export|sh|bash|curl|tar|gdb|strace|valgrind|break|PROGRAM"
)
COMMAND = re.compile(rf"(?:[A-Z_]+=\S+ +)*(?:{PROGRAMS})(?: |$)")
# Names of programs and files that prose speaks of.
NAMES = {
    "vkgen", "vulkaninfo", "vkcube", "make/documents.py", "make/test.sh", "make/programs.sh", "make/targets.sh",
    "make/check-generated.sh", "make/bump-test.sh", "make/install.sh", "make/crates.py", "make/cases.py", "make/windows-msvc.sh",
}

SHOWN = "tests/real/shown.py"
# How a command begins, the file that runs it, and the words by which it does.
RUN = [
    ("make run", SHOWN, 'tool("make"), "run"'),
    ("make build", "make/test.sh", "make/build.sh"),
    ("make install PREFIX=/usr/local LIBDIR=lib", "tests/real/installed.py", 'make("install"'),
    ("make install", "tests/real/installed.py", 'make("install"'),
    ("make install LIBMODE=755", "tests/real/installed.py", '"LIBMODE": "755"'),
    ("make install ZSHDIR=share/zsh/vendor-completions", "tests/real/installed.py", '"ZSHDIR": "share/zsh/vendor-completions"'),
    ("make framework", "tests/real/installed.py", 'make("framework"'),
    ("make ios-framework", "tests/real/installed.py", 'make("ios-framework"'),
    ("make uninstall", "tests/real/installed.py", 'make("uninstall"'),
    ("make uninstall PREFIX=/usr/local LIBDIR=lib", "tests/real/installed.py", 'make("uninstall"'),
    ("pkg-config --libs vulkan", "tests/real/installed.py", 'tool("pkg-config"), *question, "vulkan"'),
    ("make registry", "make/test.sh", "make/registry.sh"),
    ("make generate", SHOWN, 'tool("make"), "generate"'),
    ("make documents", "make/bump.sh", "python3 make/documents.py"),
    ("cargo run -q -p vkgen -- explain NAME", "generator/tests/suite/explain.rs", '.args(["explain", name])'),
    ("make bump VERSION=1.4.N", "make/bump-test.sh", '"$clone/make/bump.sh" "$@"'),
    ("make bench", SHOWN, '"make/bench.sh", "profile"'),
    ("make fuzz", "make/test.sh", "make/fuzz.sh 8"),
    ("python3 tests/real vkcube", "make/test.sh", 'scripted real'),
    ("mkdir -p /tmp/vulkan", SHOWN, '"mkdir -p /tmp/vulkan"'),
    ('ln -sf "$PWD/target/release/libvulkan.so" /tmp/vulkan/libvulkan.so.1', SHOWN, '"$PWD/target/release/libvulkan.so"'),
    ("ln -sf libvulkan.so.1 /tmp/vulkan/libvulkan.so", SHOWN, '"mkdir -p /tmp/vulkan"'),
    ("LD_LIBRARY_PATH=/tmp/vulkan vulkaninfo --summary", SHOWN, '"vulkaninfo --summary"'),
    ("LD_LIBRARY_PATH=/tmp/vulkan VK_LOADER_DEBUG=info vulkaninfo --summary", SHOWN, '"vulkaninfo --summary"'),
    ("vulkaninfo --summary", SHOWN, '"vulkaninfo --summary"'),
    ("target/release/vkloader explain --library target/release/libvulkan.so", "loader/vkloader/tests/explain.rs", '"explain", "--library"'),
    ("vkloader explain", "loader/vkloader/tests/explain.rs", '"explain", "--library"'),
    ("vkloader devices", "loader/vkloader/tests/output.rs", '"devices", "--library"'),
    ("vkloader files --driver lvp", "tests/sandbox/files.py", '"--driver", "lvp"'),
    ("vkloader files --format cdi >/etc/cdi/vkloader-vulkan.json", "loader/vkloader/tests/files/containers.rs", '"--format", "cdi"'),
    ("python3 make/interface.py LIBRARY", "make/test.sh", 'python3 make/interface.py "$LIBRARY"'),
    ("python3 make/interface.py", "make/test.sh", 'python3 make/interface.py "$LIBRARY"'),
    ("make/crates.sh", "make/test.sh", "    make/crates.sh"),
    ("vkloader catalogue", "loader/vkloader/tests/catalogue/asked.rs", '&["catalogue"]'),
    *((f"vkloader catalogue {verb}", "loader/vkloader/tests/catalogue/main.rs", f'&["{verb}"]') for verb in ("update", "show", "verify", "clear")),
    ("vkloader service", "loader/vkloader/tests/service.rs", '"service", "--socket"'),
    ("VK_LOADER_TRACE=/tmp/trace PROGRAM", "tests/tests/app/trace.rs", 'scene.env("VK_LOADER_TRACE", &trace)'),
    ("VK_LOADER_TRACE=fd:5 PROGRAM 5>trace", "tests/tests/app/trace.rs", 'format!("fd:{number}")'),
]
# How a command begins, and why no test runs it.
NOT_RUN = [
    ("make test", "it is what runs the tests"),
    ("make/test.sh STAGE...", "it is what runs the tests"),
    ("make/test.sh STAGE:CASE", "it is what runs the tests"),
    ("make help", "it prints comments of the Makefile"),
    ("make peer", "it tests another library, and takes as long as the tests of this one"),
    ("make quick", "its stages are those of make test, with fewer cases"),
    ("make soak MINUTES=10", "it looks for what is rare, for as long as it is told"),
    ("make mutants FILES=wsi N=20", "it builds and tests as many changed libraries as it is told"),
    ("make test-catalogue", "it runs all behaviour cases twice more; make test has some of them"),
    ("make differential", "it needs the newest Khronos loader, which a root of another system brings"),
    ("make/sid.sh", "it fetches a root of another system"),
    ("grep -rni target_os loader/os loader/build.rs", "it shows what the sources say"),
    ("make test-targets", "it builds with another Rust, whose packages make setup does not bring"),
    ("make/systems.sh", "it builds with another Rust, whose packages make setup does not bring"),
    ("make/systems.sh TARGET", "TARGET stands for any of its table"),
    ("cargo build --locked --release --target x86_64-pc-windows-msvc -p vulkan-loader", "it is for a machine with Windows; make/windows-msvc.sh does it without"),
    ("make test-windows", "it builds with another Rust, whose packages make setup does not bring"),
    ("make test-targets", "it builds with another Rust, for processors whose compilers make setup does not bring"),
    ("objdump -d --disassemble=vkCmdDraw LIBRARY", "LIBRARY stands for that of any processor"),
    ("make clients", "it fetches programs from many registries"),
    ("make bench PEER=sid", "it measures, and needs a quiet machine"),
    ("make/bench.sh drivers", "it measures, and needs a quiet machine"),
    ("make figures", "it measures, and needs a quiet machine"),
    ("make dist", "it packs what is committed, for minutes; a workflow of its own runs it"),
    ("make dist-windows", "it builds with another Rust, whose packages make setup does not bring"),
    ("make dist deb rpm", "a workflow of its own runs it"),
    ("make deb", "it builds all anew, and is run by make test-system"),
    ("make rpm", "it builds all anew, and a workflow of its own runs it"),
    ('make deb VKL_PROVIDES="$(dpkg-query -W -f \'${Version}\' libvulkan1)"', "make test-system tries what it makes, with a version of its own"),
    ("make build MAPPED=1", "it builds all anew; make reproducible shows what it is for"),
    ("make build PAGES=folder", "the packages do; the tests of loader/pages read what is written"),
    ('make build SYSROOT="$(make/sysroot.sh bullseye)"', "it fetches the C library of another system; the release's workflow runs it"),
    ("make test-system", "it needs a root of a whole system; a workflow of its own runs it"),
    ("make reproducible", "it builds all twice; a workflow of its own runs it"),
    ("cargo build --target ...", "what stands there is any target; make/targets.sh has some"),
    ("apt-get install libvulkan1", "it changes the system; make test-system runs it in a root"),
    ("ldconfig", "it changes the system"),
    ("ldconfig -p | grep libvulkan", "it shows what a system has"),
    ("ldd LIBRARY", "LIBRARY stands for any"),
    ("VK_LOADER_DEBUG=", "PROGRAM stands for any; the behaviour cases try the variable with their own"),
    ("break vkCmdDraw", "it is for a debugger; tests/abi shows that the exported functions have these names"),
]


# What a fenced block begins with whose lines are for a shell.
SHELLS = ("", "sh", "bash", "console")


def commands(text):
    """The commands of a document, with the numbers of their lines: indented lines, fenced ones, and code within prose."""
    prose, fence = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fence = line[3:].strip() if fence is None else None
            line = ""
        elif fence is not None or line.startswith("    "):
            # Columns stand for what a file is and how it is used.
            for part in re.split(r" {3,}", line.strip().removeprefix("$ ")) if fence is None or fence in SHELLS else ():
                yield from ((number, command) for command in single(part))
            line = ""
        prose.append(line)
    # Code may go on in the next line of its paragraph.
    for found in re.finditer(r"`((?:[^`\n]|\n(?!\n))+)`", "\n".join(prose)):
        number = "\n".join(prose).count("\n", 0, found.start()) + 1
        yield from ((number, command) for command in single(found[1].replace("\n", " ")))


def single(text):
    """The commands that a piece of code consists of: a comment says more of it, and && joins two."""
    for command in re.split(r" && ", re.sub(r"(^|\s+)#.*", "", text.strip())):
        if COMMAND.match(command) and command not in NAMES:
            yield command


def problems(read, documents):
    """A line for each command without a row, and each row that does not hold."""
    rows = {start: None for start, _ in NOT_RUN} | {start: (path, words) for start, path, words in RUN}
    unused = set(rows)
    for path in documents:
        for number, command in commands(read(path)):
            fitting = [start for start in rows if command == start or (command.startswith(start) and start.endswith("="))]
            unused.difference_update(fitting)
            if not fitting:
                yield f"{path}:{number} shows `{command}`: say in make/commands.py which test runs it, or why none does"
    for start in sorted(unused):
        yield f"make/commands.py has a row for `{start}`, which no document shows"
    for start, path, words in RUN:
        if words not in read(path):
            yield f"make/commands.py: {path} does not run `{start}` any more: it lacks {words}"
