"""Learners with a regularisation parameter C, and combiners that have a C of their own."""

from __future__ import annotations

from typing import Any, Protocol, Self, runtime_checkable

import attrs
from attrs.validators import gt, optional

from mklkit.protocols.component import finite

__all__ = ["C_field", "C_of", "LearnerWithC", "scaled_C"]


@runtime_checkable
class LearnerWithC(Protocol):
    """A learner with a regularisation parameter ``C``, such as ``svm``: the cost of margin errors.

    C on the kernel s·K gives the same decision function as s·C on the kernel K.
    """

    C: float | str
    """The value of C, or the name of a rule that computes it from the training side."""

    def with_params(self, **params: Any) -> Self:
        """Return the learner with another ``C``."""
        ...


def C_field() -> Any:
    """Return the attrs field of a combiner's own optional C: a finite number above 0."""
    return attrs.field(
        default=None,
        converter=attrs.converters.optional(float),
        validator=optional([gt(0), finite]),
    )


def C_of(learner: object, C: float | None = None) -> float:
    """Return the C of a combiner's inner problems.

    It is the combiner's ``C`` if there is one, else the learner's if that is a number, else 1.

    Examples
    --------
    >>> from mklkit import KDA, SVM
    >>> C_of(SVM(C=10), 5.0), C_of(SVM(C=10)), C_of(KDA())
    (5.0, 10.0, 1.0)
    """
    if C is not None:
        return C
    if not isinstance(learner, LearnerWithC) or isinstance(learner.C, str):
        return 1.0
    return float(learner.C)


def scaled_C(learner: Any, factor: float) -> Any:
    """Return the learner with C times the factor; unchanged if its C is not a number."""
    if factor == 1.0 or not isinstance(learner, LearnerWithC) or isinstance(learner.C, str):
        return learner
    return learner.with_params(C=learner.C * factor)
