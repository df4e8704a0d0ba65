"""Tests that crates which deny.toml does not allow are refused."""

import os
import subprocess

from cases import HANG, ROOT, Skip, expect, run, scratch, tool


def package(folder, name, licence="MIT", dependencies=""):
    """Returns a package without content."""
    (folder / "src").mkdir(parents=True)
    (folder / "src/lib.rs").write_text("")
    (folder / "Cargo.toml").write_text(
        f'[package]\nname = "{name}"\nversion = "1.0.0"\nedition = "2021"\nlicense = "{licence}"\npublish = false\n'
        f"[dependencies]\n{dependencies}\n"
    )
    return folder


def project(dependencies):
    """Returns a project with these dependencies and its lock file."""
    whole = package(scratch("crates") / "whole", "whole", dependencies=dependencies)
    (whole / "Cargo.toml").write_text((whole / "Cargo.toml").read_text() + "[workspace]\n")
    cargo = os.environ.get("CARGO", "cargo").split()
    run([*cargo, "generate-lockfile", "--offline", "--manifest-path", whole / "Cargo.toml"], HANG)
    return whole / "Cargo.toml"


def judged(manifest, status):
    """Returns the messages of cargo-deny."""
    done = subprocess.run([ROOT / "make/crates.sh", manifest], timeout=HANG, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = done.stdout
    if "neither installed nor to be had" in output:
        raise Skip("cargo-deny is not to be had")
    expect(done.returncode == status, f"status {done.returncode}, not {status}:\n{output}")
    return output


def refused(manifest, *words):
    output = judged(manifest, 1)
    for word in words:
        expect(word in output, f"cargo-deny does not say {word!r}:\n{output}")


def beside(name, licence="MIT"):
    """Creates a package in a separate folder, and returns a dependency line for it."""
    folder = package(scratch("crates") / name, name, licence)
    return f'{name} = {{ path = "{folder}" }}\n'


def accepted():
    output = judged(project(beside("harmless", "GPL-3.0-only OR MIT")), 0)
    expect("licenses ok" in output, output)


def licence():
    refused(project(beside("strict", "MIT AND GPL-3.0-only")), "error[rejected]", "GPL-3.0-only")


def banned():
    refused(project(beside("openssl-sys")), "error[banned]", "openssl-sys", "nothing here speaks")


def wrapped():
    """An exception for one crate does not apply to another crate."""
    refused(project(beside("cc")), "error[banned]", "a build takes a linker")


def origin():
    """A git repository that deny.toml does not name is refused."""
    source = package(scratch("crates") / "elsewhere", "elsewhere")
    git = [tool("git"), "-C", source, "-c", "user.name=a", "-c", "user.email=a"]
    for arguments in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "one"]):
        subprocess.run([*git, *arguments], check=True, timeout=HANG, env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull})
    cargo = os.environ.get("CARGO", "cargo").split()
    whole = package(scratch("crates") / "whole", "whole", dependencies=f'elsewhere = {{ git = "file://{source}", version = "1" }}')
    (whole / "Cargo.toml").write_text((whole / "Cargo.toml").read_text() + "[workspace]\n")
    run([*cargo, "fetch", "--manifest-path", whole / "Cargo.toml"], HANG)
    refused(whole / "Cargo.toml", "error[source-not-allowed]", f"git+file://{source}")


def any_version():
    """A dependency without a version is refused. The test uses a package of this machine's store in place of a registry."""
    tool("cargo")
    refused(project('libc = "*"'), "error[wildcard]", "libc")


CASES = [
    ("crates that deny.toml allows", accepted),
    ("a crate with a forbidden licence", licence),
    ("a crate that is banned", banned),
    ("a crate that another may need", wrapped),
    ("a crate from elsewhere", origin),
    ("a crate in any version", any_version),
]
