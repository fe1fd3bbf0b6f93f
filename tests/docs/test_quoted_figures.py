"""Pages that quote figures and references of other pages quote what is there."""

from __future__ import annotations

import re

import pytest
from helpers.documents import ROOT

QUOTED = [
    ("docs/faq.md", "in 36 % of the studies with 80 samples. It detects it in 96 % of those with "
     "250 samples, and in all of those with 1,000",
     "docs/guides/statistics.md", "36 % of studies with 80 samples, 96 % with 250 and all with"),
    ("docs/faq.md", "For 20 samples this is 7.5 points",
     "docs/guides/statistics.md", "20 samples in the rarest of two classes, 7.5 points"),
    ("docs/faq.md", "a fit of 50,000 columns took 77 seconds",
     "docs/guides/performance.md", "| 50,000 | 77.4 s |"),
    ("docs/faq.md", "`uniform` reaches 88.4 %. Learned weights reach 77.7 to 87.3 %",
     "docs/guides/which-combiner.md", "88.4 %, with learned weights 77.7 to 87.3 %"),
    ("docs/faq.md", "seventeen are within a point of it with a probability of at least 0.9",
     "docs/guides/combiner-benchmark.md", "Seventeen of the twenty are within a point"),
    ("docs/faq.md", "gain 1.2 to 1.3 points",
     "docs/guides/which-combiner.md", "1.2 to 1.3 points above `uniform`"),
    ("docs/faq.md", "interval 1.8 times as wide as ten",
     "docs/guides/explaining.md", "its intervals are 1.8 times as wide"),
    ("docs/guides/prokaryotic.md", "boosting on all columns has an accuracy of 91.6 %",
     "docs/guides/tables/sources.md", "| gradient boosting | 97.6 | 38.2 | 37.0 | 87.1 | 91.6 |"),
]  # fmt: skip
"""A page, its words, and those on the page that they are taken from."""


def words_of(page: str) -> str:
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize(("page", "words", "source", "there"), QUOTED)
def test_figures_are_those_of_the_page_that_measured_them(
    page: str, words: str, source: str, there: str
) -> None:
    assert words in words_of(page)
    # Where the source says rows, the quoting page says samples.
    assert there.replace("rows", "samples") in words_of(source).replace("rows", "samples")


def test_references_of_the_theory_are_in_the_bibliographies() -> None:
    """Sources of the mathematics alone, which no component cites, are on the page only."""
    paths = [*ROOT.glob("mklkit/sources.bib"), *ROOT.glob("plugins/*/*/sources.bib")]
    text = "".join(path.read_text(encoding="utf-8") for path in paths)
    titles = re.findall(r"^  title = \{(.*)\},$", text.replace(r"{\"o}", "ö"), re.MULTILINE)
    cited = {re.sub("[{}]", "", title).lower() for title in titles}
    page = words_of("docs/guides/theory.md").partition("## References")[2]
    listed = re.findall(r"- [^:]+: ([^.]+)\. ", page)
    assert len(listed) == 13
    elsewhere = {title for title in listed if title.lower() not in cited}
    assert elsewhere == {
        "Theory of reproducing kernels",
        "Ho–Kashyap classifier with generalization control",
        "Kernel Ho–Kashyap classifier with generalization control",
    }
