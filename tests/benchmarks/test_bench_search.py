"""Searches beside the same work by hand, with Gram matrices made once in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bench_cases import seconds
from bench_data import noisy
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from mklkit import MKLClassifier, MKLSearchCV

pytestmark = pytest.mark.benchmark

N_ROWS = 1500
PRICES = (0.1, 1.0, 10.0, 100.0, 1000.0)
TEN = (
    "uniform",
    "alignment",
    "centered-alignment",
    "best-single",
    *(f"dimkl{number}" for number in range(1, 7)),
)


def alignment(gram: Any, labels: Any) -> float:
    return max(0.0, labels @ gram @ labels / np.linalg.norm(gram) / len(labels))


def dimkl2(gram: Any, labels: Any) -> float:
    within, between = gram[np.ix_(labels > 0, labels > 0)], gram[np.ix_(labels > 0, labels < 0)]
    return float(np.exp(-((between.mean() - between.std()) ** 2) / (2 * within.std())))


def dimkl5(gram: Any, labels: Any) -> float:
    first, second = labels > 0, labels < 0
    blocks = [gram[np.ix_(a, b)] for a, b in ((first, first), (first, second), (second, second))]
    spreads, means = [block.std() for block in blocks], [block.mean() for block in blocks]

    def divergence(one: int) -> float:
        ratio = spreads[one] ** 2 / spreads[1] ** 2
        apart = (means[one] - means[1]) ** 2 / (spreads[one] ** 2 + spreads[1] ** 2)
        return float(0.25 * np.log(0.25 * (ratio + 1 / ratio + 2)) + 0.25 * apart)

    total = divergence(0) + divergence(2)
    return total / (total + sum(spreads))


RULES = {"uniform": lambda gram, labels: 1.0, "alignment": alignment, "dimkl2": dimkl2}
RULES["dimkl5"] = dimkl5


def by_hand(X: Any, y: Any, gammas: Any, splits: Any) -> dict[Any, float]:
    """Return the mean accuracy of each weighting and C."""
    distances = euclidean_distances(X, squared=True)
    grams = [np.exp(-gamma * distances) for gamma in gammas]
    scores: dict[Any, list[float]] = {}
    for train, test in splits:
        labels = np.where(y[train] == 1, 1.0, -1.0)
        known = [gram[np.ix_(train, train)] for gram in grams]
        new = [gram[np.ix_(test, train)] for gram in grams]
        for name, rule in RULES.items():
            weights = np.array([rule(gram, labels) for gram in known])
            weights /= weights.sum()
            total = sum(weight * gram for weight, gram in zip(weights, known, strict=True))
            columns = sum(weight * gram for weight, gram in zip(weights, new, strict=True))
            for price in PRICES:
                machine = SVC(C=price, kernel="precomputed").fit(total, y[train])
                scores.setdefault((name, price), []).append(machine.score(columns, y[test]))
    return {key: float(np.mean(score)) for key, score in scores.items()}


def settings(n_rows: int, n_columns: int) -> tuple[Any, Any, Any, Any]:
    """Return rows, labels, five widths and five folds."""
    X, y = noisy(n_rows, n_columns)
    gammas = [factor / n_columns for factor in (0.1, 0.3, 1, 3, 10)]
    return X, y, gammas, list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))


def bank(gammas: Any, learner: str = "svm") -> MKLClassifier:
    """Return a classifier of an rbf kernel for each width."""
    return MKLClassifier([f"rbf(gamma={gamma})" for gamma in gammas], learner=learner)


def searches_beside_each_other(X: Any, y: Any, gammas: Any, splits: Any) -> dict[str, float]:
    """Return the seconds of each way to search, of which all find the same scores."""
    grid: Any = {"combiner": list(RULES), "learner__C": PRICES}
    model = bank(gammas)
    MKLSearchCV(model, {"learner__C": [1.0]}, cv=2).fit(X[:100], y[:100])
    hand, scores = seconds(lambda: by_hand(X, y, gammas, splits))
    ours, search = seconds(lambda: MKLSearchCV(model, grid, cv=splits).fit(X, y))
    plain, _ = seconds(lambda: GridSearchCV(model, grid, cv=splits).fit(X, y))
    results = search.cv_results_
    for params, mean in zip(results["params"], results["mean_test_score"], strict=True):
        assert mean == pytest.approx(scores[params["combiner"], params["learner__C"]], abs=0.005)
    return {"hand": hand, "seconds": ours, "plain": plain}


def test_ten_weightings_of_one_bank(capsys: Any) -> None:
    X, y, gammas, splits = settings(N_ROWS, 20)
    model = bank(gammas, "svm(C=1)")

    def search(rules: Any) -> Any:
        return MKLSearchCV(model, {"combiner": list(rules)}, cv=splits).fit(X, y)

    search(TEN[:1])
    alone = {rule: seconds(lambda rule=rule: search([rule]))[0] for rule in TEN}
    together, _ = seconds(lambda: search(TEN))
    dearest = max(alone, key=lambda rule: alone[rule])
    others = sorted(alone.values())[-2]
    with capsys.disabled():
        print(
            f"\nten weightings: {together:.1f} s together, {sum(alone.values()):.1f} s one by one;"
            f" {dearest} alone {alone[dearest]:.1f} s, the next {others:.1f} s"
        )
