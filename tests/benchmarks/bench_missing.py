"""Strategies for rows that lack a source, on tables of which sources are knocked out.

``python bench_missing.py [TABLE …] [--prefixes rna mirna] [--repeats 20] [--train 0.5]`` prints per
TABLE (built in, or a CSV file with the label in the column ``target``) mean accuracies, and
differences from medians with corrected 95 % intervals. All columns of a source go together, and
every row keeps one source. One rbf per prefix of columns, even weights, ``svm(C=10)``.

"30 %" and "50 %" of rows lack each source by chance. "by class": 40 % of every second class do, and
10 % of the others. "new rows not": the same models, where the lacks of new rows are dealt anew
among them, so that a model which learned *that* rows lack a source loses what it gained by it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier
from mklkit.datasets import load_table
from mklkit.evaluation import corrected_interval

ALONE = "complete rows alone"
"""Learns from rows that have everything, and fills new rows with medians."""
STRATEGIES = ("present", "present-centered", "complete", "per-pattern", "impute", ALONE)


def lacks(shares: np.ndarray, n_sources: int, rng: np.random.Generator) -> np.ndarray:
    """Draw what rows lack (n, m), each source with the row's share (n,), not all of them."""
    drawn = rng.random((len(shares), n_sources)) < shares[:, None]
    kept = rng.integers(n_sources, size=len(shares))
    drawn[drawn.all(axis=1), kept[drawn.all(axis=1)]] = False
    return drawn


def without(frame: pd.DataFrame, lacking: np.ndarray, prefixes: list[str]) -> pd.DataFrame:
    """Return the rows without the sources that they lack (n, m)."""
    rows = frame.astype(float)
    for absent, prefix in zip(lacking.T, prefixes, strict=True):
        rows.loc[absent, rows.columns.str.startswith(prefix)] = np.nan
    return rows


def accuracies(
    frame: pd.DataFrame, codes: np.ndarray, prefixes: list[str], splits: StratifiedShuffleSplit
) -> Iterator[tuple[str, str, int, float]]:
    """Yield column, strategy, number of the split, and the accuracy."""
    kernels = [f"{prefix.strip('_')}:rbf@{prefix}*" for prefix in prefixes]
    shares = {
        "30 %": np.full(len(codes), 0.3),
        "50 %": np.full(len(codes), 0.5),
        "by class": np.where(codes % 2 == 1, 0.4, 0.1),
    }
    for seed, (old, new) in enumerate(splits.split(frame, codes)):
        for column, of_rows in shares.items():
            rng = np.random.default_rng(seed)
            drawn = lacks(of_rows, len(prefixes), rng)
            tests = {column: drawn[new]}
            if column == "by class":
                tests["new rows not"] = rng.permutation(drawn[new])
            for name in STRATEGIES:
                alone = name == ALONE
                rows = old[~drawn[old].any(axis=1)] if alone else old
                model = make_pipeline(
                    SimpleImputer(strategy="median") if alone else "passthrough",
                    StandardScaler(),
                    MKLClassifier(kernels, missing="impute" if alone else name).set_params(
                        combiner="uniform", learner="svm(C=10)"
                    ),
                ).set_output(transform="pandas")
                model.fit(without(frame.iloc[rows], drawn[rows], prefixes), codes[rows])
                for test, lacking in tests.items():
                    hit = model.score(without(frame.iloc[new], lacking, prefixes), codes[new])
                    yield test, name, seed, 100 * hit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=["digits_sources"])
    parser.add_argument("--prefixes", nargs="+", default=["profile_", "fourier_", "pattern_"])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--train", type=float, default=0.5)
    options = parser.parse_args()
    for path in options.tables:
        table = load_table(path, target="target")
        codes = pd.factorize(table.target, sort=True)[0]
        splits = StratifiedShuffleSplit(options.repeats, train_size=options.train, random_state=0)
        scores = pd.Series(
            {
                tuple(key): hit
                for *key, hit in accuracies(table.features, codes, options.prefixes, splits)
            }
        )
        print(path)
        n_train = options.train * len(codes)
        for (column, name), values in scores.groupby(level=[0, 1], sort=False):
            ahead = values.to_numpy() - scores[column, "impute"].to_numpy()
            low, high = corrected_interval(ahead, n_train, len(codes) - n_train)
            beside = f"{ahead.mean():+.1f} ({low:+.1f} to {high:+.1f})"
            print(f"| {column} | {name} | {values.mean():.1f} | {beside} |")


if __name__ == "__main__":
    main()
