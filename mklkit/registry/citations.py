"""The publications of components: BibTeX of ``sources.bib``, and authors with a year."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pkgutil import get_data

from mklkit.registry.entries import Entry, Kind
from mklkit.registry.registry import get_registry

KINDS: tuple[Kind, ...] = ("combiner", "learner", "missing", "feature_map")
"""What ``sources.bib`` has sources of; those of kernels are in their docstrings."""
MOST_AUTHORS = 3
"""More authors are written as the first one "et al."."""
_FIELD = re.compile(r"^ *(\w+) = \{(.*)\},?$", re.MULTILINE)
_ACCENT = re.compile(r"""\{?\\(["'`^~cv]) ?\{?(\w)\}?\}?""")
_COMBINING = dict(zip("\"'`^~cv", "\u0308\u0301\u0300\u0302\u0303\u0327\u030c", strict=True))
_INITIALS = re.compile(r"(?:[^\W\d_]\.[- ]?)+ *")
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d\b")


def entries_named(name: str) -> list[Entry]:
    """Return the combiners, learners, strategies for missing sources and maps of a name."""
    registry = get_registry()
    entries = chain.from_iterable(registry.entries(kind) for kind in KINDS)
    return [entry for entry in entries if entry.name == name]


def citations_of(name: str) -> dict[str, str]:
    """Return the BibTeX entries of a component or program, by their keys.

    Each package lists the sources of its components in ``sources.bib``, by ``keywords``.
    """
    packages = [entry.target.__module__.partition(".")[0] for entry in entries_named(name)]
    text = b""
    with suppress(OSError):  # It has no such file.
        text = get_data((packages or ["mklkit"])[0], "sources.bib") or b""
    sources = {}
    for part in re.findall(r"^@.*?^\}", text.decode(), re.MULTILINE | re.DOTALL):
        keywords = re.search(r"keywords = \{(.*)\}", part)
        if keywords is not None and name in keywords.group(1).split(", "):
            sources[part[part.index("{") + 1 : part.index(",")]] = part
    return sources


def author_year(bibtex: str) -> str:
    r"""Return the authors and the year of a BibTeX entry.

    Examples
    --------
    >>> author_year("author = {G{\\\"o}nen, Mehmet and Alp, Ethem},\nyear = {2008}")
    'Gönen and Alp 2008'
    """
    fields = dict(_FIELD.findall(bibtex))
    authors = [_plain(author) for author in fields["author"].split(" and ")]
    return f"{_listed([author.partition(',')[0] for author in authors])} {fields['year']}"


def reference(bibtex: str) -> str:
    """Return a BibTeX entry as a line of text."""
    fields = {name: _plain(value) for name, value in _FIELD.findall(bibtex)}
    where = fields.get("journal", fields.get("booktitle", fields.get("publisher", "")))
    place = " ".join(filter(None, [where, fields.get("volume", "")]))
    line = ". ".join(filter(None, [f"{author_year(bibtex)}: {fields['title']}", place]))
    return f"{line}, https://doi.org/{fields['doi']}" if "doi" in fields else line


def authors_and_year(source: str) -> str:
    """Return the authors and the year of a source as docstrings write it.

    Examples
    --------
    >>> authors_and_year("T. Jebara, R. Kondor: Expected likelihood kernels. COLT 2003.")
    'Jebara and Kondor 2003'
    >>> authors_and_year("Polato, Lauriola and Aiolli (2018).")
    'Polato, Lauriola and Aiolli 2018'
    """
    year = _YEAR.search(source)
    if year is None:
        return ""
    authors, colon, _ = source[: year.start()].partition(":")
    if not colon:
        return f"{authors.strip(' (,')} {year[0]}"
    names = [_INITIALS.sub("", name.strip()) for name in authors.split(",")]
    return f"{_listed(names)} {year[0]}"


def _listed(names: Sequence[str]) -> str:
    if len(names) > MOST_AUTHORS or names[-1] == "others":
        return f"{names[0]} et al."
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _plain(value: str) -> str:
    """Return a BibTeX value without its commands and braces."""
    text = value.replace(r"{\i}", "ı").replace(r"\&", "&")
    text = _ACCENT.sub(lambda accent: accent[2] + _COMBINING[accent[1]], text)
    return unicodedata.normalize("NFC", text.replace("{", "").replace("}", ""))
