"""Counts of cases in documents: how many there are, and how many of them a run passed.

They go stale with every case that is added, so prose has none. The tables that make documents writes may have them, and so may a
paragraph that names the commit of the run that printed them.
"""

import re

# A number, at most two words, and what is counted; or a number out of one of the groups of cases.
COUNT = re.compile(
    r"(?<![-\w])\d[\d,]*(?: of (?:the )?\d[\d,]*)?(?: [a-z]+){0,2} (?:cases|tests|statements|scenes|mutants)\b"
    r"|(?<![-\w])\d[\d,]*(?: of \d[\d,]*)? of (?:applications|drivers|layers|`(?:app|drivers|layers)`)"
)
WRITTEN = re.compile(r"<!-- written by .*?<!-- end -->", re.S)
COMMIT = re.compile(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{9,40}\b")


def problems(read, documents):
    """A line for each count of a document without the commit that it is of."""
    for path in documents:
        text = WRITTEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), read(path))
        for paragraph in re.finditer(r"(?:^.*\S.*\n?)+", text, re.M):
            if COMMIT.search(paragraph[0]):
                continue
            for found in COUNT.finditer(paragraph[0]):
                number = text.count("\n", 0, paragraph.start() + found.start()) + 1
                yield f"{path}:{number} counts `{found[0]}`: leave the count out, or name the commit of the run that printed it"
