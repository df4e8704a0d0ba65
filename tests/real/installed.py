"""Tests of `make install`: the files, and programs that are built against them with pkg-config and with CMake (APP-7, APP-8)."""

import os
import re
import shlex
import shutil
import stat
from pathlib import Path

import loader
from cases import HANG, ROOT, expect, run, scratch, tool

HELLO = [ROOT / "tests/programs" / name for name in ("hello.c", "tour.c", "work.c")]
CFLAGS = ["-std=gnu11", "-D_GNU_SOURCE"]
WORKED = "1 of 1 devices worked"


def version():
    """Returns the version of the pinned header, which is part of the file names."""
    return re.search(r'^header = "(.*)"', (ROOT / "registry/pin.toml").read_text(), re.MULTILINE)[1]


def make(verb, status=0, **variables):
    """Runs a verb of the project's Makefile, and returns its output."""
    assignments = [f"{name}={value}" for name, value in variables.items()]
    environment = {**os.environ, "VKL_LIBRARY": str(loader.ours())}
    for inherited in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "DESTDIR", "PREFIX", "LIBDIR", "LIBMODE", "ZSHDIR", "LIBRARY_ONLY", "UNITS", "UNITDIR", "RULESDIR", "CATALOGUE", "CARGO_BUILD_TARGET"):
        environment.pop(inherited, None)
    # A named target has its own folder of programs.
    if "CARGO_BUILD_TARGET" in variables:
        environment.pop("VKL_TOOLS", None)
    # The folder of the library can contain manual pages of an earlier build, which must not be installed.
    environment["PAGES"] = "no"
    return run([tool("make"), "--silent", "-C", ROOT, verb, *assignments], HANG, status=status, env=environment)


def installed():
    """Returns the prefix of a new installation."""
    prefix = scratch("prefix")
    make("install", PREFIX=prefix)
    return prefix


def tree(folder):
    """Returns the files and links below a folder, each with its target if it is a link."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or path.is_file():
            found[str(path.relative_to(folder))] = str(path.readlink()) if path.is_symlink() else None
    return found


def files():
    """DESTDIR, PREFIX and LIBDIR determine the places of the files, and uninstall removes all files."""
    destination = scratch("destination")
    where = {"DESTDIR": destination, "PREFIX": "/opt/vulkan", "LIBDIR": "lib/multi-arch"}
    make("install", **where)
    folder = "opt/vulkan/lib/multi-arch"
    file = f"libvulkan.so.{version()}"
    expected = {
        "opt/vulkan/bin/vk-loader-service": None,
        "opt/vulkan/bin/vkloader": None,
        "opt/vulkan/libexec/vulkan-loader-rs/libvulkan.so.1": None,
        "opt/vulkan/lib/systemd/system/vulkan-loader-catalogue.path": None,
        "opt/vulkan/lib/systemd/system/vulkan-loader-catalogue.service": None,
        "opt/vulkan/lib/systemd/system/vulkan-loader-linker.path": None,
        "opt/vulkan/lib/systemd/system/vulkan-loader-service.service": None,
        "opt/vulkan/lib/systemd/system/vulkan-loader-service.socket": None,
        "opt/vulkan/lib/udev/rules.d/70-vulkan-loader-catalogue.rules": None,
        f"{folder}/{file}": None,
        f"{folder}/libvulkan.so.1": file,
        f"{folder}/libvulkan.so": "libvulkan.so.1",
        f"{folder}/pkgconfig/vulkan.pc": None,
        f"{folder}/cmake/VulkanLoader/VulkanLoaderConfig.cmake": None,
        f"{folder}/cmake/VulkanLoader/VulkanLoaderConfigVersion.cmake": None,
    }
    expect(tree(destination) == expected, f"installed: {tree(destination)}")
    for path, target in expected.items():
        text = "" if target or path.endswith((file, "libvulkan.so.1", "bin/vkloader", "bin/vk-loader-service")) else (destination / path).read_text()
        expect(not re.search("@[A-Z_]+@", text), f"{path} has a placeholder left:\n{text}")
        expect(str(destination) not in text, f"{path} names DESTDIR:\n{text}")
        program = {"catalogue": "vkloader", "service": "vk-loader-service"}.get(path.removesuffix(".service").rpartition("-")[2])
        if path.endswith(".service"):
            expect(f'ExecStart="/opt/vulkan/bin/{program}"' in text, f"{path} starts something else:\n{text}")
    make("uninstall", **where)
    expect(not tree(destination), f"left behind: {tree(destination)}")


def units():
    """UNITS=no installs neither the units nor the udev rule. UNITDIR and RULESDIR name other folders for the units and the rule."""
    destination = scratch("units")
    where = {"DESTDIR": destination, "PREFIX": "/usr"}
    make("install", UNITS="no", **where)
    found = [name for name in tree(destination) if "systemd" in name or "udev" in name]
    expect(not found, f"installed: {found}")
    moved = {**where, "UNITDIR": "/etc/units", "RULESDIR": "share/rules"}
    make("install", **moved)
    found = [name for name in tree(destination) if name.endswith((".rules", ".path", ".socket", ".service"))]
    expect(len(found) == 6 and all(name.startswith(("etc/units/", "usr/share/rules/")) for name in found), f"installed: {found}")
    make("uninstall", **moved)
    expect(not tree(destination), f"left behind: {tree(destination)}")


def library_only():
    """LIBRARY_ONLY=yes installs and removes the library of another architecture beside an installation, and changes no other file."""
    destination = scratch("both")
    first = {"DESTDIR": destination, "PREFIX": "/usr", "LIBDIR": "lib64"}
    second = {"DESTDIR": destination, "PREFIX": "/usr", "LIBDIR": "lib", "LIBRARY_ONLY": "yes"}
    make("install", **first)
    alone = tree(destination)
    (destination / "usr/bin/vkloader").write_text("the first")
    make("install", **second)
    expect((destination / "usr/bin/vkloader").read_text() == "the first", "the program was overwritten")
    new = sorted(set(tree(destination)) - set(alone))
    folder, file = "usr/lib", f"libvulkan.so.{version()}"
    links = [f"{folder}/{name}" for name in ("libvulkan.so", "libvulkan.so.1", file, "pkgconfig/vulkan.pc")]
    cmake = [f"{folder}/cmake/VulkanLoader/VulkanLoaderConfig{name}.cmake" for name in ("", "Version")]
    expect(new == sorted(cmake + links), f"installed in addition: {new}")
    make("uninstall", **second)
    expect(set(tree(destination)) == set(alone), f"left: {tree(destination)}")
    make("uninstall", **first)
    expect(not tree(destination), f"left behind: {tree(destination)}")


# Maps each program to the section of its manual pages.
PROGRAMS = {"vkloader": 1, "vk-loader-service": 8}
# Pages that belong to no program or command.
OTHER_PAGES = "vk-loader-service.json.5", "vulkan-loader.7"


def fake_build(triple):
    """Creates a build folder with pages, at the path that cargo uses for this CARGO_BUILD_TARGET. Other users cannot read the folder."""
    target = scratch("target")
    release = target / triple / "release"
    for folder in ("man", "bash", "fish", "zsh"):
        (release / "pages" / folder).mkdir(parents=True)
    shutil.copy(loader.ours(), release / "libvulkan.so")
    for name, section in PROGRAMS.items():
        (release / name).write_text("#!/bin/sh\n")
        for page in (f"man/{name}.{section}", f"man/{name}-what.{section}", f"bash/{name}.bash", f"fish/{name}.fish", f"zsh/_{name}"):
            (release / "pages" / page).write_text(f"{page}\n")
    for page in OTHER_PAGES:
        (release / "pages/man" / page).write_text(f"{page}\n")
    for path in release.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return target


def expected_modes(folder, library):
    """Returns the installed files of `fake_build`, each with its mode."""
    modes = {f"lib/libvulkan.so.{version()}": library}
    modes |= {f"bin/{name}": 0o755 for name in PROGRAMS}
    modes["libexec/vulkan-loader-rs/libvulkan.so.1"] = library
    modes |= {f"share/man/man{page[-1]}/{page}": 0o644 for page in OTHER_PAGES}
    for name, section in PROGRAMS.items():
        pages = f"man/man{section}/{name}.{section}", f"man/man{section}/{name}-what.{section}"
        places = *pages, f"bash-completion/completions/{name}"
        places += f"fish/vendor_completions.d/{name}.fish", f"{folder}/_{name}"
        modes |= {f"share/{place}": 0o644 for place in places}
    return modes


def modes():
    """Files and pages for a named target are installed, and all users can read them with any umask. Uninstall removes all these files."""
    target = fake_build("some-target")
    for variables, folder, library in [
        ({"LIBMODE": "755"}, "zsh/site-functions", 0o755),
        ({"LIBMODE": "0644", "ZSHDIR": "share/zsh/vendor-completions"}, "zsh/vendor-completions", 0o644),
        ({}, "zsh/site-functions", 0o644 if Path("/etc/debian_version").exists() else 0o755),
    ]:
        destination = scratch("modes")
        where = {"DESTDIR": destination, "PREFIX": "/usr", "VKL_LIBRARY": "", "PAGES": "", **variables}
        where |= {"CARGO_TARGET_DIR": target, "CARGO_BUILD_TARGET": "some-target"}
        before = os.umask(0o077)
        try:
            make("install", **where)
        finally:
            os.umask(before)
        found = {str(path.relative_to(destination / "usr")): path.lstat() for path in (destination / "usr").rglob("*")}
        closed = [name for name, status in found.items() if stat.S_ISDIR(status.st_mode) and status.st_mode & 0o777 != 0o755]
        expect(not closed, f"folders: {closed}")
        files = {name: stat.S_IMODE(status.st_mode) for name, status in found.items() if stat.S_ISREG(status.st_mode)}
        wanted = expected_modes(folder, library)
        expect({name: files.get(name) for name in wanted} == wanted, f"modes: {files}")
        others = {name: mode for name, mode in files.items() if name not in wanted and mode != 0o644}
        expect(not others, f"modes: {others}")
        make("uninstall", **where)
        expect(not tree(destination), f"left behind: {tree(destination)}")
    output = make("install", status=2, DESTDIR=scratch("modes"), LIBMODE="rw")
    expect("LIBMODE must be a mode" in output, output)


def uninstall_spares_others():
    """Uninstall does not remove files that another loader has replaced: a link, and the files for building programs."""
    prefix = installed()
    link = prefix / "lib/libvulkan.so.1"
    link.unlink()
    link.symlink_to("libvulkan.so.1.0.0")
    taken = "lib/pkgconfig/vulkan.pc", "lib/cmake/VulkanLoader/VulkanLoaderConfig.cmake"
    for name in taken:
        (prefix / name).write_text("# Another loader's.\n")
    make("uninstall", PREFIX=prefix)
    expect(tree(prefix) == {"lib/libvulkan.so.1": "libvulkan.so.1.0.0", **dict.fromkeys(taken)}, f"left: {tree(prefix)}")


def apple():
    """A macOS library is installed under the names for macOS and as a framework (APP-1). The test uses a file that has only the first
    bytes of a library."""
    folder = scratch("apple")
    library = folder / "libvulkan.dylib"
    library.write_bytes(b"\xcf\xfa\xed\xfe" + bytes(28))
    where = {"PREFIX": folder / "prefix", "VKL_LIBRARY": library}
    make("install", **where)
    file = f"libvulkan.{version()}.dylib"
    found = tree(folder / "prefix/lib")
    names = {name: target for name, target in found.items() if "/" not in name}
    expected = {file: None, "libvulkan.1.dylib": file, "libvulkan.dylib": "libvulkan.1.dylib"}
    expect(names == expected, f"installed: {found}")
    package = (folder / "prefix/lib/cmake/VulkanLoader/VulkanLoaderConfig.cmake").read_text()
    expect(f"/{file}" in package and '"@rpath/libvulkan.1.dylib"' in package, package)
    make("uninstall", **where)
    expect(not tree(folder / "prefix"), f"left behind: {tree(folder / 'prefix')}")
    make("framework", **where)
    expected = {
        "Versions/A/vulkan": None,
        "Versions/A/Resources/Info.plist": None,
        "Versions/Current": "A",
        "vulkan": "Versions/Current/vulkan",
        "Resources": "Versions/Current/Resources",
    }
    framework = folder / "prefix/lib/vulkan.framework"
    expect(tree(framework) == expected, f"installed: {tree(framework)}")
    text = (framework / "Resources/Info.plist").read_text()
    expect(f"<string>{version()}</string>" in text and "@" not in text, text)
    where["PREFIX"] = folder / "ios"
    make("ios-framework", **where)
    found = tree(folder / "ios/lib/vulkan.framework")
    expect(found == {"vulkan": None, "Info.plist": None}, f"installed: {found}")


def run_consumer(program, library_folder):
    """Runs a built program on the installed library, which the program finds by the library's SONAME."""
    environment = loader.environment(loader.ours(), VK_DRIVER_FILES=loader.lavapipe())
    environment["LD_LIBRARY_PATH"] = str(library_folder)
    output = run([program], HANG, env=environment)
    expect(WORKED in output and str(library_folder) in output, output)


def pkg_config(prefix=None):
    """A program that is built with the flags from vulkan.pc runs on the installed library."""
    prefix = prefix or installed()
    environment = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}

    def ask(*question):
        return run([tool("pkg-config"), *question, "vulkan"], HANG, env=environment)

    expect(ask("--modversion").strip() == version(), f"version {ask('--modversion')}")
    program = scratch("consumer") / "hello"
    # The flags are split like the words of a shell, with a backslash before a blank in the name of a folder.
    flags = shlex.split(ask("--cflags", "--libs"))
    run([tool("cc"), *CFLAGS, *HELLO, "-o", program, *flags], HANG)
    run_consumer(program, prefix / "lib")


def pkg_config_outside():
    """vulkan.pc contains a library folder outside the prefix unchanged."""
    folder = scratch("elsewhere")
    make("install", PREFIX=folder / "prefix", LIBDIR=folder / "libraries")
    text = (folder / "libraries/pkgconfig/vulkan.pc").read_text()
    expect(f"libdir={folder / 'libraries'}\n" in text, text)


# Characters that have a meaning in sed, in a shell, or in a list of flags.
SIGNS = "R&D | it's 100% (new) * @VERSION@"


def signs():
    """With a prefix that contains blanks and special characters, all files are installed, and programs can be built with them."""
    prefix = scratch("signs") / SIGNS
    make("install", PREFIX=prefix, LIBDIR="lib & more")
    folder = prefix / "lib & more"
    expect((folder / "libvulkan.so.1").resolve() == folder / f"libvulkan.so.{version()}", f"installed: {tree(prefix)}")
    text = (folder / "pkgconfig/vulkan.pc").read_text()
    expect(f"prefix={prefix}\n" in text and "libdir=${exec_prefix}/lib & more\n" in text, text)
    make("uninstall", PREFIX=prefix, LIBDIR="lib & more")
    expect(not tree(prefix), f"left behind: {tree(prefix)}")
    prefix = scratch("signs") / "R&D | it's (new)"
    make("install", PREFIX=prefix)
    pkg_config(prefix)
    # This prefix has fewer special characters than the prefixes above, because CMake's makefiles do not support all of those characters.
    prefix = scratch("signs") / "R&D it's new"
    make("install", PREFIX=prefix)
    build, _ = configure(prefix, "VulkanLoader CONFIG", "Vulkan::Loader")
    run([tool("cmake"), "--build", build], HANG)
    run_consumer(build / "hello", prefix / "lib")


def refused_signs():
    """If vulkan.pc cannot express a path, the installation stops before it writes a file."""
    for sign in '"\\`#;\n$':
        folder = scratch("refused")
        for name in ("PREFIX", "LIBDIR"):
            environment = {**os.environ, "VKL_LIBRARY": str(loader.ours()), "PREFIX": str(folder / "prefix")}
            environment |= {name: f"{folder}/a{sign}b", "DESTDIR": ""}
            output = run([ROOT / "make/install.sh", "install"], HANG, status=3, env=environment)
            expect(f"install.sh: {name} must not contain" in output, output)
            environment[name] = f"{folder}/a "
            output = run([ROOT / "make/install.sh", "install"], HANG, status=3, env=environment)
            expect(f"install.sh: {name} must not end in a blank" in output, output)
        expect(not tree(folder), f"written: {tree(folder)}")


CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(consumer C)
find_package({package} REQUIRED)
add_executable(hello {sources})
target_compile_options(hello PRIVATE {flags})
target_link_libraries(hello PRIVATE {target})
"""


def configure(prefix, package, target, status=0):
    """Configures a CMake project that asks for the package; returns its build folder and CMake's output."""
    folder = scratch("cmake")
    sources = " ".join(f'"{path}"' for path in HELLO)
    project = CMAKE.format(package=package, sources=sources, flags=" ".join(CFLAGS), target=target)
    (folder / "CMakeLists.txt").write_text(project)
    build = folder / "build"
    arguments = ["-S", folder, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}"]
    return build, run([tool("cmake"), *arguments], HANG, status=status)


def by_cmake(package, target):
    """Returns a case: CMake finds the package in the installed tree, and a program built with it runs."""

    def case():
        prefix = installed()
        build, output = configure(prefix, package, target)
        output += run([tool("cmake"), "--build", build, "--verbose"], HANG)
        expect(f"{prefix}/lib/libvulkan" in output, output)
        run_consumer(build / "hello", prefix / "lib")

    return case


def refused_by_cmake(request):
    """Returns a case: CMake does not find a package whose version does not meet the request."""

    def case():
        output = configure(installed(), f"VulkanLoader {request} CONFIG", "Vulkan::Loader", status=1)[1]
        expect("version" in output and "VulkanLoader" in output, output)

    return case


CASES = [
    ("files and links", files),
    ("units in other folders, or none", units),
    ("a library beside an installation", library_only),
    ("what a named target gave, with pages, for all to read", modes),
    ("uninstall spares another loader's link", uninstall_spares_others),
    ("a library and frameworks of Apple's systems", apple),
    ("pkg-config", pkg_config),
    ("a prefix with blanks and signs", signs),
    ("a prefix that vulkan.pc cannot name", refused_signs),
    ("pkg-config, library folder outside the prefix", pkg_config_outside),
    ("CMake, find_package(VulkanLoader)", by_cmake("VulkanLoader 1.4 CONFIG", "Vulkan::Loader")),
    ("CMake, find_package(Vulkan)", by_cmake("Vulkan", "Vulkan::Vulkan")),
    ("CMake refuses a newer version", refused_by_cmake("1.5")),
    ("CMake refuses another major version", refused_by_cmake("2.0")),
]
