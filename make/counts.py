"""Finds counts of cases in documents, both of all cases and of passed ones.

Each added case makes such counts stale, so prose must not contain them. They are allowed in the tables that make documents writes,
and in a paragraph that names the commit of the run which printed them.
"""

import re

# A number, up to two words, and a counted noun; or a number out of a group of cases.
COUNT = re.compile(
    r"(?<![-\w])\d[\d,]*(?: of (?:the )?\d[\d,]*)?(?: [a-z]+){0,2} (?:cases|tests|statements|scenes|mutants)\b"
    r"|(?<![-\w])\d[\d,]*(?: of \d[\d,]*)? of (?:applications|drivers|layers|`(?:app|drivers|layers)`)"
)
WRITTEN = re.compile(r"<!-- written by .*?<!-- end -->", re.S)
COMMIT = re.compile(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{9,40}\b")


def problems(read, documents):
    """Yields a line for each count in a document without the commit of its run."""
    for path in documents:
        text = WRITTEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), read(path))
        for paragraph in re.finditer(r"(?:^.*\S.*\n?)+", text, re.M):
            if COMMIT.search(paragraph[0]):
                continue
            for found in COUNT.finditer(paragraph[0]):
                number = text.count("\n", 0, paragraph.start() + found.start()) + 1
                yield f"{path}:{number} counts `{found[0]}`: leave the count out, or name the commit of the run that printed it"
