"""Errors and warnings caused by user input, and helpers for their messages.

Every error here derives from :class:`MKLKitError`, itself a ``ValueError``: the command line
shows only its message and exits with 2, and code that catches ``ValueError`` (as scikit-learn's
conventions expect) keeps working.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

NAMES_SHOWN = 5

TOO_LITTLE_MEMORY = (
    "There is too little memory to load the libraries that mklkit needs, such as numba: allow the"
    " process more ('ulimit -v' shows its limit)."
)
"""The script says it even if nothing more can be imported."""


class MKLKitError(ValueError):
    """An error that the user can fix; its message states how.

    All errors that mklkit raises for wrong input derive from it. It is a ``ValueError``, so that
    code which follows scikit-learn's conventions catches it.

    See Also
    --------
    SpecError : A name or parameter.
    DataError : The data.
    IncompatibleError : Components that cannot work together.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> try:
    ...     MKLClassifier(combiner="dimkl33").fit([[0.0], [1.0]], [0, 1])
    ... except MKLKitError as error:
    ...     print(type(error).__name__, str(error).split(" Known")[0])
    UnknownNameError No combiner is named 'dimkl33'. Did you mean 'dimkl3'?
    """


class SpecError(MKLKitError):
    """A name, spec string or parameter that cannot be read or built, such as ``"rbf(sigma=-1)"``.

    See Also
    --------
    MKLKitError : The base.

    Examples
    --------
    >>> from mklkit import get_registry
    >>> try:
    ...     get_registry().create("kernel", "rbf(sigma='mean'")
    ... except SpecError as error:
    ...     print(type(error).__name__)
    SpecError
    """


class UnknownNameError(SpecError):
    """A name that neither a built-in nor an installed plugin provides.

    Attributes
    ----------
    name : str
    other_kinds : tuple of str
        Other kinds of component that have this name.
    """

    def __init__(self, message: str, name: str = "", other_kinds: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.name = name
        self.other_kinds = other_kinds


class PluginConflictError(MKLKitError):
    """A name that two installed distributions register."""


class IncompatibleError(MKLKitError):
    """Components that cannot work together, such as the learner ``mhks`` on an implicit map.

    See Also
    --------
    MKLKitError : The base.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> try:
    ...     MKLClassifier(feature_map="implicit", learner="mhks").fit([[0.0], [1.0]], [0, 1])
    ... except IncompatibleError as error:
    ...     print(str(error).partition(",")[0])
    The learner 'mhks' needs features
    """


class ComponentError(MKLKitError):
    """A result that a component's base class does not allow: a bug of the component.

    Attributes
    ----------
    classes : tuple of str
        The full names of the classes of the components, one of which is at fault.
    """

    def __init__(self, message: str, classes: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.classes = classes


class DataError(MKLKitError):
    """Data that cannot be read or learned from.

    See Also
    --------
    MKLKitError : The base.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit import kernel_alignment
    >>> try:
    ...     kernel_alignment(np.eye(2), np.eye(3))
    ... except DataError as error:
    ...     print(error)
    Alignment needs two Gram matrices of the same rows; got shapes (2, 2) and (3, 3).
    """


class NoSourceError(DataError):
    """Samples without a value in the columns of any kernel, which can't be compared.

    Attributes
    ----------
    none : sequence of bool
        Which of the samples have none.
    """

    def __init__(self, message: str, none: Sequence[bool] = ()) -> None:
        super().__init__(message)
        self.none = none


class ClusterError(MKLKitError):
    """A Dask cluster that can't be reached, has no usable workers, or was lost during the work."""


class ModelFileError(MKLKitError):
    """A model file that is damaged, of another kind, or holds a type that is not trusted."""


class MKLKitWarning(UserWarning):
    """A warning about something that succeeded, but not as the user may expect.

    See Also
    --------
    WeightsWarning : The warning about kernel weights.

    Examples
    --------
    Turn mklkit's warnings into errors, for example in a script that runs unattended:

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", MKLKitWarning)
    """


class PluginWarning(MKLKitWarning):
    """A plugin that could not be loaded; everything else keeps working."""


class CovariatesWarning(MKLKitWarning):
    """Columns from which covariates can still be told after their removal."""


class WeightsWarning(MKLKitWarning):
    """A warning that kernel weights could not be computed, or on less data than requested.

    If a combiner gives every kernel the weight zero, or a weight that is not finite, uniform
    weights are used.

    See Also
    --------
    MKLKitWarning : The base.

    Examples
    --------
    >>> import warnings
    >>> from mklkit import MKLClassifier
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = MKLClassifier(["a:linear", "b:linear"], combiner="centered-alignment")
    ...     model = model.fit([[1.0], [-1.0], [1.0], [-1.0]], [0, 0, 1, 1])
    >>> [warning.category.__name__ for warning in caught], model.weights_.tolist()
    (['WeightsWarning'], [[0.5, 0.5]])
    """


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
    """Return a text with control characters escaped, cut at the end if it is too long.

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
    """Return a value as quoted in messages: of limited length, with NumPy numbers as plain ones.

    The value may be anything that a user typed or a plugin provided; this never fails.

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
    """Return names as quoted in messages, only the first few of many.

    Examples
    --------
    >>> listed("abcdefgh")
    "'a', 'b', 'c', 'd', 'e' and 3 more"
    """
    # A single further name takes no more space than "and 1 more".
    shown = len(names) if len(names) == NAMES_SHOWN + 1 else NAMES_SHOWN
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(quoted(name) for name in names[:shown]) + more


def named(columns: Sequence[object]) -> str:
    """Return columns as named in messages.

    Examples
    --------
    >>> named(["a"]), named(["a", "b"])
    ("column 'a'", "columns 'a', 'b'")
    """
    return f"column{'s' * (len(columns) > 1)} {listed(columns)}"


def plain_message(error: BaseException) -> str:
    """Return an error's first line, without the details that attrs and Python add for programmers.

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
    """Return the name of a value's class, even if a plugin's metaclass hides it.

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
    """Return a phrase, after a space, with the most similar candidate; nothing if none is similar.

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
