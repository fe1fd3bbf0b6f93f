"""Learners that have a price C on margin errors, and combiners that have one of their own."""

from __future__ import annotations

from typing import Any, Protocol, Self, runtime_checkable

import attrs
from attrs.validators import gt, optional

from mklkit.protocols.component import finite

__all__ = ["PricedLearner", "price_field", "price_of", "scaled_price"]


@runtime_checkable
class PricedLearner(Protocol):
    """A learner with a price ``C`` on each training row's margin error, such as ``svm``.

    With price C on the kernel s·K it is the same decision function as with price s·C on K.
    """

    C: float | str
    """The price; a text where it is a rule by which the learner finds it on its training side."""

    def with_params(self, **params: Any) -> Self:
        """Return the learner with another ``C``."""
        ...


def price_field() -> Any:
    """Return the attrs field of a combiner's own optional C: a finite number above 0."""
    return attrs.field(
        default=None,
        converter=attrs.converters.optional(float),
        validator=optional([gt(0), finite]),
    )


def price_of(own: float | None, learner: object) -> float:
    """Return the C that a combiner's inner problems take.

    Its own, else the learner's where that is a number, else 1.

    Examples
    --------
    >>> from mklkit import KDA, SVM
    >>> price_of(5.0, SVM(C=10)), price_of(None, SVM(C=10)), price_of(None, KDA())
    (5.0, 10.0, 1.0)
    """
    if own is not None:
        return own
    if not isinstance(learner, PricedLearner) or isinstance(learner.C, str):
        return 1.0
    return float(learner.C)


def scaled_price(learner: Any, factor: float) -> Any:
    """Return the learner with C times the factor; one whose price is no number as it is."""
    if factor == 1.0 or not isinstance(learner, PricedLearner) or isinstance(learner.C, str):
        return learner
    return learner.with_params(C=learner.C * factor)
