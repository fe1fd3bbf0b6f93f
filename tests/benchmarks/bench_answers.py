"""How often ``compare`` and ``explain`` say what is not so, on data whose truth is known.

``python bench_answers.py [--rows 60 245 1000] [--repeats 200] [--commands 3]`` prints a table. Each
repeat draws a study of four sources anew: ``main`` and ``side`` tell the classes apart, ``copy``
has what ``main`` has with other noise, ``noise`` has nothing. What is true of a difference is its
mean over all repeats, each of which learns from rows of its own. A sentence is wrong if it says
that something is better, worse, lost or gained which is not, or that a difference is no larger than
it is.

The models are ridge regressions on linear kernels and are fitted here by their formula, since the
commands take some seconds a study. ``--commands`` runs the first studies through ``compare`` and
``explain`` too, and stops if an interval is another; ``best-single`` alone has folds of its own.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
from scipy.linalg import cholesky, solve_triangular
from scipy.spatial.distance import cdist

from mklkit import MKLClassifier, compare
from mklkit.evaluation import Resolution, corrected_interval, planned_tests
from mklkit.evaluation.equivalence import MARGIN
from mklkit.explanation import explain
from mklkit.protocols.splits.making import Folds, make_splits

SOURCES = ("main", "copy", "side", "noise")
COLUMNS = 4
ALPHA = 10.0
LEARNER = f"ridge(alpha={ALPHA})"
KERNELS = [f"{source}:linear@{source}_*" for source in SOURCES]
PLACES = {source: slice(COLUMNS * m, COLUMNS * (m + 1)) for m, source in enumerate(SOURCES)}
RULES = ("alignment", "centered-alignment")
EVEN, BEST, ON_ALL = "uniform", "best-single", "rbf on all columns"
SAID = ["study", "command", "subject", "difference", "low", "high"]

Statement = tuple[str, str, float, float, float]
"""Command, subject, difference, and both ends of its interval."""


def study(n_rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table of four sources of four columns each, and two classes."""
    y = rng.permutation(np.arange(n_rows) % 2)
    signs = 2 * y - 1
    common = 0.9 * signs + rng.normal(size=n_rows)
    signals = {"main": common, "copy": common, "side": 0.5 * signs, "noise": 0 * signs}
    columns = {
        f"{source}_{place}": signals[source] + rng.normal(size=n_rows)
        for source in SOURCES
        for place in range(COLUMNS)
    }
    return pd.DataFrame(columns), y


def accuracy(features: np.ndarray, signs: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    """Return the accuracy of ridge regression with an intercept on labels -1 and +1."""
    center, bias = features[train].mean(axis=0), signs[train].mean()
    rows = features[train] - center
    ridge = rows.T @ rows + ALPHA * np.eye(rows.shape[1])
    weights = np.linalg.solve(ridge, rows.T @ (signs[train] - bias))
    decided = (features[test] - center) @ weights + bias
    return float(np.mean((decided > 0) == (signs[test] > 0)))


def summed(rows: np.ndarray, weights: dict[str, float]) -> np.ndarray:
    """Return features of the weighted sum of linear kernels, one per source with a weight."""
    total = sum(weights.values())
    return np.hstack([np.sqrt(w / total) * rows[:, PLACES[s]] for s, w in weights.items()])


def alignments(rows: np.ndarray, signs: np.ndarray, centered: bool) -> dict[str, float]:
    """Return the alignment of each source's linear kernel with the labels."""
    if centered:
        rows, signs = rows - rows.mean(axis=0), signs - signs.mean()
    of_sources = {source: rows[:, places] for source, places in PLACES.items()}
    return {
        source: np.square(part.T @ signs).sum() / np.linalg.norm(part.T @ part) / (signs @ signs)
        for source, part in of_sources.items()
    }


def gaussian(rows: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Return features of the Gaussian kernel whose width is the mean distance of training rows."""
    distances = cdist(rows, rows)
    gram = np.exp(-np.square(distances / distances[np.ix_(train, train)].mean()) / 2)
    factor = cholesky(gram[np.ix_(train, train)] + 1e-10 * np.eye(len(train)), lower=True)
    return solve_triangular(factor, gram[train], lower=True).T


def chosen(rows: np.ndarray, signs: np.ndarray, seed: int) -> str:
    """Return the source that is best in five folds, of which 500 rows are scored at most."""
    inner = folds(signs, 1, seed)
    inner = inner[: -(-500 * len(inner) // len(rows))]

    def right(source: str) -> float:
        part = rows[:, PLACES[source]]
        return sum(len(split[1]) * accuracy(part, signs, *split) for split in inner)

    return max(SOURCES, key=right)


def folds(signs: np.ndarray, repeats: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return five stratified folds, several times, as the commands draw them."""
    return list(make_splits(signs > 0, Folds(5, repeats), seed=seed))


def by_formula(n_rows: int, seed: int) -> Iterator[Statement]:
    """Yield what is said about one study."""
    frame, y = study(n_rows, np.random.default_rng([n_rows, seed]))
    rows, signs = frame.to_numpy(), 2.0 * y - 1
    splits = folds(signs, 10, seed)
    sizes = np.mean([[len(part) for part in split] for split in splits], axis=0)

    def of_sources(sources: Iterable[str]) -> np.ndarray:
        features = summed(rows, dict.fromkeys(sources, 1.0))
        return np.array([accuracy(features, signs, *split) for split in splits])

    whole, units = of_sources(SOURCES), Resolution(n_rows, "samples")
    for source in SOURCES:
        lost = whole - of_sources(other for other in SOURCES if other != source)
        (low, high), mean = corrected_interval(lost, *sizes), lost.mean()
        least = units.floor(mean)
        yield "explain", source, mean, min(low, mean - least), max(high, mean + least)
    splits, scores = folds(signs, 2, seed), pd.DataFrame()
    for place, (train, test) in enumerate(splits):
        scaled = (rows - rows[train].mean(axis=0)) / rows[train].std(axis=0)
        best = chosen(scaled[train], signs[train], 10 * seed + place)
        features = {
            EVEN: summed(scaled, dict.fromkeys(SOURCES, 1.0)),
            "alignment": summed(scaled, alignments(scaled[train], signs[train], False)),
            "centered-alignment": summed(scaled, alignments(scaled[train], signs[train], True)),
            BEST: scaled[:, PLACES[best]],
            ON_ALL: gaussian(scaled, train),
        }
        for name, columns in features.items():
            scores.loc[place, name] = accuracy(columns, signs, train, test)
    pairs = [*((rule, EVEN) for rule in RULES), (EVEN, BEST), (EVEN, ON_ALL)]
    numbers = ([len(split[part]) for split in splits] for part in (0, 1))
    questions = [("", *pair) for pair in pairs]
    yield from answered(planned_tests(dict(scores), questions, *numbers, resolution=units))


def answered(questions: pd.DataFrame) -> Iterator[Statement]:
    """Yield what is said of each planned question."""
    for row in questions.to_dict("records"):
        subject = f"{row['method']} / {row['reference']}"
        yield "compare", subject, row["difference"], row["low"], row["high"]


def by_commands(n_rows: int, seed: int) -> Iterator[Statement]:
    """Yield what the commands say about one study."""
    frame, y = study(n_rows, np.random.default_rng([n_rows, seed]))
    model = MKLClassifier(KERNELS, learner=LEARNER).fit(frame, y)
    explained = explain(model, frame, y, repeats=1, columns="sources", random_state=seed)
    for row in explained.kernels.to_dict("records"):
        limits = row["left_out"], row["left_out_low"], row["left_out_high"]
        yield "explain", row["kernel"], *limits
    asked = {"methods": list(RULES), "learners": [LEARNER], "baselines": "none", "seed": seed}
    asked |= {"cv": "5x2", "score": "accuracy"}
    yield from answered(compare(frame, y, kernels=KERNELS, **asked).questions)


def check(said: pd.DataFrame, n_rows: int, n_studies: int) -> None:
    """Stop if the commands say something else; ``best-single``, with other folds, is left out."""
    studies = [(seed, *part) for seed in range(n_studies) for part in by_commands(n_rows, seed)]
    both = pd.DataFrame(studies, columns=SAID).merge(said, on=SAID[:3], suffixes=("", " here"))
    both = both[~both["subject"].str.contains(BEST)]
    assert len(both) == 7 * n_studies
    for name in SAID[3:]:
        np.testing.assert_allclose(both[f"{name} here"], both[name], atol=1e-9)


def judged(said: pd.DataFrame) -> pd.DataFrame:
    """Return the sentences with whether they are wrong, and whether they leave the answer open.

    ``explain`` limits what is lost, ``compare`` a difference either way. That two methods have the
    same score on every split is no claim about other rows.
    """
    true = said.groupby(["command", "subject"])["difference"].transform("mean")
    low, high, of_loss = said["low"], said["high"], said["command"] == "explain"
    limit = high.where(of_loss, said[["low", "high"]].abs().max(axis=1))
    signed, same = (low > 0) | (high < 0), ~of_loss & (low == high)
    limited = ~signed & ~same & (limit <= MARGIN)
    opposite, larger = said["difference"] * true <= 0, true.where(of_loss, true.abs()) > limit
    wrong = (signed & opposite) | (limited & larger)
    return said.assign(true=true, wrong=wrong, open=~(signed | limited | same))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="*", default=[60, 245, 1000])
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--commands", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| rows | command | sentences | wrong | studies with a wrong one | can't tell |")
    print("|--:|---|--:|--:|--:|--:|")
    for n_rows in options.rows:
        studies = [(i, *part) for i in range(options.repeats) for part in by_formula(n_rows, i)]
        said = pd.DataFrame(studies, columns=SAID)
        if options.commands:
            check(said, n_rows, options.commands)
        for command, group in judged(said).groupby("command"):
            shares = group["wrong"].mean(), group.groupby("study")["wrong"].any().mean()
            cells = [*(f"{100 * share:.1f} %" for share in (*shares, group["open"].mean()))]
            print("|", " | ".join(map(str, [n_rows, command, len(group), *cells])), "|", flush=True)


if __name__ == "__main__":
    main()
