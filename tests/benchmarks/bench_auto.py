"""``kernels="auto"`` beside the default kernels, a tuned ``SVC`` of one kernel, and trees.

``python bench_auto.py FOLDER [--repeats 2] [--rows 400] [--only NAME …]`` prints a table. FOLDER
has CSV files with the label in the column ``target``. ``auto`` and ``trio`` are the classifiers as
they are, with what they choose. For ``SVC``, C, the width and the kernel are chosen by five inner
folds of each training part. The accuracy is that of the same outer folds.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.svm import SVC

from mklkit import MKLClassifier, build_pipeline
from mklkit.datasets import load_table
from mklkit.protocols.component import KERNELS

COSTS = (0.1, 1.0, 10.0, 100.0)
GAMMAS = (1 / 64, 1 / 16, 1 / 4, 1.0, 4.0)
"""Of a single rbf, times 1/d."""


def methods(rows: np.ndarray) -> Iterator[tuple[str, list[Any]]]:
    """Yield each method with the similarities among which the inner folds choose."""
    d = rows.shape[1]
    yield "SVC rbf", [lambda new, g=g: rbf_kernel(new, rows, gamma=g / d) for g in GAMMAS]
    yield "SVC linear", [lambda new: linear_kernel(new, rows) / d]
    yield (
        "SVC poly",
        [lambda new, k=k: polynomial_kernel(new, rows, degree=k, gamma=1 / d) for k in (2, 3)],
    )


def wholes() -> dict[str, Any]:
    """Return the classifiers that choose themselves what there is to choose."""
    forest = RandomForestClassifier(300, random_state=0)
    boosting = HistGradientBoostingClassifier(min_samples_leaf=10, random_state=0)
    return {
        "auto": build_pipeline(MKLClassifier("auto", random_state=0)),
        "trio": build_pipeline(MKLClassifier(list(KERNELS), random_state=0)),
        "forest": build_pipeline(forest),
        "boosting": build_pipeline(boosting),
    }


def tuned(options: list[Any], rows: np.ndarray, new: np.ndarray, labels: np.ndarray) -> Any:
    """Return the best inner accuracy, and the predicted classes of the new rows there."""
    inner = StratifiedKFold(5, shuffle=True, random_state=0)
    best, predicted = -1.0, None
    for of in options:
        gram, beside = of(rows), of(new)
        parts = [
            (gram[np.ix_(a, a)], labels[a], gram[np.ix_(b, a)], labels[b])
            for a, b in inner.split(rows, labels)
        ]
        for cost in COSTS:
            model = SVC(C=cost, kernel="precomputed")
            score = np.mean([(model.fit(k, y).predict(c) == z).mean() for k, y, c, z in parts])
            if score > best + 1e-12:
                best, predicted = score, model.fit(gram, labels).predict(beside)
    return best, predicted


def run(X: pd.DataFrame, codes: np.ndarray, repeats: int) -> dict[str, float]:
    """Return the mean accuracy of each method in per cent."""
    scores: dict[str, list[float]] = {}
    for repeat in range(repeats):
        outer = StratifiedKFold(5, shuffle=True, random_state=repeat)
        for training, test in outer.split(X, codes):
            steps = build_pipeline(SVC())[:-1]
            rows = np.ascontiguousarray(steps.fit_transform(X.iloc[training]), dtype=float)
            new = np.ascontiguousarray(steps.transform(X.iloc[test]), dtype=float)
            by_method = {
                method: tuned(options, rows, new, codes[training])
                for method, options in methods(rows)
            }
            for method, model in wholes().items():
                model.fit(X.iloc[training], codes[training])
                by_method[method] = 0.0, model.predict(X.iloc[test])
            singles = [by_method[method] for method in by_method if method.startswith("SVC")]
            by_method["SVC, kernel chosen"] = max(singles, key=lambda pair: pair[0])
            for method, (_, predicted) in by_method.items():
                scores.setdefault(method, []).append(100 * (predicted == codes[test]).mean())
    return {method: float(np.mean(values)) for method, values in scores.items()}


def main() -> None:
    """Print a row per data set, and the summary."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--largest", type=int, default=1500)
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = {}
    for path in sorted(options.folder.glob("*.csv*")):
        name = path.name.split(".")[0]
        if options.only and name not in options.only:
            continue
        start = time.perf_counter()
        table = load_table(path)
        X, y = table.features, table.target
        if len(X) > options.largest and name != "mfeat":
            continue
        codes = np.unique(np.asarray(y).astype(str), return_inverse=True)[1]
        usual = np.flatnonzero(np.bincount(codes)[codes] >= 5)
        X, codes = X.iloc[usual], np.unique(codes[usual], return_inverse=True)[1]
        if len(X) > 1.1 * options.rows:  # A class needs a row in the rest, too.
            split = StratifiedShuffleSplit(1, train_size=options.rows, random_state=0)
            some = next(split.split(X, codes))[0]
            X, codes = X.iloc[some], codes[some]
        results[name] = run(X, codes, options.repeats)
        seconds = time.perf_counter() - start
        row = "  ".join(f"{method} {value:.1f}" for method, value in results[name].items())
        print(f"{name:14} {seconds:4.0f} s  {row}", flush=True)
    summary(pd.DataFrame(results).T)


def summary(table: pd.DataFrame) -> None:
    """Print mean accuracies, mean ranks and the number of sets a point below single kernels."""
    print(table.round(1).to_string())
    print("mean accuracy:", table.mean().round(2).to_dict())
    single = "SVC, kernel chosen"
    ranks = table[["auto", "trio", single, "forest", "boosting"]].round(6)
    print("mean ranks:", ranks.rank(axis=1, ascending=False).mean().round(2).to_dict())
    ahead = table["auto"] - table["trio"]
    below = table.index[table["auto"] < table[single] - 1].tolist()
    print(f"above/below trio {(ahead > 0).sum()}/{(ahead < 0).sum()}, a point below SVC {below}")


if __name__ == "__main__":
    main()
