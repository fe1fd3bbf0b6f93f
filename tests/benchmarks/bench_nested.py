"""What ``explain`` scores on pure noise, with the search of a tuned model repeated or kept.

``python bench_nested.py [--rows 60] [--studies 20] [--effort thorough]`` prints the mean accuracy
over studies whose classes are independent of all columns, the largest one, and how often a source
is called lost. Only guessing, 50 %, is right.
"""

from __future__ import annotations

import argparse
import warnings
from time import process_time

import numpy as np
import pandas as pd

from mklkit import MKLClassifier, MKLSearchCV, explain

SOURCES = ("a", "b", "c")
COLUMNS = 3


def main() -> None:
    """Print a line for each way."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--studies", type=int, default=20)
    parser.add_argument("--effort", default="thorough")
    parser.add_argument("--cv", default="5")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    kernels = [f"{source}:rbf@{source}_*" for source in SOURCES]
    names = [f"{source}_{place}" for source in SOURCES for place in range(COLUMNS)]
    results = []
    for seed in range(options.studies):
        rng = np.random.default_rng(seed)
        rows = pd.DataFrame(rng.normal(size=(options.rows, len(names))), columns=names)
        labels = rng.permutation(np.arange(options.rows) % 2)
        search = MKLSearchCV(MKLClassifier(kernels, random_state=0), effort=options.effort)
        search.fit(rows, labels)
        for as_fitted in (False, True):
            start = process_time()
            told = explain(
                search, rows, labels, cv=options.cv, repeats=1, columns="sources",
                random_state=seed, as_fitted=as_fitted,
            )  # fmt: skip
            lost = bool((told.kernels["outcome"] == "lost").any())
            seconds = process_time() - start
            results.append((as_fitted, told.scores["score"].mean(), lost, seconds))
    table = pd.DataFrame(results, columns=["as_fitted", "score", "lost", "seconds"])
    by_way = table.groupby("as_fitted").agg(
        mean=("score", "mean"), deviation=("score", "std"), largest=("score", "max"),
        lost=("lost", "sum"), seconds=("seconds", "mean"),
    )  # fmt: skip
    print(by_way.round(3).to_string())


if __name__ == "__main__":
    main()
