"""Strategies for rows that lack a source, on tables of which sources are knocked out.

``python bench_missing.py [TABLE …] [--prefixes rna mirna] [--repeats 20] [--train 0.5]`` prints two
Markdown tables per TABLE (built in, or a CSV file with the label in the column ``target``): mean
accuracies, and differences from medians with corrected 95 % intervals. Of a source all columns go
together, and every row keeps one source. Kernels are one rbf per prefix of columns, with even
weights, and the learner is ``svm(C=10)``.

"30 %" and "50 %" of rows lack each source by chance. "by class": 40 % of every second class do, and
10 % of the others. "new rows not": the same models, where the lacks of new rows are dealt anew
among them, so that a model which learned *that* rows lack a source loses what it gained by it.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier
from mklkit.datasets import load_table
from mklkit.evaluation import corrected_interval

STRATEGIES = ("present", "present-centred", "complete", "per-pattern", "impute")
ALONE = "complete rows only"
"""Learns from rows that have everything, and fills new rows with medians."""


def lacks(shares: np.ndarray, n_sources: int, rng: np.random.Generator) -> np.ndarray:
    """Draw what rows lack (n, m), each source with the row's share (n,), not all of them."""
    drawn = rng.random((len(shares), n_sources)) < shares[:, None]
    kept = rng.integers(n_sources, size=len(shares))
    drawn[drawn.all(axis=1), kept[drawn.all(axis=1)]] = False
    return drawn


def mechanisms(
    codes: np.ndarray, test: np.ndarray, n_sources: int, seed: int
) -> Iterator[tuple[np.ndarray, dict[str, np.ndarray]]]:
    """Yield what all rows lack, and what the test rows lack, by the names of columns."""
    even = np.ones(len(codes))
    for name, shares in (
        ("30 %", 0.3 * even),
        ("50 %", 0.5 * even),
        ("by class", np.where(codes % 2 == 1, 0.4, 0.1)),
    ):
        rng = np.random.default_rng(seed)
        drawn = lacks(shares, n_sources, rng)
        new = {name: drawn[test]}
        if name == "by class":
            new["new rows not"] = rng.permutation(drawn[test])
        yield drawn, new


def without(frame: pd.DataFrame, lacking: np.ndarray, prefixes: list[str]) -> pd.DataFrame:
    """Return the rows without the sources that they lack (n, m)."""
    rows = frame.astype(float)
    for absent, prefix in zip(lacking.T, prefixes, strict=True):
        rows.loc[absent, rows.columns.str.startswith(prefix)] = np.nan
    return rows


def accuracies(
    frame: pd.DataFrame, codes: np.ndarray, prefixes: list[str], repeats: int, train: float
) -> Iterator[dict[str, object]]:
    """Yield the accuracy of each strategy, on each split and with each mechanism."""
    kernels = [f"{prefix.strip('_')}:rbf@{prefix}*" for prefix in prefixes]
    shuffled = StratifiedShuffleSplit(repeats, train_size=train, random_state=0)
    for seed, (old, new) in enumerate(shuffled.split(frame, codes)):
        for drawn, tests in mechanisms(codes, new, len(prefixes), seed):
            complete = old[~drawn[old].any(axis=1)]
            for name in (ALONE, *STRATEGIES):
                missing, chosen = ("impute", complete) if name == ALONE else (name, old)
                model = make_pipeline(
                    SimpleImputer(strategy="median") if name == ALONE else "passthrough",
                    StandardScaler(),
                    MKLClassifier(
                        kernels, combiner="uniform", learner="svm(C=10)", missing=missing
                    ),
                ).set_output(transform="pandas")
                learned = without(frame.iloc[chosen], drawn[chosen], prefixes)
                model.fit(learned, codes[chosen])
                for column, lacking in tests.items():
                    rows = without(frame.iloc[new], lacking, prefixes)
                    yield {
                        "strategy": name,
                        "column": column,
                        "split": seed,
                        "accuracy": 100 * model.score(rows, codes[new]),
                    }


def markdown(cells: pd.DataFrame) -> str:
    lines = [["", *cells.columns], ["---", *["--:"] * len(cells.columns)]]
    lines += [
        [f"`{name}`" if name in STRATEGIES else name, *row] for name, *row in cells.itertuples()
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def report(scores: pd.DataFrame, n_train: int, n_test: int) -> None:
    """Print the mean accuracies, and the differences from medians with their intervals."""
    values = scores.pivot(index=["column", "strategy"], columns="split", values="accuracy")
    order = list(dict.fromkeys(scores["column"]))
    means = values.mean(axis=1).unstack("column").loc[[ALONE, *STRATEGIES], order]
    print(markdown(means.map("{:.1f}".format)), "\n")
    beside = pd.DataFrame(index=[ALONE, *STRATEGIES[:-1]], columns=order)
    for column in order:
        for name in beside.index:
            ahead = values.loc[(column, name)] - values.loc[(column, "impute")]
            low, high = corrected_interval(ahead, n_train, n_test)
            beside.loc[name, column] = f"{ahead.mean():+.1f} ({low:+.1f} to {high:+.1f})"
    print(markdown(beside), "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=["digits_sources"])
    parser.add_argument("--prefixes", nargs="+", default=["profile_", "fourier_", "pattern_"])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--train", type=float, default=0.5)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    for path in options.tables:
        table = load_table(path, target="target")
        codes = pd.factorize(table.target, sort=True)[0]
        n_train = int(options.train * len(codes))
        print(f"## {path}: {len(codes)} rows, {n_train} for training, {options.repeats} splits\n")
        scores = accuracies(table.features, codes, options.prefixes, options.repeats, options.train)
        report(pd.DataFrame(scores), n_train, len(codes) - n_train)


if __name__ == "__main__":
    main()
