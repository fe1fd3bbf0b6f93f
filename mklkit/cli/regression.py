"""Regression on the command line: the model, its scores, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import attrs

from mklkit.cli.building import ModelOptions, steps_of, weights_for
from mklkit.cli.console import counting, say, show, working

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table as Grid

    from mklkit.datasets import Table

__all__ = [
    "NumberErrors",
    "advice_on_numbers",
    "evaluate_numbers",
    "fit_numbers",
    "number_lines",
    "numbers_grid",
    "report_evaluation",
    "to_regression",
]

DEFAULTS = {"multiclass": "ovo", "bandwidths": "per-problem", "probability": False}
"""Options that are for classes only, by what they are where the user gives none."""


def to_regression(pipeline: Any, options: ModelOptions, table: Table, asked: bool) -> None:
    """Put an ``MKLRegressor`` at the end of a pipeline, and say so if nobody asked for one.

    Raises
    ------
    IncompatibleError
        If an option is for classes only.
    """
    from mklkit.errors import IncompatibleError
    from mklkit.estimators.regressor import MKLRegressor

    given = [f"--{name}" for name, usual in DEFAULTS.items() if getattr(options, name) != usual]
    given += [
        f"--{name.replace('_', '-')}"
        for name in ("preset", "tune", "class_weight")
        if getattr(options, name) is not None
    ]
    name = str(table.target.name)
    if given:
        raise IncompatibleError(
            f"The target {name!r} holds numbers, which are learned by regression, and {given[0]} is"
            f" for classes: leave it out, or take the numbers for classes by --task classification."
        )
    if not asked:
        say(f"the target {name!r} holds numbers: regression (--task classification for classes)")
    pipeline.steps[-1] = (
        "regress",
        MKLRegressor(
            options.kernels or None,
            feature_map=options.feature_map,
            combiner=options.combiner or "uniform",
            learner=options.learner,
            max_memory=options.max_memory,
            random_state=options.seed,
            n_jobs=options.jobs,
        ),
    )


def fit_numbers(
    pipeline: Any,
    table: Table,
    holdout: float,
    seed: int,
    fitting: Callable[[Any], AbstractContextManager[None]],
) -> dict[str, Any]:
    """Fit a pipeline on a part of the rows, and score it on both parts."""
    from time import perf_counter

    import numpy as np

    from mklkit.evaluation.number_scores import score_numbers
    from mklkit.persistence.facts import facts_of_model

    numbers = table.target.to_numpy()
    order = np.random.default_rng(seed).permutation(len(numbers))
    count = min(int(np.ceil(holdout * len(numbers))), len(numbers) - 2)
    parts = {"train": np.sort(order[count:]), "held_out": np.sort(order[:count])}
    train = parts["train"]
    start = perf_counter()
    with fitting(pipeline[-1]):
        counts = weights_for(table, train, "regress")
        pipeline.fit(table.features.iloc[train], numbers[train], **counts)
    seconds = perf_counter() - start
    scores: dict[str, dict[str, Any] | None] = {}
    with working("scoring"):
        for part, rows in parts.items():
            scores[part] = None
            if len(rows):
                found = pipeline.predict(table.features.iloc[rows])
                scores[part] = score_numbers(numbers[rows], found, numbers[train])
    return {
        "preprocessing": steps_of(table, pipeline),
        "choices": list(pipeline[-1].choices_),
        "model": facts_of_model(pipeline),
        "split": "at random" if count else "none",
        "scores": scores,
        "seconds": seconds,
    }


def evaluate_numbers(
    pipeline: Any, table: Table, folds: int, repeats: int, seed: int
) -> dict[str, Any]:
    """Score a pipeline by repeated cross-validation in shuffled folds."""
    from statistics import fmean, stdev
    from time import perf_counter

    from sklearn.base import clone
    from sklearn.model_selection import RepeatedKFold

    from mklkit.evaluation.number_scores import NUMBER_SCORES, score_numbers
    from mklkit.persistence.facts import facts_of_model

    numbers, n_folds = table.target.to_numpy(), min(folds, len(table.target))
    notes = [f"{n_folds} folds, as there are {n_folds} rows"] if n_folds < folds else []
    splitter = RepeatedKFold(n_splits=n_folds, n_repeats=repeats, random_state=seed)
    found: list[dict[str, Any]] = []
    fitted: Any = None
    total = n_folds * repeats
    with counting("folds") as progress:
        progress(0, total)
        for train, scored in splitter.split(table.features):
            start = perf_counter()
            counts = weights_for(table, train, "regress")
            fitted = clone(pipeline).fit(table.features.iloc[train], numbers[train], **counts)
            predictions = fitted.predict(table.features.iloc[scored])
            own = score_numbers(numbers[scored], predictions, numbers[train])
            repeat, fold = divmod(len(found), n_folds)
            seconds = perf_counter() - start
            found.append({"repeat": repeat, "fold": fold, **own, "seconds": seconds})
            progress(len(found), total)
    scores = {}
    for name in NUMBER_SCORES:
        values = [one[name] for one in found if one[name] is not None]
        mean = fmean(values) if values else None
        scores[name] = {"mean": mean, "std": stdev(values) if len(values) > 1 else 0.0}
    model = facts_of_model(fitted)
    shown = clone(pipeline)
    shown.named_steps["encode"].fit(table.features)
    return {
        "preprocessing": steps_of(table, shown),
        "choices": list(fitted[-1].choices_),
        "model": {key: model[key] for key in model if key != "weights"},
        "plan": {"folds": n_folds, "repeats": repeats, "notes": notes},
        "scores": scores,
        "folds": found,
        "seconds": sum(one["seconds"] for one in found),
    }


def advice_on_numbers(score: dict[str, Any], rows: str) -> str | None:
    """Return a warning of a model that is no better than always predicting the median."""
    if score["mean_absolute_error"] < score["baseline"]:
        return None
    return (
        "this model is no better than always predicting the median: mean absolute error"
        f" {score['mean_absolute_error']:.4g} on the {rows}, compared with"
        f" {score['baseline']:.4g} for that. Other kernels may help (--kernel auto), or other"
        " columns."
    )


def numbers_grid(scores: dict[str, dict[str, Any] | None]) -> Grid:
    """Return a table of the scores of each part of the rows."""
    from rich import box
    from rich.table import Table as Grid

    from mklkit.evaluation.number_scores import NUMBER_SCORES

    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    grid.add_column("")
    for name in ("rows", *NUMBER_SCORES.values()):
        grid.add_column(name, justify="right")
    for part, name in {"train": "train", "held_out": "held out"}.items():
        own = scores[part]
        if own is not None:
            cells = [_shown(own[key]) for key in NUMBER_SCORES]
            grid.add_row(name, str(own["rows"]), *cells)
    return grid


def number_lines(result: dict[str, Any]) -> list[str]:
    """Return what is said of the rows that were held out."""
    from mklkit.errors import counted

    held_out = result["scores"]["held_out"]
    if held_out is None:
        return ["no rows"]
    return [f"{counted(held_out['rows'], 'row')}, {result['split']}"]


def report_evaluation(table: Table, result: dict[str, Any]) -> None:
    """Show a cross-validation."""
    from mklkit.cli.report import facts_grid, model_lines
    from mklkit.estimators.proposing import shortened
    from mklkit.evaluation.number_scores import NUMBER_SCORES

    plan = result["plan"]
    times = f", {plan['repeats']} times" if plan["repeats"] > 1 else ""
    lines: list[tuple[str, str | list[str]]] = [
        ("data", [f"{table.summary()} ({table.origin})", *result["data"]["notes"]]),
        ("steps", result["preprocessing"]),
        ("kernels", ", ".join(kernel["name"] for kernel in result["model"]["kernels"])),
        ("model", [model_lines(result["model"]), *shortened(result["choices"])]),
        ("folds", [f"{plan['folds']} shuffled folds{times}", *plan["notes"]]),
    ]
    scores = [
        (name, f"{_shown(result['scores'][key]['mean'])} ± {_shown(result['scores'][key]['std'])}")
        for key, name in NUMBER_SCORES.items()
    ]
    show(facts_grid(lines), "", facts_grid(scores))
    show(f"{result['seconds']:.2f} s")


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4g}"


@attrs.define(eq=False)
class NumberErrors:
    """The predictions of rows whose number is given."""

    name: Any = None
    truth: list[Any] = attrs.field(factory=list)
    predicted: list[Any] = attrs.field(factory=list)

    def add(self, target: pd.Series | None, predictions: pd.Series) -> None:
        """Keep the rows that have a number."""
        import numpy as np
        import pandas as pd

        if target is None:
            return
        self.name = target.name
        numbers = pd.to_numeric(target, errors="coerce").to_numpy(float)
        given = ~np.isnan(numbers)
        self.truth.extend(numbers[given])
        self.predicted.extend(predictions.to_numpy()[given])

    def say(self) -> None:
        """Say the errors, if the data have the target."""
        import numpy as np

        from mklkit.errors import counted
        from mklkit.evaluation.number_scores import score_numbers

        if self.name is None:
            return
        if not self.truth:
            say(f"column {self.name!r} holds no numbers: no error")
            return
        found = score_numbers(np.array(self.truth), np.array(self.predicted))
        say(
            f"R² {_shown(found['r2'])}, mean absolute error"
            f" {_shown(found['mean_absolute_error'])} on the {counted(found['rows'], 'row')} with"
            f" {self.name!r} given; always their median: {_shown(found['baseline'])}"
        )
