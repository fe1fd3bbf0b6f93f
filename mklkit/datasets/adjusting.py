"""Which columns and kernels of a model still tell the covariates that its steps remove."""

from __future__ import annotations

import warnings
from typing import Any, Self

import attrs
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mklkit.datasets.covariates import CovariateRemoval, quiet_removal, traces_text
from mklkit.datasets.selecting import chosen_columns
from mklkit.errors import CovariatesWarning
from mklkit.estimators.declaring import declared_sources
from mklkit.estimators.introspection import KernelModel, classifier_in, column_names
from mklkit.estimators.sources import columns_of_labels


@attrs.frozen
class Adjustment:
    """Covariates that are removed from the columns of a table, and what still tells them.

    ``traced`` are columns from which they can be told after removal, ``unadjusted`` also those that
    were passed on unchanged, of the remaining ``columns``.
    """

    covariates: list[str] = attrs.field(factory=list)
    columns: list[str] = attrs.field(factory=list)
    traced: list[str] = attrs.field(factory=list)
    unadjusted: list[str] = attrs.field(factory=list)

    @classmethod
    def of(cls, model: Any, features: Any, target: Any = None) -> Self:
        """Return the adjustment by a model's steps, fitted on all of these rows.

        It is empty if the model removes no covariates.
        """
        steps = model.steps if isinstance(model, Pipeline) else []
        places = [place for place, (_, step) in enumerate(steps) if is_removal(step)]
        if not places:
            return cls()
        with quiet_removal():
            fitted = clone(Pipeline(steps[: places[-1] + 1])).fit(features, target)
        removal = fitted[-1]
        columns = removal.get_feature_names_out().tolist()
        return cls(removal.covariates_, columns, removal.traced_, removal.unadjusted_)

    def read_by(self, estimator: Any) -> list[str]:
        """Return the unadjusted columns that an unfitted estimator reads, all if it has no
        kernels."""
        declared = declared_sources(estimator)
        named = columns_of_labels(
            [source.label for source in declared if source.columns is None], self.columns
        )
        selectors = [
            [self.columns[place] for place in named[source.label]]
            if source.columns is None and source.label in named
            else source.columns
            for source in declared
        ]
        read = chosen_columns(selectors or [None], self.columns)
        return [name for name in self.unadjusted if name in read]

    def by_kernel(self, model: KernelModel) -> dict[str, list[str]]:
        """Return the unadjusted columns of each kernel of a fitted model that reads some."""
        every, unadjusted = column_names(model), set(self.unadjusted)
        read = {
            name: every if places is None else every[places]
            for name, places in zip(model.kernel_names_, model.kernel_columns_, strict=True)
        }
        traces = {
            label: [str(name) for name in names if name in unadjusted]
            for label, names in read.items()
        }
        return {label: names for label, names in traces.items() if names}

    def warn(self) -> None:
        """Warn of columns with traces, if there are any."""
        if self.traced:
            text = traces_text(self.traced, self.covariates)
            warnings.warn(text, CovariatesWarning, stacklevel=3)

    def metadata(self, model: Any) -> dict[str, Any]:
        """Return an ``adjustment`` of plain values for JSON, nothing without covariates.

        ``model`` is a fitted pipeline, whose kernels' unadjusted columns it has.
        """
        if not self.covariates:
            return {}
        by_kernel = self.by_kernel(classifier_in(model))
        plain = {"covariates": self.covariates, "traced": self.traced}
        return {"adjustment": plain | {"unadjusted": self.unadjusted, "by_kernel": by_kernel}}


def is_removal(step: Any) -> bool:
    """Return whether a step removes covariates."""
    return isinstance(step, CovariateRemoval)
