"""The crates of an unpacked source archive as paragraphs of debian/copyright: `copyright.py`, in the archive's folder.

Of a choice of licences the two that the project itself has are named, which every archive may be passed on under; the others follow with
their texts, from the crates that have them.
"""

import textwrap
from pathlib import Path

import contents
import crates

COMMON = {"Apache-2.0": "Apache-2.0", "MIT": "Expat"}


def chosen(expression):
    """As Debian writes it: ours where that will do, else everything that it asks for."""
    will_do = [debian for name, debian in COMMON.items() if crates.satisfied(expression, {name})]
    if will_do:
        return " or ".join(will_do)
    words = [COMMON.get(word.strip("()"), word.strip("()")) for word in expression.split()]
    named = [word for word in words if word not in ("AND", "OR")]
    if len(named) == 1:
        return named[0]
    # One of each choice, and all that go with it.
    return " and ".join(part.split(" OR ")[0].strip("() ").replace("MIT", "Expat") for part in expression.split(" AND "))


def paragraph(text):
    """The lines of a licence as a field holds them."""
    return "\n".join(f" {line.rstrip()}" if line.strip() else " ." for line in textwrap.dedent(text).strip().splitlines())


def main():
    groups, texts = {}, {}
    for package in contents.metadata()["packages"]:
        folder = Path(package["manifest_path"]).parent
        if package["source"]:
            licence = chosen(contents.licence(package))
            authors = ", ".join(package["authors"]) or f"The authors of {package['name']}"
            groups.setdefault((licence, authors), []).append(f"vendor/{folder.name}/*")
            for name in licence.split(" and "):
                files = sorted(folder.glob("LICENSE-UNICODE" if "and" in licence else "LICENSE*"))
                if "or" not in name.split() and name not in ("Expat", "Apache-2.0") and files:
                    texts.setdefault(name, files[0].read_text(encoding="utf-8"))
    for (licence, authors), files in sorted(groups.items()):
        print(f"Files: {' '.join(sorted(files))}\nCopyright: {authors}\nLicense: {licence}\n")
    for name, text in sorted(texts.items()):
        print(f"License: {name}\n{paragraph(text)}\n")


if __name__ == "__main__":
    main()
