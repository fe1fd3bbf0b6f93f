"""``mklkit evaluate``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from processes import Run
from sklearn.dummy import DummyClassifier
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_val_score

from mklkit.datasets import load_table
from mklkit.estimators.classifier import MKLClassifier
from mklkit.preprocessing import build_pipeline


def test_scores_are_scikit_learns(mklkit: Run) -> None:
    system = ("-k", "linear", "-k", "rbf", "-l", "svm(C=1.0)")
    result = mklkit("evaluate", "wine", *system, "--folds", "4", "--json").json
    table = load_table("wine")
    model = build_pipeline(
        MKLClassifier(kernels=["linear", "rbf"], learner="svm(C=1.0)", random_state=0)
    )
    codes = np.unique(table.target, return_inverse=True)[1]
    folds = StratifiedKFold(4, shuffle=True, random_state=np.random.RandomState(0))
    for measure in ("accuracy", "balanced_accuracy"):
        folds.random_state = np.random.RandomState(0)
        expected = cross_val_score(model, table.features, codes, cv=folds, scoring=measure)
        np.testing.assert_allclose([one[measure] for one in result["folds"]], expected)
        assert np.isclose(result["scores"][measure]["mean"], expected.mean())
        assert np.isclose(result["scores"][measure]["std"], expected.std(ddof=1))
    guesser = DummyClassifier(strategy="most_frequent")
    folds.random_state = np.random.RandomState(0)
    guessed = cross_val_score(guesser, table.features, codes, cv=folds)
    assert np.isclose(result["scores"]["baseline"]["mean"], guessed.mean())
    folds.random_state = np.random.RandomState(0)
    answered = cross_val_predict(model, table.features, table.target, cv=folds)
    assert result["pooled"]["confusion"] == confusion_matrix(table.target, answered).tolist()
    assert result["pooled"]["better_than_baseline"]


def test_report_is_quiet_in_a_pipe(mklkit: Run) -> None:
    done = mklkit("evaluate", "iris", "-l", "svm(C=1)", "--repeats", "2", "--folds", "3")
    assert done.code == 0, done
    assert done.err == ""
    assert "3 stratified folds, 2 times" in done.out
    assert "±" in done.out
    assert "balanced accuracy" in done.out


def test_a_useless_model_of_one_fold_is_asked_as_it_was_fitted(mklkit: Run, tmp_path: Path) -> None:
    # One of each kind in each ward.
    wards = "".join(f"{i // 2 % 5},ward {i // 2},{'ab'[i % 2]}\n" for i in range(24))
    (tmp_path / "a.csv").write_text("x,ward,kind\n" + wards)
    done = mklkit("evaluate", tmp_path / "a.csv", "--scale", "standard", "--folds", "2")
    assert done.code == 0, done
    assert "always predicting" in done.err


def test_fewer_folds_where_a_class_is_small(mklkit: Run, tmp_path: Path) -> None:
    rows = "".join(f"{i},{'a' if i < 9 else 'b' if i < 12 else 'c'}\n" for i in range(13))
    (tmp_path / "a.csv").write_text("x,kind\n" + rows)
    done = mklkit("evaluate", tmp_path / "a.csv", "-k", "rbf", "--json")
    assert done.code == 0, done
    assert done.json["plan"] == {
        "folds": 3,
        "repeats": 1,
        "notes": [
            "1 class has a single row, always trained on and never scored",
            "3 folds instead of 5: the smallest class has 3 rows",
        ],
    }
    assert sum(one["rows"] for one in done.json["folds"]) == 12
