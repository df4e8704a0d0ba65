"""Writes what is in documents and follows from sources: MATRIX.md, the tables of docs/, the places that numbers lead to, and the
header that they name.

MATRIX.md says what the library promises, row by row, and which cases show it. The rows come from the sources that define them:
the exported symbols, the table of variables, the members of JSON files that the parsers ask for, the interface versions, and
the numbers of docs/reference/. The cases come from the sources of the behaviour tests: a case belongs to a row when it, or a
helper of its file, uses what the row is about, or when it carries the number. A row without a case is an error, but for numbers
whose entry says why there is none.

With `--check` nothing is written: it fails when a file is not what the sources give. MATRIX.md may name other cases than
those that would be named now, as long as they are there and are about their rows: a new case makes no page stale, and what
passes the check is not written either. With `--anew` everything is written.
"""

import re
import sys
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path

import commands
import counts
import reference

ROOT = Path(__file__).resolve().parent.parent
# Cases named in a row: those that are about the fewest other rows.
NAMED = 3

HEAD = """\
# What is promised, and what shows it

Written by `make documents` from the sources, and checked by `make test`; do not edit. A case is named by its group, file and
function: `app::lookup::app_020_...` is in `tests/tests/app/lookup.rs`. Where many cases use something, the most specific ones are
named; tests of parts and scripts are named by their file. How cases are written and run: [tests/README.md](tests/README.md).
"""


@dataclass
class Case:
    """A test function with the text of all that it uses."""

    name: str
    text: str
    # Its text without that of helpers.
    own: str = ""
    rows: int = 0


@dataclass
class Row:
    """A promise: how it is written in the table, and how a case shows that it is about it."""

    title: str
    pattern: re.Pattern
    # How the names of its cases begin.
    within: tuple = ("app::", "drivers::", "layers::")
    cases: list = field(default_factory=list)
    # What the pattern cannot do without: looking for that is faster.
    word: str = ""
    # Why no case shows it.
    reason: str | None = None


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


# -- The cases --

MACRO = re.compile(r"^(\w+)! \{$")
ENTRY = re.compile(r"^    ([a-z]+_[0-9]+[a-z]?_\w+): ")
ITEM = re.compile(r"^(?:pub\(crate\) )?(?:unsafe )?(?:extern \"\w+\" )?(?:fn|const|static|struct) (\w+)")


def items(text):
    """Name, text and kind of the items of a file, as rustfmt lays them out: each ends where a line of column 0 closes it."""
    lines = text.splitlines()
    comments, index = [], 0
    while index < len(lines):
        line = lines[index]
        if line.startswith(("///", "#[")):
            comments.append(line)
            index += 1
            continue
        found = ITEM.match(line)
        if MACRO.match(line) and line != "macro_rules! {":
            end = lines.index("}", index)
            yield from entries(lines[index + 1 : end])
        if not found:
            comments, index = [], index + 1
            continue
        end = index
        while not (lines[end] == "}" or (lines[end].endswith(";") and (end == index or lines[end].startswith(("]", "}"))))):
            end += 1
        yield found[1], "\n".join(comments + lines[index : end + 1]), "#[test]" in comments
        comments, index = [], end + 1


def entries(lines):
    """The cases that a table inside a macro lists, one each, with the comment in front."""
    name, part, comment = None, [], []
    for line in [*lines, "    end_0_: "]:
        if line.startswith("    //"):
            comment.append(line)
            continue
        found = ENTRY.match(line) or re.match(r"^    (end_0_): ", line)
        if found:
            if name:
                yield name, "\n".join(part), True
            name, part = found[1], []
        part += [*comment, line]
        comment = []


def cases():
    """All cases, each with the helpers of its file that it uses, directly or through others."""
    found = []
    for path in sorted((ROOT / "tests/tests").glob("*/*.rs")):
        parts = {name: (text, is_case) for name, text, is_case in items(path.read_text(encoding="utf-8"))}
        for name, (text, is_case) in parts.items():
            if not is_case:
                continue
            used, waiting = {name}, [text]
            whole = []
            while waiting:
                part = waiting.pop()
                whole.append(part)
                for word in set(re.findall(r"\w+", part)) & parts.keys() - used:
                    used.add(word)
                    if not parts[word][1]:
                        waiting.append(parts[word][0])
            found.append(Case(f"{path.parent.name}::{path.stem}::{name}", "\n".join(whole), text))
    return found


# -- The rows --


def symbols():
    """The exported symbols."""
    names = [line for line in read("generated/exports/linux.txt").splitlines() if line.startswith("vk")]
    return [Row(f"`{name}`", re.compile(rf"PFN_{name}\b|\"{name}\""), word=name) for name in names]


def variables():
    """The variables of the table in the loader."""
    names = re.findall(r"^    \w+ = \"(\w+)\", (?:Secure|Plain)", read("loader/discovery/src/env/variable.rs"), re.M)
    return [Row(f"`{name}`", re.compile(rf"\b{name}\b"), word=name) for name in names]


def member(name, *within):
    """A member of a JSON file: its name in quotes, as JSON or as Rust."""
    also = SHORTHANDS.get(name)
    pattern = rf"\"{name}\\?\"" + (f"|{also}" if also else "")
    return Row(f"`{name}`", re.compile(pattern), within)


# How the builders of the tests write members.
SHORTHANDS = {
    "component_layers": r"Layer::(?:implicit_)?meta\(",
    "enable_environment": r"\.enabled_by\(",
    "file_format_version": r"\.format\(",
    "api_version": r"\.api\(\"",
}
# Members whose names stand in a table of the parser.
NAMES = re.compile(
    r"(?:\.(?:get|text|object|array|all)\(|\bname\(|\b(?:required\w*|first_pair|leading_texts|uuid|symbol|named)\(\w+, )\"(\w+)\""
)


def members(paths):
    """The members that the parsers in these files ask for, in their order."""
    found = []
    for path in paths:
        source = read(path).split("#[cfg(", 1)[0]
        for name in NAMES.findall(source):
            if name not in found:
                found.append(name)
    return found


def driver_members():
    rows = members(["loader/discovery/src/manifest/driver.rs"])
    # Asked for only to say that the file is no driver's.
    return [member(name, "drivers::") for name in rows if name not in ("layer", "layers")]


def layer_members():
    folder = "loader/discovery/src/manifest/layer"
    files = ["file", "one", "functions", "extensions"]
    rows = members([f"{folder}/{name}.rs" for name in files])
    # Asked for only to say that the file is no layer's.
    return [member(name, "layers::") for name in rows if name != "ICD"]


def settings_members():
    names = members(["loader/discovery/src/settings/parse.rs", "loader/discovery/src/settings/devices.rs"])
    # Accepted and ignored: the loader never asks for it (APP-245).
    names.append("log_locations")
    return [member(name, "app::settings", "layers::settings", "drivers::catalogue") for name in names]


def driver_interfaces():
    """Interface 0 is a library without any function of the interface; 7 is what the mock drivers have by default."""
    latest = int(re.search(r"LATEST_INTERFACE: u32 = (\d+)", read("loader/src/driver/open.rs"))[1])
    all_versions = rf"1\.\.={latest} \{{.*?\.interface\(version\)"
    patterns = ["interface_zero"] + [rf"\.interface\({version}\)|{all_versions}" for version in range(1, latest + 1)]
    return [
        Row(f"{version}", re.compile(pattern, re.S), ("drivers::",)) for version, pattern in enumerate(patterns)
    ]


def layer_interfaces():
    """Interface 0 is a library without a negotiation function, or one that asks for it."""
    none = r"\.hide\(\"vkNegotiateLoaderLayerInterfaceVersion\"\)"
    patterns = [rf"\"negotiate\"(?: =|,) 0\b|{none}", r"\"negotiate\"(?: =|,) 1\b", r"\"negotiate\"(?: =|,) 2\b|version_2"]
    return [Row(f"{version}", re.compile(pattern), ("layers::",)) for version, pattern in enumerate(patterns)]


SECTIONS = [
    (
        "Exported symbols",
        """\
Every one of them is in these tables of cases, each of which goes through all of the registry's commands:
`app::library::app_003_what_is_exported`, `app::lookup_table::app_026_exported_symbols_are_what_the_lookup_gives`, and, for those that take a
dispatchable handle, `app::handles::app_184_null_...` and `app_183_foreign_...`. Commands of devices, queues and command buffers are
called in `app::trampolines::app_159_every_trampoline_reaches_its_function`. Layouts and signatures are compared with the C headers by
`tests/abi`. The table names cases beyond these.""",
        symbols,
        True,
    ),
    ("Environment variables", "What they do: [docs/using.md](docs/using.md).", variables, False),
    ("Members of driver manifests", "", driver_members, False),
    ("Members of layer manifests", "", layer_members, False),
    ("Members of the settings file", "", settings_members, False),
    ("Interface versions of drivers", "", driver_interfaces, False),
    ("Interface versions of layers", "", layer_interfaces, False),
]


def numbers(found):
    """A section for each page of the reference: its numbers, and what shows each."""
    parts, sections = {}, {}
    entries = list(reference.entries(ROOT))
    shown = reference.shown(ROOT, [(case.name, case.own) for case in found], {entry.number for entry in entries})
    for entry in entries:
        names = shown.get(entry.number, [])
        kind, number = entry.number.lower().split("-")
        link = f"[{entry.number}]({reference.FOLDER}/{entry.page}#{kind}-{number})"
        row = Row(link, re.compile(rf"(?<![a-z]){kind}_0*{number}_"), reason=entry.reason)
        row.cases = [parts.setdefault(name, Case(name, "")) for name in names]
        for case in row.cases:
            case.rows += 1
        sections.setdefault(entry.page, []).append(row)
    for page, rows in sections.items():
        title = re.match(r"# (.*)", read(f"{reference.FOLDER}/{page}"))[1]
        yield f"Numbers: {title[0].lower()}{title[1:]}", f"What they say: [{page}]({reference.FOLDER}/{page}).", rows, False


def connect(rows, found):
    """Finds the cases of each row."""
    for row in rows:
        near = [case for case in found if case.name.startswith(row.within) and row.word in case.text]
        row.cases = [case for case in near if row.pattern.search(case.text)]
        for case in row.cases:
            case.rows += 1


def shown(row, by_table):
    """The right-hand side of a row."""
    if row.reason:
        return f"no case: {row.reason}"
    if not row.cases:
        return "the tables" if by_table else None
    best = sorted(row.cases, key=lambda case: (not row.pattern.search(case.name), case.rows, case.name))[:NAMED]
    text = ", ".join(linked(case.name) if row.title.startswith("[") else f"`{case.name}`" for case in best)
    return text + (", and more" if len(row.cases) > len(best) else "")


def linked(name):
    """The name of a case with a link to its file."""
    group, *rest = name.split("::")
    path = f"tests/tests/{group}/{rest[0]}.rs" if rest else name.split(": ")[0]
    return f"[`{name}`]({path})"


def promises(found):
    """The sections with their rows, each with its cases."""
    sections = [(title, prose, make(), by_table) for title, prose, make, by_table in SECTIONS]
    for _, _, rows, _ in sections:
        connect(rows, found)
    return [*sections, *numbers(found)]


def stands(written, sections):
    """Whether a matrix that was written earlier has every row, and names cases that are still about it."""
    rows = [line.split(" | ", 1) for line in written.splitlines() if line.startswith("| ") and not line.startswith("| |")]
    due = [row for _, _, part, _ in sections for row in part]
    if [left for left, _ in rows] != [f"| {row.title}" for row in due]:
        return False
    for (_, right), row in zip(rows, due):
        if row.reason and right != f"{shown(row, False)} |":
            return False
        if not row.reason and not set(re.findall(r"`([^`]+)`", right)) <= {case.name for case in row.cases}:
            return False
    return True


def matrix(sections):
    """The text, and the rows that no case shows."""
    text, missing = [HEAD], []
    for title, prose, rows, by_table in sections:
        text.append(f"## {title} ({len(rows)})\n")
        if prose:
            text.append(prose + "\n")
        text.append("| | shown by |\n|---|---|")
        for row in rows:
            right = shown(row, by_table)
            if right is None:
                missing.append(f"{title}: {row.title}")
            text.append(f"| {row.title} | {right} |")
        text.append("")
    return "\n".join(text), missing


# -- The tables of docs/ --


def variable_table():
    """The table of the loader, for users."""
    row = re.compile(r"^    \w+ = \"(\w+)\", (\w+), (\w+), (\w+),\n\s*\"(.*)\";", re.M)
    lines = ["| variable | meaning | value | when elevated |", "|---|---|---|---|"]
    forms = {"Path": "list with `:`", "Comma": "list with `,`", "Whole": "one value"}
    for name, trust, separator, moment, meaning in row.findall(read("loader/discovery/src/env/variable.rs")):
        load = ", *at load*" if moment == "Load" else ""
        lines.append(f"| `{name}` | {meaning} | {forms[separator]}{load} | {TRUST[trust]} |")
    return lines


def code_table():
    """The reasons for leaving something out, for users."""
    row = re.compile(r"^    \w+ = \"([a-z0-9.-]+)\",\n\s*\"(.*)\",\n\s*\"(.*)\";", re.M)
    lines = ["| code | what it means | what to do |", "|---|---|---|"]
    for name, meaning, remedy in row.findall(read("loader/reasons/src/table.rs")):
        plain = [text.replace('\\"', '"') for text in (meaning, remedy)]
        lines.append(f"| `{name}` | {plain[0]} | {plain[1]} |")
    return lines


TRUST = {"Secure": "ignored", "Plain": "counts"}

# What is limited, the file and the constant that say how, the unit, and what becomes of more.
LIMITS = [
    ("a manifest or settings file", "../discovery/src/manifest/file.rs", "MAX_FILE_BYTES", "bytes", "refused, without reading it"),
    ("a driver catalogue", "../catalogue/src/lib.rs", "MOST_BYTES", "bytes", "ignored, without reading it"),
    ("drivers in a driver catalogue", "../catalogue/src/lib.rs", "MOST_ENTRIES", "drivers", "it is ignored"),
    ("extensions of one of them", "../catalogue/src/lib.rs", "MOST_EXTENSIONS", "extensions", "the driver is opened"),
    (
        "arrays and objects inside each other in JSON",
        "../discovery/src/manifest/json/normalize.rs", "MAX_DEPTH",
        "levels", "the file is invalid",
    ),
    (
        "names and descriptions of layers, names of their extensions",
        "../discovery/src/manifest/layer/one.rs", "MAX_NAME",
        "bytes", "the layer or extension is dropped",
    ),
    ("the library path of a driver", "../discovery/src/manifest/driver.rs", "MAX_LIBRARY_PATH", "bytes", "the driver is dropped"),
    ("names of devices in the settings file", "../discovery/src/settings/types.rs", "LONGEST", "bytes", "taken as empty"),
    (
        "the path of an executable that keys are compared with",
        "../discovery/src/search/executable.rs", "MAX_PATH",
        "bytes", "no key matches",
    ),
    (
        "extensions of components that meta-layers take over, in one scan",
        "../discovery/src/layers/meta.rs", "MAX_TAKEN_OVER",
        "extensions", "later ones are left out",
    ),
    ("patterns of one variable", "../discovery/src/env/glob.rs", "MAX_PATTERNS", "patterns", "later ones are ignored, with a warning"),
    ("one pattern", "../discovery/src/env/glob.rs", "MAX_PATTERN_BYTES", "bytes", "cut"),
    ("items of an ID filter", "../discovery/src/env/numbers.rs", "MAX_ID_ITEMS", "items", "later ones are ignored, with a warning"),
    (
        "names that an application passes",
        "ffi/text.rs", "LONGEST_NAME",
        "bytes", "the name is malformed, and the call fails",
    ),
    ("the text of one message", "../discovery/src/log/line.rs", "TEXT_LIMIT", "bytes", "cut"),
    ("decisions that a call remembers", "../discovery/src/journal/mod.rs", "MAX_DECISIONS", "decisions", "logged, and not remembered"),
    (
        "extensions that one driver reports",
        "driver/extensions.rs", "MOST_EXTENSIONS",
        "extensions", "later ones are ignored",
    ),
    (
        "devices, and groups of devices, that one driver reports",
        "physical_device/walk.rs", "MOST_OF_ONE_DRIVER",
        "devices", "later ones are ignored",
    ),
    (
        "attempts to read a list that changes meanwhile",
        "physical_device/walk.rs", "ATTEMPTS",
        "attempts", "what the last one gave counts",
    ),
    (
        "commands unknown to the loader, of each kind in one instance",
        "dispatch_table.rs", "UNKNOWN_SLOTS",
        "commands", "not found, with an error in the log",
    ),
]
CONSTANT = r"const {}: \w+ = ([0-9_ <]+);"


def limit_table():
    """The limits with their values, as the sources have them."""
    lines = ["| what | at most | more |", "|---|---|---|"]
    for what, path, name, unit, more in LIMITS:
        found = re.search(CONSTANT.format(name), read(f"loader/src/{path}"))
        if not found:
            sys.exit(f"error: loader/src/{path} has no constant {name}")
        value = eval(found[1])  # digits and shifts only, by the expression above
        number = f"{value >> 20} MiB" if value >= 1 << 20 else f"{value} {unit}"
        lines.append(f"| {what} | {number} | {more} |")
    return lines


STATIC = re.compile(r"((?:^///.*\n)+)^(?:pub )?static ([A-Z_]+): ([^\n]*?) =", re.M)
# What never changes once the library is loaded is no state.
CONSTANT_TYPES = ("u8", "ProcessHeap", "[Row; ROW_COUNT]", "[(Gate, DeviceGate); MOST_GATES]")


def state_table():
    """Everything that belongs to the process, where it lies, and the first sentence that the source says of it."""
    lines = ["| static | in | holds |", "|---|---|---|"]
    for path in sorted(glob("loader/**/*.rs", root_dir=ROOT, recursive=True)):
        if "test" in path or path.endswith("scratch.rs"):
            continue
        for comment, name, kind in STATIC.findall(read(path)):
            if kind not in CONSTANT_TYPES:
                words = " ".join(line.removeprefix("///").strip() for line in comment.splitlines())
                words = reference.bracketed(sentence(words))
                lines.append(f"| `{name}` | `{path.removeprefix('loader/')}` | {words} |")
    return lines


def sentence(words):
    """The first sentence, without brackets around requirement numbers and names of Rust."""
    first = re.split(r"(?<=\.) (?=[A-Z])", words)[0]
    return re.sub(r"\[(`[^`]*`)\](\([^)]*\))?", r"\1", first)


def with_table(text, name, lines):
    """The text of a document with the table between its two comments replaced."""
    begin, end = f"<!-- written by make documents: {name} -->\n", "<!-- end -->"
    before, rest = text.split(begin)
    return before + begin + "\n" + "\n".join(lines) + "\n\n" + end + rest.split(end, 1)[1]


# -- The header that documents name --

NUMBER = r"\d+\.\d+\.\d+"
# Where a document names the header of the day: the text before the number, and after it.
NAMED_HEADERS = [
    ("README.md", r"^Header ", r"\."),
    ("README.md", r"^    libvulkan\.so\.", r","),
    ("docs/using.md", r"Vulkan Loader Version ", r"$"),
]
# Lines that name the header of a day gone by, which stays what it was.
RECORDS = [("docs/figures.md", r"^## ")]


def pinned_header():
    return re.search(r'^header = "(.*)"$', read("registry/pin.toml"), re.M)[1]


def with_header(path, text):
    """A document's text with the pinned header wherever it names the header of the day; any other place is an error."""
    header = pinned_header()
    for where, before, after in NAMED_HEADERS:
        if where == path:
            text, count = re.subn(rf"({before}){NUMBER}(?={after})", rf"\g<1>{header}", text, flags=re.M)
            if not count:
                sys.exit(f"error: {path} does not name the header after {before!r}: mend NAMED_HEADERS in make/documents.py")
    for number, line in enumerate(text.splitlines(), 1):
        places = [rf"{before}{NUMBER}(?={after})" for where, before, after in NAMED_HEADERS if where == path]
        places += [rf"{start}.*" for where, start in RECORDS if where == path]
        rest = re.sub("|".join(places), "", line) if places else line
        if re.search(rf"(?<![\d.]){re.escape(header)}(?![\d.]*\d)", rest):
            sys.exit(f"error: {path}:{number} names the header: list it in NAMED_HEADERS of make/documents.py, so that a bump changes it")
    return text


def main():
    if sys.argv[1:] not in ([], ["--check"], ["--anew"]):
        sys.exit("usage: documents.py [--check | --anew]")
    check, anew = sys.argv[1:] == ["--check"], sys.argv[1:] == ["--anew"]
    found = cases()
    wrong = list(reference.problems(ROOT, [(case.name, case.own) for case in found]))
    if wrong:
        sys.exit("\n".join(f"error: {line}" for line in wrong))
    sections = promises(found)
    text, missing = matrix(sections)
    for row in missing:
        print(f"error: no case shows {row}", file=sys.stderr)
    if missing:
        sys.exit(1)
    documents = ["README.md", "CONTRIBUTING.md", *sorted(glob("docs/**/*.md", root_dir=ROOT, recursive=True))]
    # The reference quotes messages and names of the registry; it shows no commands.
    wrong = list(commands.problems(read, [path for path in documents if not path.startswith(reference.FOLDER)]))
    if wrong:
        sys.exit("\n".join(f"error: {line}" for line in wrong))
    wrong = list(counts.problems(read, documents))
    if wrong:
        sys.exit("\n".join(f"error: {line}" for line in wrong))
    outputs = {path: read(path) for path in documents}
    for path, name, lines in [
        ("docs/using.md", "codes", code_table()),
        ("docs/using.md", "variables", variable_table()),
        ("docs/architecture.md", "state", state_table()),
        ("docs/limits.md", "limits", limit_table()),
    ]:
        outputs[path] = with_table(outputs[path], name, lines)
    outputs = {path: with_header(path, content) for path, content in outputs.items()}
    entries, wrong = list(reference.entries(ROOT)), []
    for path in outputs:
        # The pages of the reference name the page with each link, since their numbers lead to each other.
        if not path.startswith(reference.FOLDER):
            outputs[path], without = reference.with_places(path, outputs[path], entries)
            wrong += without
    if wrong:
        sys.exit("\n".join(f"error: {line}" for line in wrong))
    outputs["MATRIX.md"] = text
    for path, content in outputs.items():
        output = ROOT / path
        found = output.read_text(encoding="utf-8") if output.exists() else None
        if found == content or (path == "MATRIX.md" and found and not anew and stands(found, sections)):
            continue
        if check:
            sys.exit(f"error: {path} is not what the sources give; run make documents and commit it")
        output.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
