"""Cross-validation from Python: against scikit-learn's own, and what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.documents import listings
from helpers.panels import panels
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score

from mklkit import DataError, SpecError
from mklkit.evaluation import cross_validate


@pytest.mark.parametrize("as_table", [False, True])
def test_scores_are_scikit_learns(as_table) -> None:
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000)
    splitter = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=3)
    expected = cross_val_score(model, X, y, cv=splitter)
    rows = (pd.DataFrame(X, index=range(500, 650)), pd.Series(y)) if as_table else (X, y)
    steps: list[tuple[int, int]] = []
    outcome = cross_validate(
        model, *rows, cv=4, repeats=2, random_state=3, progress=lambda *step: steps.append(step)
    )
    assert steps == [(done, 8) for done in range(9)]
    np.testing.assert_allclose([fold["accuracy"] for fold in outcome.folds], expected)
    assert outcome.scores["accuracy"]["mean"] == pytest.approx(expected.mean())
    assert outcome.scores["accuracy"]["std"] == pytest.approx(expected.std(ddof=1))
    assert outcome.pooled["rows"] == 300
    assert np.sum(outcome.pooled["confusion"]) == 300
    assert [(fold["repeat"], fold["fold"]) for fold in outcome.folds] == [
        (repeat, fold) for repeat in range(2) for fold in range(4)
    ]


def test_a_notebook_shows_folds_and_their_means() -> None:
    X, y = load_iris(return_X_y=True)
    outcome = cross_validate(LogisticRegression(max_iter=1000), X, y, cv=11, repeats=2)
    (panel,) = panels(outcome._repr_html_())
    ((_, means, *folds, rest),) = panel.tables
    accuracy = outcome.scores["accuracy"]
    assert means[2] == f"{100 * accuracy['mean']:.1f} % ± {100 * accuracy['std']:.1f} %"
    assert [float(fold[2].rstrip(" %")) for fold in folds] == pytest.approx(
        [100 * fold["accuracy"] for fold in outcome.folds[:20]], abs=0.06
    )
    assert folds[-1][0] == "fold 2.9"
    assert rest == ["and 2 more"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"cv": 1}, SpecError, "folds"),
        ({"repeats": 0}, SpecError, "repeats"),
        ({"y": [0, 1]}, DataError, "2 labels"),
        ({"y": [0, 1, 2, 3]}, DataError, "single sample"),
    ],
)
def test_refusals(arguments, error, message) -> None:
    call = {"X": np.eye(4), "y": [0, 0, 1, 1], **arguments}
    with pytest.raises(error, match=message):
        cross_validate(LogisticRegression(), **call)


def test_the_listing_on_the_page_runs(capsys) -> None:
    (listing,) = listings("docs/reference/index.md", "python")
    exec(listing, {})
    assert "'mean': 0.9" in capsys.readouterr().out
