"""What can go wrong by a user's hand, each with its own name.

Every error here derives from :class:`MKLKitError`, itself a ``ValueError``: the command line
shows its message alone and exits with 2, and code that catches ``ValueError`` (as scikit-learn's
conventions expect) keeps working.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

__all__ = [
    "DataError",
    "IncompatibleError",
    "MKLKitError",
    "MKLKitWarning",
    "ModelFileError",
    "PluginConflictError",
    "PluginWarning",
    "SpecError",
    "UnknownNameError",
    "WeightsWarning",
    "counted",
    "cut",
    "listed",
    "named",
    "plain_message",
    "quoted",
    "suggest",
    "type_name",
]


NAMES_SHOWN = 5


class MKLKitError(ValueError):
    """A mistake that the user can mend; its message says how."""


class SpecError(MKLKitError):
    """A spec string such as ``"rbf(sigma='mean')"`` that cannot be read or built."""


class UnknownNameError(SpecError):
    """A name that no built-in and no installed plugin provides.

    Attributes
    ----------
    name : str
    other_kinds : tuple of str
        Kinds of component that do go by that name.
    """

    def __init__(self, message: str, name: str = "", other_kinds: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.name = name
        self.other_kinds = other_kinds


class PluginConflictError(MKLKitError):
    """A name that two installed distributions claim."""


class IncompatibleError(MKLKitError):
    """Components that cannot work together, such as ``mhks`` on an implicit map."""


class DataError(MKLKitError):
    """Data that cannot be read or learned from."""


class ModelFileError(MKLKitError):
    """A model file that is broken, foreign, or holds a type that is not trusted."""


class MKLKitWarning(UserWarning):
    """Something that went on, but not as the user may expect."""


class PluginWarning(MKLKitWarning):
    """A plugin that could not be loaded; the rest works on."""


class WeightsWarning(MKLKitWarning):
    """Kernel weights that could not be computed and were replaced."""


def counted(number: int, word: str) -> str:
    """Return a number with its noun, in the plural unless it is one.

    Examples
    --------
    >>> counted(1, "row"), counted(3, "row"), counted(2, "class")
    ('1 row', '3 rows', '2 classes')
    """
    plural = f"{word}es" if word.endswith("s") else f"{word}s"
    return f"{number} {word if number == 1 else plural}"


def cut(text: str, limit: int = 400) -> str:
    """Return a text with control characters escaped, its end left out where it is too long.

    Examples
    --------
    >>> cut("a\\tb")
    'a\\\\tb'
    >>> cut("abcdefghij", limit=4)
    'abcd… (10 characters)'
    """
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: limit + 1])
    return shown if len(shown) <= limit else f"{shown[:limit]}… ({len(text)} characters)"


def quoted(value: object, limit: int = 80) -> str:
    """Return a value as a message quotes it: of a sensible length, NumPy's numbers as plain ones.

    Whatever a user typed or a plugin gave may stand here, and a message must come of it.

    Examples
    --------
    >>> quoted("rbf")
    "'rbf'"
    >>> quoted("r" * 200_000, limit=5)
    "'rrrr… (200002 characters)"
    """
    try:
        text = repr(value)
    except KeyboardInterrupt:
        raise
    except BaseException:
        text = f"<{type_name(value)}>"
    return cut(text if issubclass(type(value), str) else _without_numpy(text), limit)


def listed(names: Sequence[object]) -> str:
    """Return names as a message quotes them, of many the first few.

    Examples
    --------
    >>> listed("abcdefgh")
    "'a', 'b', 'c', 'd', 'e' and 3 more"
    """
    # A single name takes no more room than to say that there is one.
    shown = len(names) if len(names) == NAMES_SHOWN + 1 else NAMES_SHOWN
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(quoted(name) for name in names[:shown]) + more


def named(columns: Sequence[object]) -> str:
    """Return columns as a message names them.

    Examples
    --------
    >>> named(["a"]), named(["a", "b"])
    ("column 'a'", "columns 'a', 'b'")
    """
    return f"column{'s' * (len(columns) > 1)} {listed(columns)}"


def plain_message(error: BaseException) -> str:
    """Return an error's first line, without what attrs and Python add for programmers.

    Examples
    --------
    >>> plain_message(TypeError("'degree' must be <class 'int'> (got 2.5)"))
    "'degree' must be int (got 2.5)"
    """
    try:
        # The validators of attrs put their message first and add the field and the value to it.
        by_attrs = len(error.args) > 1 and type(error.args[1]).__name__ == "Attribute"
        text = str(error.args[0] if by_attrs else error).partition("\n")[0]
    except KeyboardInterrupt:
        raise
    except BaseException:  # An exception of a plugin may fail to describe itself.
        text = ""
    text = re.sub(r"<class '([\w.]+)'>", r"\1", text)
    return cut(_without_numpy(text)) or type_name(error)


def type_name(value: object) -> str:
    """Return the name of a value's class, though a plugin's metaclass may hide it.

    Examples
    --------
    >>> type_name(ValueError())
    'ValueError'
    """
    name: str = vars(type)["__name__"].__get__(type(value))
    return cut(name)


def _without_numpy(text: str) -> str:
    """Return a text with ``np.int64(7)`` as ``7`` and ``np.True_`` as ``True``."""
    return re.sub(r"\bnp\.(?:(True|False)_|\w+\(([^()]*)\))", r"\1\2", text)


def suggest(name: str, candidates: Iterable[str]) -> str:
    """Return a phrase that names the nearest of the candidates, or an empty string.

    Parameters
    ----------
    name : str
        What the user typed.
    candidates : iterable of str
        What would have been right.

    Returns
    -------
    str
        ``" Did you mean 'x'?"`` with its leading space, or ``""`` where nothing is near.

    Examples
    --------
    >>> suggest("dimk3", ["uniform", "dimkl3"])
    " Did you mean 'dimkl3'?"
    >>> suggest("zebra", ["uniform", "dimkl3"])
    ''
    """
    by_folded = {candidate.casefold(): candidate for candidate in candidates}
    near = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return f" Did you mean {by_folded[near[0]]!r}?" if near else ""
