"""The list of all tables and figures."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from importlib import import_module

from mklkit.errors import UnknownNameError, quoted, suggest
from mklkit_papers.entry import Entry

__all__ = ["ALL", "PAPERS", "entries", "find_entries", "with_sets"]

PAPERS = ("000", "001", "002", "003", "004")
ALL = "all"


def entries() -> list[Entry]:
    """Return every entry, paper by paper."""
    modules = [import_module(f"mklkit_papers.paper_{paper}") for paper in PAPERS]
    return [entry for module in modules for entry in module.ENTRIES]


def find_entries(names: Sequence[str]) -> list[Entry]:
    """Return the entries of names, of globs such as ``"003-*"``, of a paper, or of ``"all"``.

    Raises
    ------
    UnknownNameError
        If there is no such entry; the message suggests the most similar.

    Examples
    --------
    >>> [entry.name for entry in find_entries(["003-table[67]"])]
    ['003-table6', '003-table7']
    """
    known = {entry.name: entry for entry in entries()}
    chosen: dict[str, Entry] = {}
    for name in names:
        pattern = "*" if name == ALL else f"{name}-*" if name in PAPERS else name
        matching = [entry for entry in known if fnmatchcase(entry, pattern)]
        if not matching:
            hint = suggest(name, [*known, *PAPERS, ALL])
            raise UnknownNameError(
                f"There is no table or figure {quoted(name)}.{hint}"
                " 'mklkit reproduce list' shows them all.",
                name,
            )
        chosen |= {entry: known[entry] for entry in matching}
    return list(chosen.values())


def with_sets(chosen: Sequence[Entry], labels: Collection[str]) -> list[Entry]:
    """Return the entries that run one of the data sets; all where none is named.

    Parameters
    ----------
    chosen : sequence of Entry
    labels : collection of str
        As the papers name the sets, in any case.

    Raises
    ------
    UnknownNameError
        If none of the entries runs a set of such a label; the message suggests the most similar.

    Examples
    --------
    >>> [entry.name for entry in with_sets(find_entries(["003-table[68]"]), ["sonar"])]
    ['003-table6']
    """
    if not labels:
        return list(chosen)
    shown = {entry.name: entry.labels() for entry in chosen}
    known = {label.casefold(): label for labels_of in shown.values() for label in labels_of}
    for label in labels:
        if label.casefold() not in known:
            raise UnknownNameError(_unknown(label, chosen, list(known.values())), label)
    wanted = {label.casefold() for label in labels}
    return [entry for entry in chosen if wanted & {label.casefold() for label in shown[entry.name]}]


def _unknown(label: str, chosen: Sequence[Entry], known: Sequence[str]) -> str:
    """Return the message for a label: nobody's data, or not among those that are known."""
    for entry in chosen:
        for name, reason in entry.missing.items():
            if name.casefold() == label.casefold():
                return f"{name} can't be run: {reason.rstrip('.')}."
    hint = suggest(label, known)
    return f"These have no data set {quoted(label)}.{hint} Known: {', '.join(known) or 'none'}."
