"""Tests of `make build`: the build uses the flags of a packager, and puts its output into the folder that `make install` reads."""

import os

import installed
from cases import HANG, ROOT, expect, run, scratch, tool

MANIFEST = """
[workspace]
members = ["vulkan-loader", "vkloader", "vk-loader-service"]
resolver = "3"
[profile.tools]
inherits = "release"
"""
CRATE = """
[package]
name = "{name}"
version = "1.0.0"
edition = "2024"
"""


def project():
    """Creates a project with the same package names that builds quickly, and a cargo that builds it instead of this project."""
    folder = scratch("project with a blank")
    (folder / "Cargo.toml").write_text(MANIFEST)
    for name, file, text in [
        ("vulkan-loader", "lib.rs", "//! Nothing."),
        ("vkloader", "main.rs", "fn main() {}"),
        ("vk-loader-service", "main.rs", "fn main() {}"),
    ]:
        (folder / name / "src").mkdir(parents=True)
        (folder / name / "src" / file).write_text(text)
        manifest = CRATE.format(name=name)
        if file == "lib.rs":
            manifest += '[lib]\nname = "vulkan"\ncrate-type = ["cdylib"]\n'
        (folder / name / "Cargo.toml").write_text(manifest)
    run([tool("cargo"), "generate-lockfile", "--offline", "--manifest-path", folder / "Cargo.toml"], HANG)
    cargo = folder / "cargo"
    cargo.write_text(f'#!/bin/sh\ncd "{folder}" && exec "{tool("cargo")}" "$@"\n')
    cargo.chmod(0o755)
    # `make` cannot call a program whose path contains a blank, so the test passes it a link with another path.
    link = scratch("cargo") / "cargo"
    link.symlink_to(cargo)
    return folder, link


def build(folder, cargo, **variables):
    """Builds the project, and returns the output of cargo."""
    environment = {name: value for name, value in os.environ.items() if "RUSTFLAGS" not in name and not name.startswith("MAKE")}
    for inherited in ("VKL_LIBRARY", "SYSROOT", "CARGO_BUILD_TARGET", "CARGO_ENCODED_RUSTFLAGS"):
        environment.pop(inherited, None)
    environment |= {"CARGO": str(cargo), "CARGO_TARGET_DIR": str(folder / "target"), "CARGO_TERM_VERBOSE": "true"}
    environment |= {"CARGO_TERM_COLOR": "never", "PAGES": "no", "MAPPED": "1", **variables}
    return run([ROOT / "make/build.sh"], HANG, env=environment)


def flags():
    """MAPPED=1 replaces paths. The build also uses the flags from each source that cargo reads."""
    folder, cargo = project()
    host = next(line.split()[1] for line in run([tool("rustc"), "-vV"], HANG).splitlines() if line.startswith("host:"))
    configuration = folder / ".cargo/config.toml"
    configuration.parent.mkdir()
    name = host.upper().replace("-", "_")
    for number, (variables, text) in enumerate(
        [
            ({"RUSTFLAGS": "  --cfg=way_0  --cfg=second"}, ""),
            ({"CARGO_ENCODED_RUSTFLAGS": "--cfg=way_1\x1f--cfg=second"}, ""),
            ({f"CARGO_TARGET_{name}_RUSTFLAGS": "--cfg=way_2 --cfg=second"}, ""),
            ({"CARGO_BUILD_RUSTFLAGS": "--cfg=way_3 --cfg=second"}, ""),
            ({}, '[build]\nrustflags = ["--cfg=way_4", "--cfg=second"]'),
            ({}, f'[target.{host}]\nrustflags = ["--cfg=way_5", "--cfg=second"]'),
            ({}, '[target."cfg(unix)"]\nrustflags = "--cfg=way_6 --cfg=second"'),
        ]
    ):
        configuration.write_text(text)
        output = build(folder, cargo, **variables)
        # Cargo quotes a path with a quote for a shell.
        lines = [line.replace("'\\''", "'") for line in output.splitlines() if "Running" in line and "--crate-name" in line]
        expect(len(lines) == 3, f"way {number}: {output}")
        for line in lines:
            for word in (f"--cfg=way_{number}", "--cfg=second", f"{ROOT}=/usr/src/vulkan-loader-rs-{installed.version()}"):
                expect(word in line, f"way {number} lost {word}: {line}")


def target():
    """The output for a named target is in the target's folder, where `make install` finds the output."""
    folder, cargo = project()
    host = next(line.split()[1] for line in run([tool("rustc"), "-vV"], HANG).splitlines() if line.startswith("host:"))
    build(folder, cargo, CARGO_BUILD_TARGET=host)
    for name in ("libvulkan.so", *installed.PROGRAMS):
        expect((folder / "target" / host / "release" / name).is_file(), f"no {name} for {host}")
    where = {"DESTDIR": scratch("destination"), "VKL_LIBRARY": "", "CARGO_TARGET_DIR": folder / "target", "CARGO_BUILD_TARGET": host}
    installed.make("install", **where)
    expect((where["DESTDIR"] / "usr/local/bin/vkloader").is_file(), "vkloader is not installed")
    # build.sh cannot find the output for a target that is set only in cargo's configuration. The script must fail with a message that names
    # CARGO_BUILD_TARGET.
    (folder / ".cargo").mkdir()
    (folder / ".cargo/config.toml").write_text(f'[build]\ntarget = "{host}"\n')
    environment = {**os.environ, "CARGO": str(cargo), "CARGO_TARGET_DIR": str(folder / "other"), "PAGES": "no"}
    for inherited in ("VKL_LIBRARY", "CARGO_BUILD_TARGET"):
        environment.pop(inherited, None)
    output = run([ROOT / "make/build.sh"], HANG, status=2, env=environment)
    expect("CARGO_BUILD_TARGET" in output, output)


CASES = [
    ("flags of a packager", flags),
    ("a target by name", target),
]
