"""What is inside, from Cargo.lock and the pin: `contents.py EPOCH` prints it as SPDX 2.3.

EPOCH is the time the list bears, in seconds since 1970. The same lock file gives the same list.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import urllib.parse
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What is installed on systems: the crates they are made of are the ones that users run.
SHIPPED = ("vulkan-loader", "vkloader", "vk-loader-service")
# What the registry's XML says of itself.
REGISTRY = "Copyright 2015-2026 The Khronos Group Inc."


def toml(name):
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


def metadata(manifest="Cargo.toml"):
    """What cargo knows of all packages of a lock file, without a network if it can."""
    command = [os.environ.get("CARGO", "cargo"), "metadata", "--format-version=1", "--locked", "--all-features", "--manifest-path", manifest]
    done = subprocess.run([*command, "--offline"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def licence(package):
    """The expression; a slash is what `OR` was once."""
    return (package["license"] or "NOASSERTION").replace("/", " OR ")


def identifier(name, version=""):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{name}-{version}" if version else name)


def closure(known, start):
    """The packages that what is named by the identifier `start` is made of; what its tests need is not in it."""
    nodes = {node["id"]: node for node in known["resolve"]["nodes"]}
    seen, todo = set(), [start]
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        for dependency in nodes[current]["deps"]:
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"]):
                todo.append(dependency["pkg"])
    return seen


def row(package, checksums):
    """A crate as a package of the list."""
    name, version = package["name"], package["version"]
    entry = {
        "SPDXID": identifier(name, version),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence(package),
        "licenseDeclared": licence(package),
        "copyrightText": "NOASSERTION",
        "supplier": "NOASSERTION",
    }
    if package["source"]:
        entry["checksums"] = [{"algorithm": "SHA256", "checksumValue": checksums[name, version]}]
        locator = f"pkg:cargo/{name}@{urllib.parse.quote(version)}"
        entry["externalRefs"] = [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}
        ]
    return entry


def registry():
    """The XML from which generated/ and the snapshot were made: facts of others."""
    pin = toml("registry/pin.toml")
    for file, digest in pin["sha256"].items():
        yield {
            "SPDXID": identifier(file),
            "name": file,
            "versionInfo": pin["header"],
            "downloadLocation": f"https://github.com/KhronosGroup/Vulkan-Docs/blob/v{pin['header']}/xml/{file}",
            "filesAnalyzed": False,
            "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
            "licenseConcluded": "Apache-2.0 OR MIT",
            "licenseDeclared": "Apache-2.0 OR MIT",
            "copyrightText": REGISTRY,
            "supplier": "Organization: The Khronos Group Inc.",
        }


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def contents(epoch):
    known = metadata()
    lock = (ROOT / "Cargo.lock").read_bytes()
    checksums = {(p["name"], p["version"]): p.get("checksum") for p in tomllib.loads(lock.decode())["package"]}
    packages = {package["id"]: package for package in known["packages"]}
    version = toml("Cargo.toml")["workspace"]["package"]["version"]
    whole = {
        "SPDXID": identifier("vulkan-loader-rs"),
        "name": "vulkan-loader-rs",
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "Apache-2.0 OR MIT",
        "licenseDeclared": "Apache-2.0 OR MIT",
        "copyrightText": "NOASSERTION",
        "supplier": "NOASSERTION",
    }
    origins = list(registry())
    relations = [relation("SPDXRef-DOCUMENT", "DESCRIBES", whole["SPDXID"])]
    relations += [relation(whole["SPDXID"], "GENERATED_FROM", origin["SPDXID"]) for origin in origins]
    rows, shipped = {}, set()
    for package in known["packages"]:
        if package["name"] not in SHIPPED or package["source"]:
            continue
        own = identifier(package["name"], package["version"])
        relations.append(relation(whole["SPDXID"], "CONTAINS", own))
        for part in closure(known, package["id"]):
            shipped.add(part)
            if part != package["id"]:
                other = packages[part]
                relations.append(relation(own, "DEPENDS_ON", identifier(other["name"], other["version"])))
    for key, package in packages.items():
        rows[key] = row(package, checksums)
        if key not in shipped:
            # The generator and the tests: in the source archive, in nothing that is installed.
            relations.append(relation(rows[key]["SPDXID"], "DEV_TOOL_OF", whole["SPDXID"]))
    digest = hashlib.sha256(lock).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"vulkan-loader-rs-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/vulkan-loader-rs-{version}-{digest}",
        "creationInfo": {
            "created": datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: make/contents.py"],
        },
        "packages": [whole, *origins, *sorted(rows.values(), key=lambda entry: entry["SPDXID"])],
        "relationships": sorted(relations, key=lambda entry: tuple(entry.values())),
    }


def main():
    arguments = sys.argv[1:]
    if len(arguments) != 1 or not arguments[0].isdigit():
        sys.exit("contents.py EPOCH")
    json.dump(contents(int(arguments[0])), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
