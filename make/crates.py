"""What crates may be, as deny.toml has it: `crates.py Cargo.toml...`, for what make/crates.sh hands over.

It reads what deny.toml uses of cargo-deny's language, and refuses what it does not know of that, so that both say the same: licences and exceptions
from them, origins, bans and who may need a banned crate all the same, versions that are left open. It asks of all of a lock file what
cargo-deny asks of what some feature takes.
"""

import re
import sys

import contents

# What is read of each table, and of each entry of a list in one.
KNOWN = {
    "graph": {"all-features"},
    "licenses": {"allow", "exceptions", "confidence-threshold"},
    "bans": {"multiple-versions", "wildcards", "allow-wildcard-paths", "deny"},
    "sources": {"unknown-registry", "unknown-git"},
    "advisories": {"yanked"},
}
KNOWN_OF_ENTRIES = {("licenses", "exceptions"): {"crate", "allow"}, ("bans", "deny"): {"crate", "wrappers", "reason"}}


def unknown(rules):
    """What deny.toml says that is not read here."""
    for table, keys in rules.items():
        yield from (f"{table}.{key}" for key in keys if key not in KNOWN.get(table, ()))
    for (table, name), keys in KNOWN_OF_ENTRIES.items():
        for entry in rules[table].get(name, []):
            yield from (f"{table}.{name}.{key}" for key in entry if key not in keys)
            if not re.fullmatch(r"[\w-]+", entry["crate"]):
                yield f"{table}.{name}.crate = {entry['crate']}"


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

    try:
        good = alternatives()
    except IndexError:
        return False
    return good and place == len(tokens)


def mentioned(package):
    """The licences that stand in its expression."""
    return {word.strip("() ") for word in re.split(r" (?:OR|AND) ", contents.licence(package))}


def from_registry(packages):
    """The origin of what names none: cargo's own registry."""
    return {
        dependency["source"]
        for package in packages
        for dependency in package["dependencies"]
        if dependency["registry"] is None and (dependency["source"] or "").startswith("registry+")
    }


def users(known):
    """By the identifier of each package the names of those that name it as a dependency."""
    names = {package["id"]: package["name"] for package in known["packages"]}
    found = {}
    for node in known["resolve"]["nodes"]:
        for dependency in node["deps"]:
            found.setdefault(dependency["pkg"], set()).add(names[node["id"]])
    return found


def judge(known, rules):
    """A line for each thing that is not as the rules want it."""
    allowed = set(rules["licenses"]["allow"])
    extra = {rule["crate"]: set(rule["allow"]) for rule in rules["licenses"].get("exceptions", [])}
    banned = {rule["crate"]: rule for rule in rules["bans"].get("deny", [])}
    origins, needed_by = from_registry(known["packages"]), users(known)
    for package in known["packages"]:
        name, what = package["name"], f"{package['name']} {package['version']}"
        if not satisfied(contents.licence(package), allowed | extra.get(name, set())):
            yield f"{what}: its licence, {contents.licence(package)}, is none that deny.toml allows"
        if package["source"] and package["source"] not in origins:
            yield f"{what} comes from {package['source']}"
        if name in banned and not needed_by.get(package["id"], {""}) <= set(banned[name].get("wrappers", [])):
            yield f"{what} is not to be used: {banned[name].get('reason', 'deny.toml bans it')}"
        for dependency in package["dependencies"]:
            if dependency["req"] == "*" and "path" not in dependency:
                yield f"{what} takes any version of {dependency['name']}"


def unused(packages, rules):
    """A line for each thing that deny.toml allows and no crate needs."""
    names = {package["name"] for package in packages}
    words = {word for package in packages for word in mentioned(package)}
    for rule in rules["licenses"].get("exceptions", []):
        if rule["crate"] not in names:
            yield f"deny.toml makes an exception for {rule['crate']}, which no lock file has"
    for name in rules["licenses"]["allow"]:
        if name not in words:
            yield f"deny.toml allows the licence {name}, which no crate has"


def main():
    manifests = sys.argv[1:]
    if not manifests:
        sys.exit("crates.py Cargo.toml...")
    rules = contents.toml("deny.toml")
    wrong = [f"deny.toml has {key}, which make/crates.py cannot read" for key in unknown(rules)]
    packages = []
    for manifest in manifests:
        known = contents.metadata(manifest)
        packages += known["packages"]
        wrong += [f"{manifest}: {line}" for line in judge(known, rules)]
    if any((contents.ROOT / manifest) == contents.ROOT / "Cargo.toml" for manifest in manifests):
        wrong += unused(packages, rules)
    for line in wrong:
        print(f"  FAIL  crates: {line}")
    if not wrong:
        count = len({package["id"] for package in packages})
        print(f"  ok    crates: licences, origins and bans of {count} crates in {len(manifests)} lock files are as deny.toml has them")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
