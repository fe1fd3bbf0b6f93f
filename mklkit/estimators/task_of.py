"""The task of a model."""

from __future__ import annotations

from typing import Any

from mklkit.errors import IncompatibleError, type_name
from mklkit.estimators.introspection import classifier_in
from mklkit.protocols import Task
from mklkit.registry.tasks import all_tasks


def task_of(model: Any) -> Task:
    """Return the task of a model, fitted or not, also inside a vote, pipeline or search.

    It is the one whose ``estimator`` the last step is, or derives from most closely, else one that
    says that it ``fits``.

    Raises
    ------
    IncompatibleError
        If the model predicts no target of a registered task.

    Examples
    --------
    >>> from mklkit import MKLRegressor
    >>> task_of(MKLRegressor()).name
    'regression'
    """
    inner = classifier_in(model)
    while isinstance(getattr(inner, "estimator", None), tuple(t.estimator for t in all_tasks())):
        inner = inner.estimator  # of a search that is not fitted yet
    lineage = type(inner).__mro__
    derived = [task for task in all_tasks() if task.estimator in lineage]
    if derived:
        return min(derived, key=lambda task: lineage.index(task.estimator)).of_model(inner)
    for task in all_tasks():
        if task.fits(model):
            return task.of_model(inner)
    raise IncompatibleError(f"{type_name(inner)} predicts no target of an installed task.")
