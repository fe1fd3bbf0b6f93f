"""Decision values of samples that a learner was not fitted to, for rules that judge kernels."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Sequence

import numpy as np

from mklkit.errors import WeightsWarning, counted
from mklkit.numerics.gram_tiles import take_square
from mklkit.numerics.threads import each
from mklkit.protocols import Array, Learner, Target, TrainingView, fit_learner
from mklkit.protocols.splits.split import Split
from mklkit.views.kernel_rows import SpareScratch
from mklkit.views.sides import GramSide


def out_of_fold(
    view: TrainingView, target: Target, learner: Learner, splits: Sequence[Split]
) -> Array:
    """Return each sample's decision value from a learner fitted to samples of other folds.

    Parameters
    ----------
    view : TrainingView
        A view, or ``views.weighted(weights)`` for a weighted sum of them.
    target : Target
        What to learn.
    learner : Learner
        The learner. Parameters that it chooses itself, such as C, are chosen once, on all samples.
    splits : sequence of Split, or of (training positions, held-out positions)
        Such as ``target.folds(5, random_state)``, which keeps the samples of a group together.

    Returns
    -------
    ndarray of shape (N,)
        The decision values; NaN for samples that are never held out.

    See Also
    --------
    LearnedFusion : The template that learns a rule from such values.
    Target.folds : Splits for it.

    Notes
    -----
    One fit per fold, in as many threads as BLAS may use; memory for one Gram matrix and a part of
    it per thread, or for blocks of features. Kernels and feature maps stay fitted to all samples.

    Examples
    --------
    >>> from mklkit.learners import SVM
    >>> y = np.resize([1.0, -1.0], 20)
    >>> target, side = Target.two_classes(y), GramSide(np.outer(y, y))
    >>> splits = target.folds(5, np.random.RandomState(0))
    >>> out_of_fold(side, target, SVM(C=1.0), splits)[:4].round(3)
    array([ 1., -1.,  1., -1.])
    """
    side = view if view.explicit else GramSide(view.gram(keep=False))
    learner = learner.resolved(side, target)
    values = np.full(len(target), np.nan)
    decided = held_out_values(side, target, learner, splits)
    for (_, held_out), part in zip(splits, decided, strict=True):
        values[held_out] = part
    return values


def held_out_values(
    side: TrainingView,
    target: Target,
    learner: Learner,
    splits: Sequence[Split],
    spare: SpareScratch | None = None,
) -> Generator[Array, None, None]:
    """Yield the decision values of each split's held-out samples; ``spare`` is working memory."""
    gram = None if side.explicit else side.gram(keep=False)
    spare = spare or SpareScratch()

    def of_split(split: Split) -> Array:
        training, held_out = split
        part = target.take(training)
        if gram is None:
            fitted = fit_learner(learner, side.restricted(training), part)
            return side.restricted(held_out).map_features(fitted.decide)
        with spare.lent() as scratch:
            scratch.reset()
            square = scratch.take((len(training), len(training)), gram.dtype)
            take_square(gram, training, square)
            fitted = fit_learner(learner, GramSide(square), part)
        return fitted.decide(gram[np.ix_(held_out, training)])

    yield from each(of_split, splits)


def folds_or_warning(
    target: Target, cv: int, random_state: np.random.RandomState, name: str, instead: str
) -> Sequence[Split]:
    """Return at most ``cv`` folds; warn if there are fewer, or what happens ``instead`` of any."""
    splits = target.folds(cv, random_state)
    if len(splits) < cv:
        least = len(splits) or 1
        unit = "sample" if target.groups is None else "group"
        taken = f"uses {least} folds" if splits else instead
        whose = (
            "there are" if target.kind.strata(target.values) is None else "the smaller class has"
        )
        warnings.warn(
            f"{name} {taken}, as {whose} {counted(least, unit)}.", WeightsWarning, stacklevel=5
        )
    return splits
