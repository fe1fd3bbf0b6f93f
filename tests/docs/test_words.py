"""The pages, docstrings and messages use the terms of the field, not paraphrases of them.

Each term that mklkit has left behind is looked for in prose: what is in backticks, listings,
tables that the pages include, doctests, and the names of parameters are exempt. To see how often
each term is still there, by area::

    python tests/docs/test_words.py
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import attrs
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
from helpers.documents import PAGES, ROOT

pytestmark = pytest.mark.process

AREAS = ("pages", "docstrings", "messages")

TERMS = {
    "row": (r"\brows?\b", "sample; row is right of a file or a matrix"),
    "even weights": (r"\beven (?:weights|sums?)\b", "uniform weights, average kernel"),
    "can't tell": (r"\b(?:can't|cannot|can not) tell\b", "inconclusive, does not show"),
    "settle": (
        r"\b(?:not|none|never|seldom|rows|samples|splits|folds) settle\b",
        "inconclusive, does not determine",
    ),
    "say the same": (r"\bsays? the same\b", "redundant"),
    "refused": (
        r"\b(?:is|are|was|were|be) refused\b|\brefuses?\b",
        "raises an error",
    ),
    "left out": (r"\bleft out\b", "dropped, ablation (refit without it)"),
    "shuffled": (
        r"\bshuffl(?:e|es|ed|ing)\b(?! (?:folds|splits))",
        "permuted, permutation importance; folds are shuffled, as in scikit-learn",
    ),
    "lacks a source": (
        r"\black(?:s|ed|ing)? (?:a|the|that|each|one) source\b",
        "missing source",
    ),
    "fusion": (
        r"(?<![-\w])(?<!late )(?<!level )(?<!level\) )(?<!early )(?<!intermediate )(?<!data )"
        r"fusion\b",
        "late fusion",
    ),
    "bank": (r"\bbanks?\b", "candidate kernels"),
    "000 to 004": (
        r"(?<![\w.,/-])00[0-4](?![\w.,]*\d)\b",
        "authors and year, such as Price et al. 2022",
    ),
    "deviation": (
        r"(?<!standard )(?<!squared )(?<!absolute )\bdeviations?\b",
        "standard deviation",
    ),
    "numbers (a task)": (
        r"\b(?:models?|classes) of numbers\b|\blearns? numbers\b",
        "regression, numeric target",
    ),
    "weights of rows": (
        r"\bweights? of (?:rows|samples)\b|\brow weights?\b",
        "sample weights",
    ),
    "weights that you have": (r"\bweights? that you have\b", "user-supplied weights"),
    "per cent": (r"\bper cent\b", "%"),
    "one against one": (r"\bone[- ]against[- ]one\b", "one-vs-one"),
    "surer": (r"\bsurer\b", "more confident"),
}
"""For each term a pattern, and what is written instead."""

ROWS_READ = {"pages": 13, "docstrings": 46, "messages": 14}
"""How many rows each area may have: those that are left were read, and are rows of matrices, of
tables of results and of files."""

ROWS_OF = re.compile(
    r"\b(?:files?|matri(?:x|ces)|tables?|columns|CSV|Parquet|HDF5|simplex|pixels?|image|lines?"
    r"|heads?|cells?|report|results?|DataFrames?|data frames?|joined|joins|row (?:ids?|numbers?"
    r"|groups?|after row)|row by row|(?:a|one|each|the) row (?:per|for each|of the output)|header"
    r"|triangles?|transposed|stored|encoded)\b",
    re.IGNORECASE,
)
"""Words of a sentence in which a row is that of a file, a table or a matrix."""
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"``.+?``|`[^`]*`|\$[^$\n]+\$|\]\([^)]*\)|<!--.*?-->", re.DOTALL)
PARAMETER = re.compile(r"^ *\*{0,2}\w+(?:, \*{0,2}\w+)* : .*$", re.MULTILINE)
DOCTEST = re.compile(r"^ *>>> .*?(?=^\s*$|\Z)", re.MULTILINE | re.DOTALL)


@attrs.frozen
class Prose:
    """A text that users read: its area, where it is, and its words without code."""

    area: str
    place: str
    text: str


def without_code(text: str) -> str:
    """Return a text without listings, literals, equations, addresses of links and comments."""
    return CODE.sub(" ", FENCE.sub("", text))


def pages() -> Iterator[Prose]:
    """Yield the pages of the site, the README and those of the packages, without listings."""
    others = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    others += [path.relative_to(ROOT).as_posix() for path in ROOT.glob("plugins/*/README.md")]
    for page in [*PAGES, *others]:
        yield Prose("pages", page, without_code((ROOT / page).read_text(encoding="utf-8")))


def strings() -> Iterator[Prose]:
    """Yield the docstrings of all packages, and the other texts of more than two words."""
    for path in sorted([*ROOT.glob("mklkit/**/*.py"), *ROOT.glob("plugins/*/mklkit_*/**/*.py")]):
        place = path.relative_to(ROOT).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documenting = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
                continue
            where = f"{place}:{node.lineno}"
            if id(node) in documenting:
                plain = PARAMETER.sub("", DOCTEST.sub("", node.value))
                yield Prose("docstrings", where, without_code(plain))
            elif len(node.value.split()) > 2:
                yield Prose("messages", where, without_code(node.value))


def is_right(term: str, prose: Prose, text: str, start: int) -> bool:
    """Return whether a hit is the field's own word: the row of a file, a table or a matrix."""
    if term != "row":
        return False
    if prose.place.startswith(("mklkit/datasets/", "mklkit/display/")):
        return True  # They read and write tables.
    before, after = text[:start], text[start:]
    sentence = re.split(r"[.;] ", before)[-1] + re.split(r"[.;] ", after)[0]
    return bool(ROWS_OF.search(sentence))


@cache
def occurrences() -> dict[tuple[str, str], list[str]]:
    """Return where each term occurs in each area, with the words around it."""
    places: dict[tuple[str, str], list[str]] = {}
    for prose in (*pages(), *strings()):
        text = " ".join(prose.text.split())
        for term, (pattern, _) in TERMS.items():
            for match in re.finditer(pattern, text, re.IGNORECASE):
                if is_right(term, prose, text, match.start()):
                    continue
                around = text[max(0, match.start() - 40) : match.end() + 30]
                line = f"{prose.place}: {around}"
                places.setdefault((term, prose.area), []).append(line)
    return places


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_the_one_of_the_field(term: str, area: str) -> None:
    places = occurrences().get((term, area), [])
    most = ROWS_READ[area] if term == "row" else 0
    assert len(places) <= most, f"write {TERMS[term][1]!r} instead in\n" + "\n".join(places)


def test_prose_is_searched_and_code_is_not() -> None:
    text = (
        "Even weights of `rows`, $row$ and [this](row.md).\n\n```sh\nmklkit row\n```\n\nTwo rows.\n"
    )
    plain = without_code(text)
    hits = [term for term, (pattern, _) in TERMS.items() if re.search(pattern, plain, re.I)]
    assert hits == ["row", "even weights"]
    assert plain.count("row") == 1


if __name__ == "__main__":
    counts = Counter({key: len(places) for key, places in occurrences().items()})
    print(f"{'':22}", *(f"{area:>10}" for area in AREAS))
    for term in TERMS:
        print(f"{term:22}", *(f"{counts[term, area]:10}" for area in AREAS))
