"""What sources are worth alone and together is what ridge regression by its formula gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import KFold, StratifiedKFold
from sources import KERNELS, fitted, fitted_numbers, notes_of, three_sources

from mklkit import MKLClassifier, explain
from mklkit.errors import SpecError
from mklkit.evaluation import corrected_t_test, holm
from mklkit.evaluation.sentences import Unit
from mklkit.explanation.ablations import named_groups, similar_groups
from mklkit.explanation.meaning import adjusted, informed, judged, together

SOURCES = ("main", "copy", "side", "noise")
ALPHA, PER_SOURCE = 10.0, 4


def redundant_sources(n_rows: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a source, one with the same signal and other noise, a weaker one, and pure noise."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_rows) % 2)
    signs = 2 * y - 1
    common = 0.9 * signs + rng.normal(size=n_rows)
    signals = {"main": common, "copy": common, "side": 0.2 * signs, "noise": 0 * signs}
    columns = {
        f"{source}_{place}": signals[source] + 0.5 * rng.normal(size=n_rows)
        for source in SOURCES
        for place in range(PER_SOURCE)
    }
    return pd.DataFrame(columns), y


def accuracy(rows: np.ndarray, y: np.ndarray, train: Any, test: Any, kept: Sequence[str]) -> float:
    """Return the accuracy of ridge regression on the mean of the linear kernels of sources."""
    places = [PER_SOURCE * SOURCES.index(name) + k for name in kept for k in range(PER_SOURCE)]
    signs, part = 2.0 * y - 1, rows[:, places] / np.sqrt(len(kept))
    center, bias = part[train].mean(axis=0), signs[train].mean()
    centered = part[train] - center
    matrix = centered.T @ centered + ALPHA * np.eye(len(places))
    slopes = np.linalg.solve(matrix, centered.T @ (signs[train] - bias))
    decided = (part[test] - center) @ slopes + bias > 0
    return float(np.mean(decided == (signs[test] > 0)))


def test_alone_without_and_together_are_those_of_ridge_by_its_formula() -> None:
    frame, y = redundant_sources(120)
    kernels = [f"{source}:linear@{source}_*" for source in SOURCES]
    model = MKLClassifier(kernels, learner=f"ridge(alpha={ALPHA})").fit(frame, y)
    folds = list(StratifiedKFold(4, shuffle=True, random_state=0).split(frame, y))
    groups = ["copy,main", ("main", "side", "noise")]
    told = explain(model, frame, y, cv=folds, repeats=1, columns="sources", without=groups)

    def mean(kept: Sequence[str]) -> float:
        return float(np.mean([accuracy(frame.to_numpy(), y, *fold, kept) for fold in folds]))

    whole, by_name = mean(SOURCES), told.kernels.set_index("kernel")
    assert told.scores["score"].mean() == pytest.approx(whole)
    for source in SOURCES:
        others = [name for name in SOURCES if name != source]
        assert by_name["left_out"][source] == pytest.approx(mean(others) - whole)
        assert by_name["alone_score"][source] == pytest.approx(mean([source]))
        assert by_name["alone"][source] == pytest.approx(mean([source]) - 0.5)
    expected = {("main", "copy"): mean(["side", "noise"]) - whole}
    expected[("main", "side", "noise")] = mean(["copy"]) - whole
    changes = dict(
        zip(map(tuple, told.together["kernels"]), told.together["left_out"], strict=True)
    )
    assert changes == pytest.approx(expected)
    # With all; without each; each alone, which is one of the groups; and the other group.
    assert told.n_fits == 4 * (1 + 4 + 4 + 1)


@pytest.mark.process
def test_redundant_sources_are_called_so() -> None:
    frame, y = redundant_sources(1500, seed=2)
    kernels = [f"{source}:linear@{source}_*" for source in SOURCES]
    model = MKLClassifier(kernels, learner=f"ridge(alpha={ALPHA})").fit(frame, y)
    told = explain(model, frame, y, cv="5x4", repeats=1, columns="sources")
    # Their alignment is above 0.9, so that nobody needs to name them.
    assert told.together["kernels"].tolist() == [["main", "copy"]]
    assert notes_of(told, "together").startswith(
        "main and copy are redundant: either is dispensable, both are not (−"
    )
    said = notes_of(told, "alone")
    assert said.index("informative (accuracy against guessing)") == 0
    assert "not shown to be informative (accuracy against guessing): noise" in said


def confounded(n_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a source, a confounder, and a source that depends on the confounder alone."""
    rng = np.random.default_rng(3)
    y = rng.permutation(np.arange(n_rows) % 2)
    signs = 2.0 * y - 1
    age = 0.7 * signs + rng.normal(size=n_rows)
    columns = {f"main_{k}": 0.5 * signs + rng.normal(size=n_rows) for k in range(PER_SOURCE)}
    columns |= {f"copy_{k}": age + 1.2 * rng.normal(size=n_rows) for k in range(PER_SOURCE)}
    columns |= {f"side_{k}": age + 1.2 * rng.normal(size=n_rows) for k in range(PER_SOURCE)}
    columns |= {f"noise_{k}": rng.normal(size=n_rows) for k in range(PER_SOURCE)}
    return pd.DataFrame(columns), y


@pytest.mark.process
def test_sources_that_may_stand_in_for_each_other_are_proposed_without_a_high_alignment() -> None:
    frame, y = confounded(400)
    kernels = [f"{source}:linear@{source}_*" for source in SOURCES]
    model = MKLClassifier(kernels, learner=f"ridge(alpha={ALPHA})").fit(frame, y)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(frame, y))
    reports: list[tuple[int, int]] = []
    settings = {"cv": folds, "repeats": 1, "columns": "sources"}
    told = explain(model, frame, y, progress=lambda *part: reports.append(part[:2]), **settings)
    assert told.alignment.loc["copy", "side"] < 0.9
    by_name = told.kernels.set_index("kernel")
    assert by_name["outcome"]["main"] == "lost"
    assert by_name["alone_outcome"][["copy", "side"]].tolist() == ["informative"] * 2
    assert told.together["kernels"].tolist() == [["copy", "side"]]

    def mean(kept: Sequence[str]) -> float:
        return float(np.mean([accuracy(frame.to_numpy(), y, *fold, kept) for fold in folds]))

    change = mean(["main", "noise"]) - mean(SOURCES)
    assert told.together["left_out"][0] == pytest.approx(change)
    # A group that is named is not proposed again, and is the same.
    named = explain(model, frame, y, without=["side,copy"], **settings)
    assert named.together["left_out"].tolist() == pytest.approx([change])
    # With all, without each, alone, and again with all and without the group.
    assert told.n_fits == named.n_fits + 5 == 5 * (1 + 4 + 4 + 2)
    assert reports[-1][0] == reports[-1][1]


def test_without_all_sources_only_guessing_is_left() -> None:
    """Two copies are each dispensable, and without both there is nothing to learn from."""
    frame, y = redundant_sources(400)
    kernels = [f"{source}:linear@{source}_*" for source in SOURCES[:2]]
    model = MKLClassifier(kernels, learner=f"ridge(alpha={ALPHA})").fit(frame, y)
    told = explain(model, frame, y, cv=5, repeats=1, columns="sources", margin=0.2)
    assert told.together["kernels"].tolist() == [["main", "copy"]]
    gains = told.scores["score"] - told.scores["guess"]
    assert told.together["left_out"][0] == pytest.approx(-gains.mean())
    test = corrected_t_test(gains, 320, 80)
    assert told.together["left_out_p_holm"][0] == pytest.approx(test.p_value, rel=1e-3)
    assert told.n_fits == 5 * 3
    assert notes_of(told, "together").startswith("main and copy are redundant: ")


def test_intervals_are_those_at_which_holms_procedure_tests() -> None:
    """Errors have no least difference, so that the p values are those of the corrected t-test."""
    model, rows, numbers = fitted_numbers()
    folds = list(KFold(5, shuffle=True, random_state=0).split(rows))
    settings = {"cv": folds, "repeats": 1, "columns": "sources"}
    table = explain(model, rows, numbers, score="neg_mean_absolute_error", **settings).kernels
    kept = [KERNELS, *([k for k in KERNELS if k != left_out] for left_out in KERNELS)]
    errors = [
        [
            mean_absolute_error(
                numbers[test],
                clone(model)
                .set_params(kernels=kernels)
                .fit(rows.iloc[train], numbers[train])
                .predict(rows.iloc[test]),
            )
            for train, test in folds
        ]
        for kernels in kept
    ]
    losses = np.subtract(errors[1:], errors[0])
    p_values = [corrected_t_test(loss, 96, 24).p_value for loss in losses]
    np.testing.assert_allclose(table["left_out_p_holm"], holm(p_values), rtol=1e-6)
    rejected = (table["left_out_low"] > 0) | (table["left_out_high"] < 0)
    assert rejected.tolist() == (holm(p_values) < 0.05).tolist()
    levels = 1 - 0.05 / np.array([3, 2, 1])
    levels[rejected.sum() :] = levels[min(rejected.sum(), 2)]
    np.testing.assert_allclose(table["left_out_level"].iloc[np.argsort(p_values)], levels)


def table_of(bounds: dict[str, tuple[float, float, float]]) -> pd.DataFrame:
    columns = ["left_out", "left_out_low", "left_out_high"]
    table = pd.DataFrame(bounds, index=columns).T.rename_axis("kernel").reset_index()
    known = {"why_not": "", "left_out_level": 0.95, "alone_outcome": "informative"}
    return table.assign(**known, unadjusted=[[]] * len(table))


def test_sentences_on_groups_claim_no_more_than_the_intervals() -> None:
    unit = Unit("accuracy")
    single = judged(
        table_of({
            "a": (0.001, -0.01, 0.012), "b": (-0.03, -0.05, -0.01),
            "open": (0.01, -0.03, 0.05), "needed": (0.1, 0.05, 0.15), "noise": (0.001, -0.01, 0.01),
        }), 100, 0.02,
    )  # fmt: skip
    single.loc[single["kernel"] == "noise", "alone_outcome"] = "not shown"
    lost, excluded = (0.091, 0.052, 0.13), (0.001, -0.01, 0.012)
    cases = {
        ("a", "b"): (lost, "a and b are redundant: either is dispensable, both are not (−9.1"
                     " points, 95 % CI −13.0 to −5.2)"),
        ("a", "open"): (lost, "neither a nor open is shown to be needed on its own; without both"
                        " −9.1 points (95 % CI −13.0 to −5.2)"),
        ("a", "needed"): (lost, "without a and needed: −9.1 points (95 % CI −13.0 to −5.2); needed"
                          " is needed on its own"),
        ("a", "b", "open"): (lost, "none of a, b and open is shown to be needed on its own; without"
                             " all of them −9.1 points (95 % CI −13.0 to −5.2)"),
        # Noise can be left out, but nothing is redundant with it.
        ("a", "noise"): (lost, "neither a nor noise is shown to be needed on its own; without both"
                         " −9.1 points (95 % CI −13.0 to −5.2)"),
        # A source that is not in the model has no verdict of its own.
        ("a", "absent"): (lost, "neither a nor absent is shown to be needed on its own; without"
                          " both −9.1 points (95 % CI −13.0 to −5.2)"),
        ("b", "open"): (excluded, "b and open are dispensable together: not lost by more than 1.2"
                        " points (95 % CI −1.2 to +1.0)"),
        ("open", "needed"): ((-0.03, -0.05, -0.01), "open and needed: not lost, better without:"
                             " 3.0 points gained (95 % CI 1.0 to 5.0)"),
        ("needed", "open"): ((0.02, -0.02, 0.06), "needed and open: inconclusive: −2.0 points"
                             " without them (95 % CI −6.0 to +2.0); about 400 samples would have an"
                             " even chance"),
    }  # fmt: skip
    groups = table_of({" ".join(names): bounds for names, (bounds, _) in cases.items()})
    groups["kernels"] = [list(names) for names in cases]
    said = list(together(judged(groups, 100, 0.02), single, unit))
    assert said == [sentence for _, sentence in cases.values()]


def test_the_margin_decides_what_is_not_lost() -> None:
    table = table_of({"a": (0.001, -0.01, 0.012)})
    outcomes = [judged(table, 100, margin)["outcome"][0] for margin in (0.02, 0.012, 0.01, 0.0)]
    assert outcomes == ["not lost", "not lost", "inconclusive", "inconclusive"]
    # Half of the interval, 1.1 points, has to be at most 1.0 − 0.1.
    needed = judged(table, 100, 0.01)["rows_needed"][0]
    assert needed == pytest.approx(100 * (0.011 / 0.009) ** 2, rel=0.07)
    nothing = judged(table_of({"a": (0.0, -0.01, 0.01)}), 100, 0.0)
    assert nothing["outcome"].tolist() == ["inconclusive"]
    rows, labels = three_sources(40)
    model = MKLClassifier(["scan:rbf@scan_*", "noise:rbf@noise_*"], learner="svm(C=1)")
    settings = {"cv": 5, "repeats": 1}
    told = explain(model.fit(rows, labels), rows, labels, margin="30 %", **settings)
    assert told.margin == 0.3
    assert told.kernels["outcome"][1] == "not lost"
    with pytest.raises(SpecError, match="A margin is a share"):
        explain(model, rows, labels, margin=-0.1, **settings)


def test_withheld_sources_get_no_verdict_alone() -> None:
    table = pd.DataFrame({"alone": [0.2], "alone_low": [0.1], "no_verdict": ["8 groups"]})
    assert informed(table)["alone_outcome"].tolist() == ["no verdict"]


def test_the_adjustment_is_said_where_there_are_several_tests() -> None:
    table = table_of({"a": (0.1, 0.05, 0.15), "b": (0.0, -0.1, 0.1)})
    (sentence,) = adjusted(table.assign(left_out_level=[0.975, 0.95]))
    assert "2 sources" in sentence
    assert "97.5 to 95 %" in sentence
    assert not list(adjusted(table.head(1)))


def test_groups_are_named_and_proposed() -> None:
    labels = ["dna", "rna", "rbf@a,b", "age"]
    assert named_groups(["rna, dna"], labels) == [("dna", "rna")]
    assert named_groups("dna,rbf@a,b", labels) == [("dna", "rbf@a,b")]
    assert named_groups([("age", "dna"), ["dna", "age"]], labels) == [("dna", "age")]
    for wrong, words in {
        "dna": "two or more",
        "dna,dna": "two or more",
        "dna,rnaa": "No kernel is named 'rnaa'.*'rna'",
        "dna,rna,rbf@a,b,age": "all kernels",
    }.items():
        with pytest.raises(SpecError, match=words):
            named_groups([wrong], labels)
    for wrong, got in ((5, "5"), ([()], r"\(\)"), ([5], "5"), ([""], "''")):
        with pytest.raises(SpecError, match=rf"without must .*\('dna', 'rna'\).*; got {got}"):
            named_groups(wrong, labels)


@pytest.mark.parametrize(
    ("close", "n_kernels", "groups"),
    [
        ([(0, 1, 0.95)], 2, []),
        ([(0, 1, 0.95), (1, 2, 0.99)], 3, [("k1", "k2")]),
        ([(0, 1, 0.95), (1, 2, 0.96)], 6, [("k0", "k1", "k2")]),
        ([(0, 1, 0.95), (1, 2, 0.96), (2, 3, 0.94)], 6, [("k0", "k1", "k2", "k3")]),
        # A third copy among four kernels, and copies that are all kernels.
        ([(0, 1, 0.95), (1, 2, 0.96), (0, 2, 0.94)], 4, [("k0", "k1", "k2")]),
        ([(0, 1, 0.95), (1, 2, 0.96), (0, 2, 0.94)], 3, [("k1", "k2")]),
        ([(0, 1, 0.9), (2, 3, 0.91)], 6, [("k2", "k3")]),
        ([(2 * k, 2 * k + 1, 0.99 - k / 100) for k in range(5)], 10,
         [("k0", "k1"), ("k2", "k3"), ("k4", "k5")]),
    ],
)  # fmt: skip
def test_groups_are_few_and_never_all(close: Any, n_kernels: int, groups: Any) -> None:
    values, names = np.eye(n_kernels), [f"k{place}" for place in range(n_kernels)]
    for row, column, alignment in close:
        values[row, column] = values[column, row] = alignment
    assert similar_groups(pd.DataFrame(values, names, names)) == groups


def test_a_lone_kernel_is_compared_with_guessing() -> None:
    told = explain(*fitted(["scan:rbf@scan_*"]), cv=2, repeats=1)
    gain = told.scores["score"] - told.scores["guess"]
    assert told.kernels["alone"][0] == pytest.approx(gain.mean())
    assert told.n_fits == 2


def test_rows_that_lack_a_source_do_not_count_where_it_is_alone() -> None:
    rows, labels = three_sources(80)
    lacking = np.arange(80) % 4 == 1
    rows.loc[lacking, ["scan_a", "scan_b"]] = np.nan
    kernels = ["scan:rbf(sigma=2)@scan_*", "noise:rbf(sigma=2)@noise_*"]
    model = MKLClassifier(kernels, learner="svm(C=1)", random_state=0).fit(rows, labels)
    folds = list(StratifiedKFold(4, shuffle=True, random_state=0).split(rows, labels))
    told = explain(model, rows, labels, cv=folds, repeats=1)
    gains = []
    for fold in folds:
        train, test = (part[~lacking[part]] for part in fold)
        alone = MKLClassifier(kernels[:1], learner="svm(C=1)", random_state=0)
        alone.fit(rows.iloc[train], labels[train])
        names, counts = np.unique(labels[train], return_counts=True)
        guess = np.mean(labels[test] == names[counts.argmax()])
        gains.append(alone.score(rows.iloc[test], labels[test]) - guess)
    assert told.score == "accuracy"
    assert told.kernels["alone"][0] == pytest.approx(np.mean(gains))
