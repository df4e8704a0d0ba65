"""What is inside, from Cargo.lock and the pin: `contents.py EPOCH` prints it as SPDX 2.3; `contents.py --check` compares it with
what deny.toml allows, as cargo-deny does, where that is not installed.

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
# How cargo names the one place that crates come from.
INDEX = "/crates.io-index"


def toml(name):
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


def metadata():
    """What cargo knows of all packages, without a network if it can."""
    command = [os.environ.get("CARGO", "cargo"), "metadata", "--format-version=1", "--locked"]
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


def satisfied(expression, allowed):
    """Whether one may have it under licences that are allowed. What cannot be read is not."""
    tokens = re.findall(r"\(|\)|[^\s()]+", expression)
    place = 0

    def alternatives():
        nonlocal place
        good = together()
        while place < len(tokens) and tokens[place] == "OR":
            place += 1
            good = together() or good
        return good

    def together():
        nonlocal place
        good = single()
        while place < len(tokens) and tokens[place] == "AND":
            place += 1
            good = single() and good
        return good

    def single():
        nonlocal place
        word = tokens[place]
        place += 1
        if word == "(":
            good = alternatives()
            place += 1
            return good
        if place + 1 < len(tokens) and tokens[place] == "WITH":
            word += f" WITH {tokens[place + 1]}"
            place += 2
        return word in allowed

    good = alternatives()
    return good and place == len(tokens)


def check():
    """What deny.toml says of licences, origins and bans, against what cargo would build."""
    rules = toml("deny.toml")
    allowed = set(rules["licenses"]["allow"])
    extra = {rule["crate"]: set(rule["allow"]) for rule in rules["licenses"].get("exceptions", [])}
    banned = {rule["crate"]: rule.get("reason", "") for rule in rules["bans"].get("deny", [])}
    known = metadata()
    wrong = []
    for package in known["packages"]:
        name, what = package["name"], f"{package['name']} {package['version']}"
        if not satisfied(licence(package), allowed | extra.get(name, set())):
            wrong.append(f"{what}: its licence, {licence(package)}, is none that deny.toml allows")
        if package["source"] and not package["source"].endswith(INDEX):
            wrong.append(f"{what} comes from {package['source']}")
        if name in banned:
            wrong.append(f"{what} is not to be used: {banned[name]}")
    names = {package["name"] for package in known["packages"]}
    wrong += [f"deny.toml makes an exception for {name}, which Cargo.lock has not" for name in sorted(set(extra) - names)]
    for line in wrong:
        print(f"  FAIL  crates: {line}")
    if not wrong:
        print(f"  ok    crates: licences, origins and bans of {len(names)} crates are as deny.toml has them")
    return 1 if wrong else 0


def main():
    arguments = sys.argv[1:]
    if arguments == ["--check"]:
        sys.exit(check())
    if len(arguments) != 1 or not arguments[0].isdigit():
        sys.exit("contents.py EPOCH | --check")
    json.dump(contents(int(arguments[0])), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
