"""What a comparison says of its score, of guessing, of its scheme, and of what its tests cover."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from scipy.stats import PermutationMethod, wilcoxon
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import balanced_accuracy_score
from sklearn.naive_bayes import GaussianNB

from mklkit import Comparison, MKLClassifier, compare, explain
from mklkit.evaluation import make_splits
from mklkit.evaluation.claims import coverage, estimand, margin_in_words
from mklkit.evaluation.methods_section import methods_of_plan
from mklkit.evaluation.time_limits import shortened
from mklkit.tasks import Classification, Outliers, Regression

RNG = np.random.default_rng(7)
RARE = np.repeat(["common", "rare"], [90, 10])
NOISE = RNG.normal(size=(100, 3))
CHEAP: dict[str, Any] = {"kernels": ["linear", "rbf"], "baselines": "none"}


@pytest.fixture(scope="module")
def guessing() -> Comparison:
    """Return a comparison on classes of 90 : 10, from which only one method learns anything."""
    shifted = NOISE + 4.0 * (RARE == "rare")[:, None]
    methods = [("bayes", GaussianNB()), ("majority", DummyClassifier())]
    settings: dict[str, Any] = {"kernels": "rbf", "learners": ["svm(C=1.0)"], "cv": "5x1"}
    return compare(shifted, RARE, methods=methods, baselines="none", **settings)


def test_the_usual_score_follows_from_the_task_and_the_sizes_of_classes() -> None:
    for counts, score in ((60, 40), "accuracy"), ((61, 40), "balanced_accuracy"):
        labels = np.repeat(["a", "b"], counts)
        assert Classification().usual_score(labels) == score
        assert Outliers().usual_score(labels) == "roc_auc"
    assert Regression().usual_score(np.arange(9.0)) == "r2"


@pytest.mark.parametrize(
    ("counts", "score"), [((90, 10), "balanced_accuracy"), ((50, 50), "accuracy")]
)
def test_one_function_decides_on_the_score(counts: tuple[int, int], score: str) -> None:
    labels = np.repeat(["a", "b"], counts)
    rows = np.random.default_rng(0).normal(size=(len(labels), 2))
    few: dict[str, Any] = CHEAP | {"kernels": "linear", "methods": "uniform", "cv": "2x1"}
    done = compare(rows, labels, learners=["ridge"], **few)
    model = MKLClassifier(["linear", "rbf"], learner="ridge").fit(rows, labels)
    explained = explain(model, rows, labels, cv=2, repeats=1, columns="sources")
    assert done.plan["score"] == explained.score == score
    assert any("times as many samples" in note for note in done.notes) == (score != "accuracy")
    asked = compare(rows, labels, learners=["ridge"], score="accuracy", **few)
    assert asked.plan["score"] == "accuracy"
    assert not any("times as many samples" in note for note in asked.notes)


def test_one_uneven_data_set_decides_for_all() -> None:
    even = np.tile(["a", "b"], 50)
    few: dict[str, Any] = {"methods": "uniform", "kernels": "linear", "learners": ["ridge"]}
    settings: dict[str, Any] = CHEAP | few | {"cv": "2x1"}
    done = compare({"even": (NOISE, even), "uneven": (NOISE, RARE)}, **settings)
    assert done.plan["score"] == "balanced_accuracy"


@pytest.mark.process
def test_methods_that_guess_are_named(guessing: Comparison) -> None:
    assert guessing.plan["score"] == "balanced_accuracy"
    (line,) = (line for line in guessing.verdict.splitlines() if line.startswith("Guessing"))
    assert "majority" in line
    assert "bayes" not in line
    assert "balanced accuracy 50.0 %" in line
    assert line in guessing.as_dict()["verdict"]
    assert (guessing.results["guess"] == 0.5).all()


@pytest.mark.process
def test_no_method_learns_from_noise() -> None:
    settings: dict[str, Any] = CHEAP | {"learners": ["svm(C=1.0)"], "cv": "5x1"}
    done = compare(NOISE, RARE, methods="uniform", **settings)
    assert done.verdict.splitlines()[-1].startswith("Guessing: no method is shown")


@pytest.mark.parametrize("score", ["accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss"])
def test_the_guess_is_scikit_learns(score: str) -> None:
    train, test = RARE[::2], RARE[1::2]
    dummy = DummyClassifier().fit(np.zeros((len(train), 1)), train)
    guess = Classification().guess_score(score, train, test)
    answers = dummy.predict(np.zeros((len(test), 1)))
    if score == "balanced_accuracy":
        assert guess == balanced_accuracy_score(test, answers) == 0.5
    elif score == "accuracy":
        assert guess == np.mean(answers == test) == 0.9
    elif score == "roc_auc":
        assert guess == 0.5
    else:
        assert guess == pytest.approx(0.9 * np.log(0.9) + 0.1 * np.log(0.1))
    numbers = NOISE[:, 0]
    mean = DummyRegressor().fit(numbers[:50, None], numbers[:50]).predict(numbers[50:, None])
    expected = 1 - np.sum((numbers[50:] - mean) ** 2) / np.sum(
        (numbers[50:] - numbers[50:].mean()) ** 2
    )
    assert Regression().guess_score("r2", numbers[:50], numbers[50:]) == pytest.approx(expected)


@pytest.mark.parametrize("n_rows", [60, 700])
def test_the_scheme_does_not_depend_on_the_number_of_samples(n_rows: int) -> None:
    rows = np.random.default_rng(0).normal(size=(n_rows, 2))
    labels = np.arange(n_rows) % 2
    plan = make_splits(labels, "5x10")
    assert (len(plan), plan.repeats_in(50), plan.repeats_in(9)) == (50, 10, 1)
    model = MKLClassifier(["linear"], learner="ridge").fit(rows, labels)
    explained = explain(model, rows, labels, repeats=1, time_limit=0)
    assert len(explained.scores) == 5
    assert shortened(0, 1, 10) in explained.text()


def test_the_time_ends_after_whole_repetitions(tmp_path: Path) -> None:
    settings: dict[str, Any] = CHEAP | {"kernels": "linear", "cv": "2x4", "methods": "uniform"}
    settings |= {"learners": ["ridge"], "results": tmp_path / "runs.jsonl"}

    def interrupt(done: int, *_: Any) -> None:
        if done == 6:
            raise KeyboardInterrupt

    compare(NOISE, RARE, progress=interrupt, **settings)
    # Six runs of one method in two folds are known, and no further one begins.
    done = compare(NOISE, RARE, time_limit=0, **settings)
    assert (len(done.cells), done.by_time) == (6, True)
    assert shortened(0, 3, 4) in done.notes
    whole = compare(NOISE, RARE, **settings)
    assert len(whole.cells) == 8
    assert not any("repetitions" in note for note in whole.notes)


@pytest.mark.process
def test_questions_asked_after_scores(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    settings: dict[str, Any] = CHEAP | {"learners": ["ridge"], "cv": "2x1", "results": path}

    def asked_after(methods: list[str]) -> bool:
        done = compare(NOISE, RARE, methods=methods, **settings)
        (covered,) = (text for text in done.as_dict()["how"] if text.startswith("Holm"))
        after = done.plan["asked_after_scores"]
        for text in (covered, methods_of_plan(done.plan)[0]):
            assert ("after some scores were known" in text) == after
        return bool(after)

    assert not asked_after(["alignment"])
    assert not asked_after(["alignment"])
    assert asked_after(["alignment", "dimkl3"])
    # The file still holds the scores of the other method.
    assert asked_after(["alignment"])
    first, *_ = path.read_text().splitlines()
    path.write_text(first + "\n")
    assert not asked_after(["alignment", "dimkl3"])


def plan_of(n_datasets: int, score: str = "accuracy", **more: Any) -> dict[str, Any]:
    questions = [
        {"question": "Weights", "method": "dimkl3", "references": ["uniform"]},
        {"question": "Others", "method": "dimkl3", "references": ["forest", "boosting"]},
    ]
    split = {"description": "5 folds", "number": 5, "training": [79, 81], "samples": 100}
    names = [f"set {place}" for place in range(n_datasets)]
    return {
        "data": [{"name": name, "rows": 100, "columns": ["a"]} for name in names],
        "splits": [{"name": name, **split} for name in names],
        "task": "classification",
        "score": score,
        "seed": 0,
        "tune": None,
        "methods": [{"name": "dimkl3", "kind": "method", "spec": "combiner: dimkl3"}],
        "versions": {"mklkit": "0.1.0"},
        "questions": questions,
        "reference": None,
        **more,
    }


def test_the_methods_section_names_every_test() -> None:
    text, bibtex = methods_of_plan(plan_of(1, "balanced_accuracy"))
    for part in (
        "balanced accuracy",
        "79 to 81 % of 100",
        "2 questions were tested",
        "corrected resampled t-test",
        "level of 0.05",
        "Weights (dimkl3 against uniform)",
        "the best of 2, forest, boosting",
    ):
        assert part in text
    assert "Friedman" not in text
    assert "nadeau2003" in bibtex
    few, many = (methods_of_plan(plan_of(number))[0] for number in (5, 6))
    assert "Wilcoxon" not in few
    assert "fewer than 6 data sets" in few
    assert "demsar2006" in many
    for part in ("Wilcoxon's signed-rank test", "for the diagram alone", "Bayesian signed-rank"):
        assert part in many
    assert "signed-rank" in few


def test_the_methods_section_tells_margin_seeds_and_permutations() -> None:
    plan = plan_of(1, margin=0.05, seeds=3, permutations=200)
    text, bibtex = methods_of_plan(plan)
    for part in ("up to 5 points were planned", "repeated with 3 seeds", "200 permutations"):
        assert part in text
    assert "ojala2010" in bibtex
    error = {**plan, "task": "regression", "score": "neg_mean_absolute_error"}
    assert margin_in_words(error).endswith("5 % of the baseline's error do not matter")
    assert "ojala2010" not in methods_of_plan(plan_of(1))[1]


@pytest.mark.process
def test_the_planned_questions_are_answered_over_data_sets() -> None:
    """Wilcoxon's test by SciPy, of the means over splits, with Holm's correction by hand."""
    rng = np.random.default_rng(1)
    labels = np.tile(["a", "b"], 20)
    data = {
        f"set {n}": (rng.normal(size=(40, 2)) + shift * (labels == "b")[:, None], labels)
        for n, shift in enumerate(np.linspace(0.2, 1.5, 7))
    }
    methods = [("bayes", GaussianNB()), ("majority", DummyClassifier())]
    settings: dict[str, Any] = {"kernels": "rbf", "learners": ["ridge"], "baselines": "none"}
    done = compare(data, methods=methods, cv="3x1", **settings)
    (test,) = done.questions_over_data_sets.to_dict("records")
    means = done.results.groupby(["data", "method"])["score"].mean().unstack()
    assert (test["question"], test["data_sets"]) == ("Kernels or other classifiers", 7)
    difference = means[test["method"]] - means[test["reference"]]
    assert test["difference"] == pytest.approx(difference.mean())
    expected = wilcoxon(difference, zero_method="zsplit", method=PermutationMethod()).pvalue
    assert test["p_value"] == pytest.approx(min(1, test["choices"] * expected))
    averages = [(a + b) / 2 for i, a in enumerate(difference) for b in difference.iloc[i:]]
    assert test["median"] == pytest.approx(np.median(averages))
    assert test["low"] <= test["median"] <= test["high"]
    assert done.verdict.startswith("Kernels or other classifiers: ")
    (guessing,) = (line for line in done.verdict.splitlines() if line.startswith("Guessing: "))
    assert all(f"{name}, " in guessing for name in data)  # The majority guesses on each.
    assert "Nemenyi's test over all pairs is only for the diagram" in done.how[-1]
    assert done.as_dict()["questions_over_data_sets"][0]["data_sets"] == 7
    few = compare({name: data[name] for name in [*data][:2]}, methods=methods, cv="2x1", **settings)
    assert few.verdict.startswith("No test over 2 data sets")
    assert "2 data sets are too few" in few.how[-1]


def test_what_a_difference_estimates() -> None:
    one = plan_of(1)
    assert "between models trained on 79 to 81 % of 100 such samples" in estimand(one)
    single = {**one["splits"][0], "number": 1, "training": [80, 80]}
    assert "trained on 80 samples" in estimand(one | {"splits": [single]})
    assert "on one data set" in coverage(plan_of(2))
    assert coverage(one | {"questions": []}) == ""


def test_an_unfinished_split_has_no_guess(guessing: Comparison) -> None:
    """A method that failed everywhere is not called guessing."""
    cells = [
        attrs.evolve(cell, score=np.nan, reason="singular") if cell.method == "majority" else cell
        for cell in guessing.cells
    ]
    assert "majority" not in attrs.evolve(guessing, cells=cells).verdict.split("Guessing")[-1]
