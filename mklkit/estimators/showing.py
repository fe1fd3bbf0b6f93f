"""What a notebook shows of an estimator: its kernels below scikit-learn's diagram."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

from mklkit.display.html import shown
from mklkit.errors import MKLKitError, plain_message
from mklkit.estimators.kernel_summary import KernelSummary

__all__ = ["ShowsKernels"]


class ShowsKernels(BaseEstimator):
    """Mix-in for estimators whose kernels and weights are shown below scikit-learn's diagram."""

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
        return lambda: diagram() + self._kernels_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._kernels_html()
        return bundle

    def _kernels_html(self) -> str:
        """Return the kernels, or the reason why there are none to show."""
        try:
            return shown(self._kernel_summary().html())
        except MKLKitError as error:
            reason = f"Its kernels can't be shown, and fit would fail: {plain_message(error)}"
        except Exception as error:
            # Parameters and components may be anything; the estimator must be shown all the same.
            reason = f"Its kernels can't be shown: {plain_message(error)}"
        return shown(reason)
