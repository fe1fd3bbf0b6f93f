"""The fits of a study: scored on held-out samples or in folds, or on all samples to be saved."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mklkit.datasets.covariates import quiet_removal
from mklkit.datasets.pipeline import advice_on
from mklkit.display.numbers import number
from mklkit.display.progress import Progress
from mklkit.errors import MKLKitWarning, quoted
from mklkit.estimators.base import KernelEstimator
from mklkit.estimators.introspection import classifier_in
from mklkit.estimators.proposing import AUTO, better_representations
from mklkit.estimators.search_record import search_record
from mklkit.evaluation.cross_validation import CrossValidation, cross_validate
from mklkit.evaluation.fit_and_score import Scores, WrapFit, fit_and_predict, fit_and_score
from mklkit.evaluation.number_scores import R2
from mklkit.evaluation.one_split import OneSplit
from mklkit.evaluation.resampling import intervals_of_counts
from mklkit.evaluation.study import Study, steps_of
from mklkit.numerics.sparse import take_rows


@attrs.frozen(eq=False)
class FittedStudy:
    """A study with a fitted model, and the record of both: plain values to be told and saved.

    ``ids`` are the identifiers of the samples that the model has learned from, if samples have any.
    """

    study: Study
    model: Any
    record: dict[str, Any]
    ids: pd.Series | None = None


def fit_study(
    study: Study, holdout: float, refit: bool = False, wrap_fit: WrapFit = nullcontext
) -> FittedStudy:
    """Score a model of some samples on the others.

    With ``refit``, the model learns from all samples after that, with what a search has chosen.
    """
    splits = study.hold_out(holdout)
    study = study.with_notes(splits.notes)
    split = splits[0]
    adjustment = study.adjustment()
    adjustment.warn()
    parts = {part: split.test[mask] for part, mask in study.parts(split.test).items()}
    scores = fit_and_score(
        study.pipeline,
        study.samples,
        split,
        study.task,
        parts={"train": split.train, **parts},
        wrap_fit=wrap_fit,
    )
    model = scores.model
    seconds = scores.fit_seconds
    notes, searched = list[str](), None
    learned: Any = split.train
    results: dict[str, Any] = {
        "split": splits.description,
        "scores": {
            "train": scores.parts["train"],
            "held_out": scores.parts["test"],
            **{part: scores.parts[part] for part in parts},
        },
        "scored_model": {"rows": model[-1].n_samples_fit_, "seconds": seconds},
    }
    if intervals := _intervals(study, scores):
        results["intervals"] = intervals
    if refit and len(split.test):
        searched = search_record(model[-1])
        chosen, notes = _as_chosen(model, searched is not None)
        chosen = clone(chosen)
        # Each model may hold its training samples.
        del model, scores
        fit = fit_and_predict(chosen, study.samples, wrap_fit=wrap_fit)
        model, seconds, learned = fit.model, fit.seconds, slice(None)
    record = study.record(model, **results, **adjustment.metadata(model), seconds=seconds)
    record["choices"] += [*study.filled(learned), *notes]
    record["search"] = searched
    record["better_representations"] = _better_representations(study, model, split.train)
    ids = study.table.ids
    return FittedStudy(study, model, record, None if ids is None else ids.iloc[learned])


def _intervals(study: Study, scores: Scores) -> dict[str, tuple[float, float]]:
    """Return the intervals of scores on the held-out samples, for the model that was scored."""
    held_out, rows = scores.parts["test"] or {}, scores.split.test
    groups = study.groups
    if "confusion" in held_out:
        return intervals_of_counts(held_out["confusion"]) if groups is None else {}
    predictions = scores.predictions
    if R2 not in study.task.scores or held_out.get(R2.key) is None or predictions is None:
        return {}
    split = OneSplit(
        study.task,
        R2,
        study.targets[rows],
        study.task.scorer(R2.name),
        groups=None if groups is None else groups[rows],
        seed=study.settings.seed,
        responses={"model": {"predict": predictions}},
    )
    ends = split.interval("model")
    return {} if np.isnan(ends).any() else {R2.name: ends}


def _better_representations(
    study: Study, model: Pipeline, train: NDArray[np.intp]
) -> list[dict[str, Any]]:
    """Return where other representations are much better than named kernels, and warn of them.

    They are compared on the training samples of the split, since users may follow the advice.
    """
    estimator = classifier_in(model[-1])
    if not study.settings.kernels or not isinstance(estimator, KernelEstimator):
        return []
    features = model[:-1].transform(take_rows(study.table.features, train))
    better = better_representations(estimator, features, study.targets[train])
    for each in better:
        warnings.warn(
            f"Kernel {quoted(each['kernel'])} reads its columns by {each['spec']}, whose"
            f" leave-one-out error is {number(each['error'], 2)} (1 if nothing is learned), and"
            f" {each['better']} has {number(each['better_error'], 2)}: try it, or use 'auto' to"
            " choose the kernel.",
            MKLKitWarning,
            stacklevel=2,
        )
    return better


def _as_chosen(model: Any, searched: bool) -> tuple[Pipeline, list[str]]:
    """Return a fitted pipeline with what its search chose in its place, and notes on the search.

    ``searched`` is false if no parameter was left to search.
    """
    *steps, (name, last) = model.steps
    best = classifier_in(last)
    notes = [note for note in last.choices_ if note not in best.choices_]
    if notes and searched:
        notes.append("the saved model has these settings: the search was not repeated")
    return Pipeline([*steps, (name, best)]), notes


def cross_validate_study(
    study: Study, cv: Any, repeats: int = 1, progress: Progress = None
) -> tuple[FittedStudy, CrossValidation]:
    """Score a model by cross-validation, on a column's split if there is one.

    The record has the scores of all folds; its steps are those of all samples.
    """
    outcome = cross_validate(
        study.pipeline,
        study.table.features,
        study.targets,
        study.parts_column or cv,
        repeats,
        study.settings.seed,
        progress,
        study.weights,
        study.table.groups,
    )
    outcome.notes.extend(study.leaks(outcome.splits))
    # The model of the last fold stays as it is.
    whole = clone(outcome.estimator)
    with quiet_removal():
        whole[:-1].fit(study.table.features)
    whole.steps[-1] = outcome.estimator.steps[-1]
    record = study.record(outcome.estimator, **outcome.adjustment.metadata(outcome.estimator))
    record["choices"] += study.filled(outcome.splits[-1].train)
    record["choices"] = [
        f"last fold, {note}" if note.startswith(AUTO) else note for note in record["choices"]
    ]
    for of_last_fold in ("weights", "rows", "chosen"):
        del record["model"][of_last_fold]
    splits = outcome.splits
    record |= {
        "preprocessing": steps_of(study.table, whole),
        "advice": advice_on(whole),
        "plan": {"folds": splits.n_folds, "repeats": splits.repeats, "notes": outcome.notes},
        "scores": outcome.scores,
        "parts": _scores_of_parts(study, outcome),
        **({} if outcome.pooled is None else {"pooled": outcome.pooled}),
        "folds": outcome.folds,
        "seconds": outcome.seconds,
    }
    return FittedStudy(study, outcome.estimator, record), outcome


def _scores_of_parts(study: Study, outcome: CrossValidation) -> dict[str, Any]:
    """Return the scores on samples with all sources, and on the others, over all folds."""
    rows, answers = np.concatenate(outcome.splits.tests), np.concatenate(outcome.answers)
    truth = study.targets[rows]
    masks = study.parts(rows)
    scored = {part: (truth[mask], answers[mask]) for part, mask in masks.items() if mask.any()}
    return {part: study.task.score(*pairs) for part, pairs in scored.items()}
