"""Classifiers beside each other on data sets of several sources, one folder per data set.

``python bench_sources.py FOLDER [--methods NAME …] [--sets NAME …] [--json FILE]`` prints a table
of accuracies, and one of processor seconds for the five fits with their predictions, by method and
data set; reading is not counted. Each folder in FOLDER has a gzipped CSV file per source with the
column ``id``, and ``labels.csv`` with ``id`` and ``label``. The folds are those of
``StratifiedKFold(5, shuffle=True, random_state=0)`` on the order of ``labels.csv``. ``--json`` adds
results to a file as they come, and takes those that the file already has. Set ``OMP_NUM_THREADS=1``
to compare times.

Parameters of *tuned* methods are chosen in three inner folds of each training part. A method
without "per source" sees one table of all columns.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import attrs
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from mklkit import MKLClassifier, build_pipeline

COSTS = (0.1, 1.0, 10.0, 100.0)
WIDTHS = (1 / 64, 1 / 16, 1 / 4, 1.0)
"""γ of an rbf kernel, times 1/d for d columns."""

Places = dict[str, slice]
"""The columns of each source in a table of all sources."""


@attrs.frozen
class SourcesSet:
    """A data set: one table of all sources, where each source is in it, and the labels."""

    name: str
    table: np.ndarray
    places: Places
    labels: np.ndarray

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the folder of a data set; its samples are in the order of ``labels.csv``."""
        labels = pd.read_csv(folder / "labels.csv").set_index("id").label
        files = sorted(folder.glob("*.csv.gz"))
        sources = {
            file.name.removesuffix(".csv.gz"): pd.read_csv(file).set_index("id").loc[labels.index]
            for file in files
        }
        ends = np.cumsum([source.shape[1] for source in sources.values()]).tolist()
        places = dict(zip(sources, map(slice, [0, *ends[:-1]], ends), strict=True))
        table = np.hstack([source.to_numpy(float) for source in sources.values()])
        return cls(folder.name, table, places, labels.to_numpy())


class FromSources(ClassifierMixin, BaseEstimator):
    """An ``MKLClassifier`` that learns from a mapping of sources instead of one table."""

    def __init__(self, model: MKLClassifier, places: Places) -> None:
        self.model = model
        self.places = places

    def sources(self, X: np.ndarray) -> dict[str, np.ndarray]:
        """Return the columns of each source."""
        return {name: X[:, place] for name, place in self.places.items()}

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Fit the model to the training samples."""
        self.model.fit(self.sources(X), y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the predicted label of each sample."""
        return self.model.predict(self.sources(X))


def tuned(estimator: Any, **grid: Any) -> GridSearchCV:
    """Return a search for the parameters of a pipeline's last step."""
    step = estimator.steps[-1][0]
    inner = StratifiedKFold(3, shuffle=True, random_state=0)
    return GridSearchCV(
        estimator, {f"{step}__{name}": values for name, values in grid.items()}, cv=inner
    )


def tuned_svc(
    places: Places,
    columns: slice | None = None,
    costs: Sequence[float] = COSTS[1:],
    widths: Sequence[float] = WIDTHS,
) -> GridSearchCV:
    """Return a tuned SVC on the standardised columns of one source, by default of all."""
    width = max(place.stop for place in places.values())
    columns = slice(0, width) if columns is None else columns
    gammas = [factor / (columns.stop - columns.start) for factor in widths]
    of_source = ColumnTransformer([("source", "passthrough", columns)])
    return tuned(make_pipeline(of_source, StandardScaler(), SVC()), C=costs, gamma=gammas)


def normalized_linear(places: Places) -> GridSearchCV:
    """Return a tuned linear SVC on the whole table with each row scaled to length 1."""
    return tuned(make_pipeline(Normalizer(), LinearSVC()), C=COSTS)


def normalized_sources(places: Places) -> GridSearchCV:
    """Return a tuned linear SVC on rows of which each source's part is scaled to length 1."""
    parts = ColumnTransformer([(name, Normalizer(), place) for name, place in places.items()])
    return tuned(make_pipeline(parts, LinearSVC()), C=COSTS)


def logistic(places: Places) -> GridSearchCV:
    """Return a tuned logistic regression on standardised columns."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return tuned(model, C=(0.001, 0.01, 0.1, 1.0))


def svc_per_source(places: Places, **grid: Any) -> list[tuple[str, GridSearchCV]]:
    """Return an SVC tuned in a grid for each source, with its name."""
    return [(name, tuned_svc(places, place, **grid)) for name, place in places.items()]


def vote(places: Places, **grid: Any) -> VotingClassifier:
    """Return the vote of a tuned SVC per source; ties go to the first class."""
    return VotingClassifier(svc_per_source(places, **grid))


def stacking(places: Places, **grid: Any) -> StackingClassifier:
    """Return a logistic regression on the decision values of a tuned SVC per source."""
    final = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    inner = StratifiedKFold(3, shuffle=True, random_state=0)
    return StackingClassifier(svc_per_source(places, **grid), final, cv=inner)


def rbf_per_source(places: Places, combiner: str) -> Pipeline:
    """Return standardised columns with an rbf kernel per source, in a table with column names."""
    columns = [
        f"{name}_{i}" for name, place in places.items() for i in range(place.stop - place.start)
    ]
    kernels = [f"{name}:rbf@{name}_*" for name in places]
    model = build_pipeline(MKLClassifier(kernels, combiner=combiner, random_state=0))
    return make_pipeline(FunctionTransformer(lambda X: pd.DataFrame(X, columns=columns)), model)


def automatic(places: Places, **settings: Any) -> FromSources:
    """Return the classifier that chooses how each source is represented."""
    return FromSources(MKLClassifier("auto", random_state=0, **settings), places)


@attrs.frozen
class Method:
    """A classifier: its name in the table, and what makes it for the sources' places."""

    words: str
    make: Callable[[Places], Any]


METHODS = {
    "svc": Method("SVC, standardised columns, tuned", tuned_svc),
    "linear-svc": Method("linear SVC, rows normalised, tuned", normalized_linear),
    "linear-svc-parts": Method(
        "linear SVC, rows of each source normalised, tuned", normalized_sources
    ),
    "logistic": Method("logistic regression, standardised columns, tuned", logistic),
    "forest": Method("random forest", lambda _: RandomForestClassifier(500, random_state=0)),
    "boosting": Method(
        "gradient boosting",
        lambda _: HistGradientBoostingClassifier(min_samples_leaf=5, random_state=0),
    ),
    "vote": Method("late fusion: vote of one tuned SVC per source", vote),
    "stacking": Method("stacking: one tuned SVC per source, logistic regression", stacking),
    "rbf-uniform": Method(
        "mklkit: standardised rbf per source, `uniform`",
        lambda places: rbf_per_source(places, "uniform"),
    ),
    "rbf-alignment": Method(
        "mklkit: standardised rbf per source, `alignment`",
        lambda places: rbf_per_source(places, "alignment"),
    ),
    "auto": Method("mklkit: `auto`", automatic),
    "auto-ovo": Method(
        "mklkit: `auto`, one-vs-one as learned weights",
        lambda places: automatic(places, combiner="uniform", multiclass="ovo"),
    ),
    "auto-alignment": Method(
        "mklkit: `auto`, `alignment`", lambda places: automatic(places, combiner="alignment")
    ),
    "auto-dimkl3": Method(
        "mklkit: `auto`, `dimkl3`", lambda places: automatic(places, combiner="dimkl3")
    ),
    "auto-best-single": Method(
        "mklkit: `auto`, `best-single`", lambda places: automatic(places, combiner="best-single")
    ),
}


def score(make: Callable[[Places], Any], data: SourcesSet) -> dict[str, Any]:
    """Return the percentage of right predictions per fold, and the processor seconds."""
    accuracies = []
    start = time.process_time()
    for training, test in StratifiedKFold(5, shuffle=True, random_state=0).split(
        data.labels, data.labels
    ):
        model = make(data.places)
        model.fit(data.table[training], data.labels[training])
        predicted = model.predict(data.table[test])
        accuracies.append(100 * float(np.mean(predicted == data.labels[test])))
    return {"accuracies": accuracies, "seconds": time.process_time() - start}


def markdown(title: str, cells: pd.DataFrame) -> str:
    """Return a Markdown table with a row per method; what is missing is left empty."""
    lines = [[title, *cells.columns], ["---", *["--:"] * cells.shape[1]]]
    lines += [
        [METHODS[method].words, *("" if pd.isna(value) else f"{value:.1f}" for value in row)]
        for method, row in zip(cells.index, cells.to_numpy(), strict=True)
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def table_of(results: dict[str, dict[str, Any]], measure: Callable[[Any], float]) -> pd.DataFrame:
    """Return a measure of each method (rows) on each data set (columns)."""
    columns = {
        name: {method: measure(cell) for method, cell in cells.items()}
        for name, cells in results.items()
    }
    table = pd.DataFrame(columns)
    return table.loc[[method for method in METHODS if method in table.index]]


def accuracy_table(results: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """Return mean accuracies, and their mean and mean rank over the data sets.

    Means and ranks are of the methods that have a result on every set; rank 1 is the most accurate.
    """
    table = table_of(results, lambda cell: float(np.mean(cell["accuracies"])))
    complete = table.dropna()
    # Equal numbers of right predictions may differ by rounding errors.
    ranks = complete.round(6).rank(ascending=False).mean(axis=1)
    return table.assign(**{"mean": complete.mean(axis=1), "mean rank": ranks})


def main() -> None:
    """Print the accuracy of each method on each data set as it comes, and the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--methods", nargs="*", metavar="NAME", choices=METHODS, default=[*METHODS])
    parser.add_argument("--sets", nargs="*", metavar="NAME")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    stored = options.json is not None and options.json.exists()
    results = json.loads(options.json.read_text("utf-8")) if stored else {}
    for labels in sorted(options.folder.glob("*/labels.csv")):
        name = labels.parent.name
        if options.sets and name not in options.sets:
            continue
        data = SourcesSet.read(labels.parent)
        cells = results.setdefault(name, {})
        for method in options.methods:
            if method not in cells:
                cells[method] = score(METHODS[method].make, data)
                accuracy = np.mean(cells[method]["accuracies"])
                line = f"{name}: {method}: {accuracy:.1f} %, {cells[method]['seconds']:.1f} s"
                print(line, flush=True)
                if options.json is not None:
                    options.json.write_text(json.dumps(results, indent=1), "utf-8")
    print(markdown("accuracy, %", accuracy_table(results)))
    print(markdown("seconds", table_of(results, lambda cell: cell["seconds"])))


if __name__ == "__main__":
    main()
