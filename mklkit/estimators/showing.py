"""What a notebook shows of an estimator: scikit-learn's diagram, and its kernels.

An estimator that is a cell's last value has its kernels below the diagram; a step of a pipeline has
them inside its box, above the table of parameters.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from sklearn.base import BaseEstimator

from mklkit.display.markup import Html, element
from mklkit.display.notebook import shown
from mklkit.errors import MKLKitError, plain_message
from mklkit.estimators.kernel_summary import KernelSummary

__all__ = ["ShowsKernels"]

WRITTEN_LONG = ("decisions_", "fitted_", "partial_sums_", "plan_")
"""Attributes that scikit-learn would write out as text, with every array of every kernel."""

_alone: ContextVar[Any] = ContextVar("_alone", default=None)
"""The estimator that is shown by itself, whose kernels are not repeated inside its box."""


class ShowsKernels(BaseEstimator):
    """Mix-in for estimators whose kernels and weights are shown beside scikit-learn's diagram."""

    @abstractmethod
    def _kernel_summary(self) -> KernelSummary:
        """Return what is shown; errors may be raised, and are shown too."""

    @abstractmethod
    def _planned_summary(self) -> KernelSummary:
        """Return what is shown before it is fitted, whether it is or not."""

    @property
    def _repr_html_(self) -> Callable[[], str]:
        # Where scikit-learn is to display text, there is no such attribute.
        diagram: Callable[[], str] = super()._repr_html_

        def both() -> str:
            with _showing_alone(self):
                return diagram() + _kernels_html(self)

        return both

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        with _showing_alone(self):
            bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += _kernels_html(self)
        return bundle

    def _get_params_html(self, *args: Any, **kwargs: Any) -> Any:
        """Return scikit-learn's table of parameters, which has the kernels before it."""
        found = super()._get_params_html(*args, **kwargs)
        if _alone.get() is not self:
            table = found._repr_html_inner
            found._repr_html_inner = lambda: _kernels_html(self) + table()
        return found

    def _get_fitted_attr_html(self, *args: Any, **kwargs: Any) -> Any:
        """Return scikit-learn's table of fitted attributes, which it has since 1.9."""
        found = super()._get_fitted_attr_html(*args, **kwargs)
        for name in WRITTEN_LONG:
            found.pop(name, None)
        return found

    def _sk_visual_block_(self) -> Any:
        """Return a box with a caption: how many kernels, which combiner and learner."""
        from sklearn.utils._repr_html.estimator import _VisualBlock

        # Where this fails, scikit-learn takes a box without a caption.
        return _VisualBlock(
            "single",
            self,
            names=type(self).__name__,
            name_details=str(self),
            name_caption=self._kernel_summary().caption(),
        )


@contextmanager
def _showing_alone(estimator: ShowsKernels) -> Iterator[None]:
    token = _alone.set(estimator)
    try:
        yield
    finally:
        _alone.reset(token)


def _kernels_html(estimator: ShowsKernels) -> Html:
    """Return the kernels, or the reason why there are none to show."""
    try:
        return shown(estimator._kernel_summary().html())
    except MKLKitError as error:
        reason = f"Its kernels can't be shown, and fit would fail: {plain_message(error)}"
    except Exception as error:
        # Parameters and components may be anything; the estimator must be shown all the same.
        reason = f"Its kernels can't be shown: {plain_message(error)}"
    return shown(element("p", reason))
