"""Finds out which variables change the content of a driver catalogue, and writes the table of loader/catalogue.

python3 tests/real/variables VKLOADER LIBRARY [ROOT...]

Each ROOT is a folder with a whole system, and bubblewrap starts programs in this folder. The default is this system. Candidates are all
variables that the drivers read during `vkloader catalogue update`, and all names in the library of a driver with a device. The script tries
several values for each candidate. The script first sets all candidates at the same time. If the catalogue changes, the script tries halves
of the candidates, until it has found single variables. A variable is regarded as harmless only if a driver with a device reads it, because
a driver may use other variables only with a device. The script stores its results in target/variables.json, and continues an interrupted
run with the next value.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
TABLE = ROOT / "loader/catalogue/src/variables.txt"
KEPT = ROOT / "target/variables.json"
VALUES = ("", "0", "1", "true", "no", "all", "1.1", "-1", "/nowhere/at/all")
# Pattern of variables in a library. The pattern does not match Mesa's names of the same syntax that are not variables.
WORDS = re.compile(rb"(?<=\0)(?:MESA|LP|GALLIUM|NIR|DRI|MDA)_(?!PRIM_|SHADER_(?!CACHE))[A-Z0-9_]{2,}(?=\0)")
# Pattern of variables that all programs read, and that belong to no driver.
COMMON = re.compile(
    r"(HOME|PATH|USER|LOGNAME|PWD|TERM|TMPDIR|TMP|TEMP|TEMPDIR|SHELL|LANG|LANGUAGE|DISPLAY|XAUTHORITY|XDG_\w+|LC_\w+|WAYLAND_\w+|XCB_\w+|"
    r"VK_\w+|VKL_\w+|LD_\w+|RUST\w*|DBUS_\w+|MALLOC_\w+|GCONV_PATH|LOCPATH|NLSPATH|TZ|TZDIR|ICU_\w+|POSIXLY_CORRECT|GLIBC_TUNABLES|NO_COLOR|"
    r"COLUMNS|TERMINFO\w*|XLOCALEDIR|XKB_\w+|GETCONF_DIR|SUDO_\w+|PKEXEC_UID|CLICOLOR\w*)$"
)
# Variables that vendors document for drivers that were not available for measurements. Layers and programs read these variables, and a
# catalogue does not contain their effects.
DOCUMENTED = {
    "DRI_PRIME": ("unknown", "unset"),
    "DZN_DEBUG": ("unknown", "counts"),
    "__GLX_VENDOR_LIBRARY_NAME": ("nothing", "unset"),
    "__GL_SHADER_DISK_CACHE": ("nothing", "unset"),
    "__GL_SHADER_DISK_CACHE_APP_NAME": ("nothing", "unset"),
    "__GL_SHADER_DISK_CACHE_PATH": ("nothing", "unset"),
    "__GL_SHADER_DISK_CACHE_READ_ONLY_APP_NAME": ("nothing", "unset"),
    "__GL_SHADER_DISK_CACHE_SIZE": ("nothing", "unset"),
    "__GL_SHADER_DISK_CACHE_SKIP_CLEANUP": ("nothing", "unset"),
    "__NV_PRIME_RENDER_OFFLOAD": ("nothing", "unset"),
    "__NV_PRIME_RENDER_OFFLOAD_PROVIDER": ("nothing", "unset"),
    "__VK_LAYER_NV_optimus": ("nothing", "unset"),
    "force_vk_vendor": ("devices", "unset"),
    "mesa_glthread": ("nothing", "unset"),
    "mesa_no_error": ("nothing", "unset"),
}
HEAD = """\
# Variables of drivers, and the parts of a driver catalogue that they change. Each row has the name, the changed parts, the meaning of an
# empty value, and the drivers with which this was seen. The parts are extensions, version, devices (their existence and identity) and
# outcome, or `nothing`. `unknown` means that no device was there to show the effect. tests/real/variables writes this file.
"""


class System:
    """A root with drivers, and the programs that ask the drivers."""

    def __init__(self, root, program, library, scratch):
        self.root = root
        self.scratch = Path(tempfile.mkdtemp(dir=scratch))
        for name, path in (("vkloader", program), ("libvulkan.so.1", library)):
            shutil.copy(path, self.scratch / name)
        names = ["cc", "-shared", "-fPIC", "-Wall", "-o", self.scratch / "names.so", Path(__file__).parent / "names.c", "-ldl"]
        subprocess.run([str(word) for word in names], check=True)
        self.wrapper = []
        if root != Path("/"):
            self.wrapper = ["bwrap", "--bind", root, "/", "--proc", "/proc", "--dev", "/dev", "--bind", self.scratch, self.scratch, "--die-with-parent"]
        self.version = self._version(root)

    def _version(self, root):
        """Returns the version of Mesa."""
        for driver in sorted(root.glob("usr/lib/*/libvulkan_lvp.so")):
            if found := re.search(rb"Mesa (\d+\.\d+\.\d+)", driver.read_bytes()):
                return found[1].decode()
        return "unknown"

    def ask(self, **variables):
        """Returns the content of a catalogue with these variables: a part of the entry of each driver."""
        home = self.scratch / "home"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_CACHE_HOME": str(home), **variables}

        def run(*words):
            command = [*self.wrapper, self.scratch / "vkloader", "catalogue", *words]
            done = subprocess.run([str(word) for word in command], cwd=home, env=environment, capture_output=True, text=True, timeout=300)
            if done.returncode:
                raise SystemExit(f"{variables}: {done.stderr}")
            return done.stdout

        run("update", "--user", "--library", self.scratch / "libvulkan.so.1")
        found = {}
        for driver in json.loads(run("show", "--user", "--json"))["drivers"]:
            found[Path(driver["manifest"]["path"]).name] = {
                "extensions": driver["extensions"],
                "version": (driver["interface"], driver["api-version"]),
                "devices": driver["devices"],
                "outcome": [driver.get(part) for part in ("outcome", "code", "signal", "status")],
            }
        return found

    def names(self):
        """Returns the variables that drivers may read. The value is True if a driver with a device reads the variable."""
        notes = self.scratch / "notes"
        known = self.ask(LD_PRELOAD=str(self.scratch / "names.so"), VKL_NAMES=str(notes))
        with_device = {name.split("_icd")[0] for name, driver in known.items() if driver["devices"]}
        asked = defaultdict(bool)
        for line in sorted(set(notes.read_text().splitlines())):
            library, _, name = line.partition(" ")
            if not library.startswith(("vkloader", "libvulkan.so")) and not COMMON.match(name):
                driver = re.match(r"libvulkan_(\w+)\.so", library)
                asked[name] |= not driver or driver[1] in with_device
        for driver in with_device:
            for library in self.root.glob(f"usr/lib/*/libvulkan_{driver}.so"):
                asked.update(dict.fromkeys((word.decode() for word in WORDS.findall(library.read_bytes())), True))
        return asked

    def changes(self, names, value, before):
        """Returns the effect of each variable with this value."""
        if not names:
            return {}
        now = self.ask(**dict.fromkeys(names, value))
        parts = {part for driver in before for part in before[driver] if now.get(driver, {}).get(part) != before[driver][part]}
        if not parts or len(names) == 1:
            return {name: parts for name in names if parts}
        middle = len(names) // 2
        return self.changes(names[:middle], value, before) | self.changes(names[middle:], value, before)


def look(system, kept):
    """Tries all variables of a system."""
    before = system.ask()
    if system.ask() != before:
        raise SystemExit("the drivers do not answer twice the same")
    names = system.names()
    # The script does not combine a variable that has an effect with other variables, because the effect would hide the effects of the other
    # variables.
    tried = kept.setdefault("tried", {}).setdefault(system.version, {})
    found = {}
    for value in VALUES:
        if value not in tried:
            changed = system.changes(sorted(names.keys() - found.keys()), value, before)
            tried[value] = {name: sorted(parts) for name, parts in changed.items()}
            KEPT.write_text(json.dumps(kept, indent=1))
            print(f"{system.version}, {len(names)} variables, {value!r}: {changed}", flush=True)
        found |= tried[value]
    empty = tried[""]
    unknown = {name: set() if has_device else {"unknown"} for name, has_device in names.items()}
    kept.setdefault("systems", {})[f"Mesa {system.version}"] = {
        name: [sorted(which.get(name) or unknown[name]) for which in (found, empty)] for name in sorted(names)
    }
    KEPT.write_text(json.dumps(kept, indent=1))


def table(kept):
    """Returns the lines of all variables."""
    rows = {}
    for version, variables in kept["systems"].items():
        for name, (changes, empty) in variables.items():
            row = rows.setdefault(name, (set(), set(), []))
            row[0].update(changes)
            row[1].update(empty)
            row[2].append(version)
    lines = {}
    for name, (changes, empty, seen) in rows.items():
        changes = changes - {"unknown"} or changes
        lines[name] = (",".join(sorted(changes)) or "nothing", "counts" if empty else "unset", ", ".join(seen))
    for name, (changes, empty) in DOCUMENTED.items():
        # A measured result takes precedence over the documentation.
        if lines.get(name, ("unknown",))[0] == "unknown":
            lines[name] = (changes, empty, "documents")
    return "".join(f"{name}\t{chr(9).join(lines[name])}\n" for name in sorted(lines))


def main():
    """Tests the variables and writes the table."""
    program, library, *roots = map(Path, sys.argv[1:])
    KEPT.parent.mkdir(exist_ok=True)
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    with tempfile.TemporaryDirectory(prefix="vkl-variables-") as scratch:
        for root in roots or [Path("/")]:
            system = System(root, program, library, scratch)
            if f"Mesa {system.version}" not in kept.get("systems", {}):
                look(system, kept)
    TABLE.write_text(HEAD + table(kept))


main()
