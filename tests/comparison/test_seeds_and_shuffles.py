"""A comparison with other seeds, and with shuffled labels, told before it runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import RidgeClassifier

from mklkit import Comparison, compare
from mklkit.comparison.outlook import after_first_split
from mklkit.comparison.permuting import permutation_tests, shuffled_rows
from mklkit.comparison.seeds import agreement
from mklkit.comparison.stored import Cell
from mklkit.errors import DataError, SpecError
from mklkit.evaluation import make_splits

RNG = np.random.default_rng(3)
LABELS = np.tile(["a", "b"], 20)
NOISE = RNG.normal(size=(40, 3))
SHIFTED = NOISE + 0.8 * (LABELS == "b")[:, None]
RIDGE: dict[str, Any] = {"baselines": "none", "kernels": "linear", "learners": ["ridge"]}
QUICK: dict[str, Any] = {**RIDGE, "methods": [("ridge", RidgeClassifier())], "without": "linear"}


def runs_of(comparison: Comparison) -> list[tuple[Any, ...]]:
    return [(cell.method, cell.repeat, cell.fold, cell.score) for cell in comparison.cells]


@pytest.mark.process
def test_each_seed_is_a_comparison_of_its_own(tmp_path: Path) -> None:
    settings: dict[str, Any] = {**RIDGE, "kernels": ["linear@0", "linear@1,2"], "cv": "3x1"}
    settings |= {"methods": "uniform", "without": "best-single"}
    path = tmp_path / "runs.jsonl"
    together = compare(SHIFTED, LABELS, **settings, seeds=3, seed=4, results=path)
    assert together.complete
    assert [each.plan["seed"] for each in together.other_seeds] == [5, 6]
    for each in (together, *together.other_seeds):
        alone = compare(SHIFTED, LABELS, **settings, seed=each.plan["seed"])
        assert runs_of(alone) == runs_of(each)
        assert alone.verdict == each.verdict
    folds = {each.plan["splits"][0]["digest"] for each in (together, *together.other_seeds)}
    assert len(folds) == 3
    assert together.runs == (36, 36)
    again = compare(SHIFTED, LABELS, **settings, seeds=3, seed=4, results=path)
    assert (again.reused, again.seeds_agree) == (36, together.seeds_agree)
    # The file of another seed is that of a comparison with this seed.
    beside = tmp_path / "runs.seed-6.jsonl"
    assert compare(SHIFTED, LABELS, **settings, seed=6, results=beside).reused == 12
    (line,) = together.seeds_agree
    outcomes = [each._outcomes() for each in (together, *together.other_seeds)]
    same = {outcome for (outcome,) in outcomes}
    assert ("the same verdict with 3 of 3 seeds" in line) == (len(same) == 1)
    assert any("not tested together" in text for text in together.how)
    means = [
        each.results.groupby("method")["score"].mean() for each in (together, *together.other_seeds)
    ]
    other = together.questions["reference"][0], together.questions["method"][0]
    differences = [100 * (mean[other[1]] - mean[other[0]]) for mean in means]
    low, high = (f"{value:.1f}".replace("-", "−") for value in (min(differences), max(differences)))
    assert line.endswith(f"difference from {low} to {high} points")
    assert line in together.as_dict()["seeds"]["agree"]


def test_sentences_on_seeds() -> None:
    assert agreement("Q", ["better", "worse", "better", "better"]) == (
        "Q: better with 3 of 4 seeds, worse with 1"
    )
    assert compare(SHIFTED, LABELS, **QUICK, cv="2x1").seeds_agree == []


@pytest.mark.process
def test_an_interruption_in_another_seed_keeps_the_first(tmp_path: Path) -> None:
    def interrupt(done: int, *_: object) -> None:
        if done == 5:
            raise KeyboardInterrupt

    settings: dict[str, Any] = {**QUICK, "cv": "3x1", "seeds": 3}
    path = tmp_path / "runs.jsonl"
    part = compare(SHIFTED, LABELS, **settings, progress=interrupt, results=path)
    assert (part.complete, part.runs, len(part.cells), part.other_seeds) == (False, (5, 9), 3, [])
    whole = compare(SHIFTED, LABELS, **settings, results=path)
    assert (whole.complete, whole.reused, len(whole.other_seeds)) == (True, 5, 2)


@pytest.mark.process
def test_shuffles_are_those_of_cross_validation_by_hand(tmp_path: Path) -> None:
    """Ridge is fitted by scikit-learn on the same shuffled labels and folds."""
    comparison = compare(SHIFTED, LABELS, **QUICK, cv="4x2", permutations=19)
    (test,) = comparison.permutation_tests.to_dict("records")

    def score(labels: np.ndarray) -> float:
        model = RidgeClassifier()
        scores = []
        for train, rows in make_splits(labels, 4, seed=0):
            mean, deviation = SHIFTED[train].mean(axis=0), SHIFTED[train].std(axis=0)
            scaled = (SHIFTED - mean) / deviation
            model.fit(scaled[train], labels[train])
            scores.append(model.score(scaled[rows], labels[rows]))
        return float(np.mean(scores))

    shuffled = [
        score(LABELS[np.random.default_rng([0, place]).permutation(40)]) for place in range(19)
    ]
    assert test["score"] == pytest.approx(score(LABELS))
    at_least = sum(value >= test["score"] - 1e-9 for value in shuffled)
    assert (test["splits"], test["permutations"], test["at_least"]) == (4, 19, at_least)
    assert "in the first 4 of 8 splits is reached" in comparison.verdict
    assert test["p_value"] == test["p_best"] == (1 + at_least) / 20


@pytest.mark.process
def test_noise_is_not_predicted_and_a_clear_signal_is() -> None:
    clear = NOISE + 4.0 * (LABELS == "b")[:, None]
    for features, shown in ((NOISE, False), (clear, True)):
        done = compare(features, LABELS, **QUICK, cv="4x2", permutations=24)
        (line,) = (line for line in done.verdict.splitlines() if line.startswith("Permuted"))
        assert ("ridge predicts better than from permuted labels" in line) == shown
        (test,) = done.as_dict()["permutation_tests"]
        assert test["p_best"] == done.permutation_tests["p_best"][0]


def test_p_values_are_of_few_samples_as_promised() -> None:
    """Without any relation, p is at most 0.1 in a tenth of studies (binomial, 99.9 %)."""
    found = 0
    for _ in range(60):
        shuffled = [[_cell("m", value) for value in RNG.normal(size=2)] for _ in range(19)]
        observed = [_cell("m", value) for value in RNG.normal(size=2)]
        found += permutation_tests(observed, shuffled, 2)["p_value"][0] <= 0.1
    assert found <= 14


def test_the_choice_of_the_best_is_repeated() -> None:
    shuffled = [[_cell("a", a), _cell("b", b)] for a, b in ((0.5, 0.9), (0.8, 0.4), (0.5, np.nan))]
    tests = permutation_tests([_cell("a", 0.7), _cell("b", 0.6)], shuffled, 1).set_index("method")
    # A shuffle that fails counts as one that reaches the score.
    assert tests["at_least"].to_dict() == {"a": 1, "b": 2}
    assert tests["best_at_least"].to_dict() == {"a": 3, "b": 3}
    assert tests["p_best"].tolist() == [1.0, 1.0]
    assert tests["p_value"].tolist() == [0.5, 0.75]


def _cell(method: str, score: float) -> Cell:
    sizes = {"repeat": 0, "fold": 0, "n_train": 8, "n_test": 2}
    return Cell(data="d", method=method, kind="method", score=score, **sizes)


def test_groups_of_a_single_label_exchange_it() -> None:
    groups = np.repeat(np.arange(8), [5, 5, 5, 5, 4, 4, 6, 6])
    labels = groups % 2
    for seed in range(10):
        shuffled = labels[shuffled_rows(labels, groups, np.random.default_rng(seed))]
        by_group = [set(shuffled[groups == group]) for group in range(8)]
        assert all(len(each) == 1 for each in by_group)
        assert sum(each == {1} for each in by_group) == 4


@pytest.mark.process
def test_mixed_groups_draw_each_exchange_equally_often() -> None:
    """Two groups of two and one of one: all four labels of the pairs move, the last one stays."""
    groups, labels = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 0])
    generator = np.random.default_rng(0)
    drawn = [tuple(labels[shuffled_rows(labels, groups, generator)]) for _ in range(4000)]
    # By hand: either group has the 0, at either place; groups of one label have no second order.
    possible = [(0, 1, 1, 1, 0), (1, 0, 1, 1, 0), (1, 1, 0, 1, 0), (1, 1, 1, 0, 0)]
    counts = [drawn.count(each) for each in possible]
    assert sum(counts) == 4000
    assert stats.chisquare(counts).pvalue > 0.001


@pytest.mark.process
def test_one_mixed_group_does_not_void_the_test() -> None:
    clear = NOISE + 4.0 * (LABELS == "b")[:, None]
    patients = np.arange(40) // 2 * 2 + np.arange(40) % 2
    patients[1] = patients[0]
    done = compare(clear, LABELS, **QUICK, cv="4x1", groups=patients, permutations=24)
    assert done.permutation_tests["p_value"].tolist() == [1 / 25]
    (note,) = (note for note in done.notes if "permuted by group" in note)
    assert "groups of the same size" in note
    assert "1 of 39 groups" in note


def test_labels_that_cannot_be_shuffled_are_an_error() -> None:
    patients = np.repeat(np.arange(6), [12, 9, 7, 5, 4, 3])
    ill = np.where(patients % 2 == 0, "a", "b")
    ill[-1] = "a"
    with pytest.raises(DataError, match="37 of 40 samples are in groups with a single label"):
        compare(SHIFTED, ill, **QUICK, cv="2x1", groups=patients, permutations=5)


@pytest.mark.process
def test_shuffles_of_mixed_groups_by_another_scheme_do_not_resume(tmp_path: Path) -> None:
    patients = np.arange(40) // 2
    settings: dict[str, Any] = {**QUICK, "cv": "2x1", "results": tmp_path / "runs.jsonl"}
    settings |= {"groups": patients, "permutations": 2}
    assert compare(SHIFTED, LABELS, **settings).complete
    assert compare(SHIFTED, LABELS, **settings).reused == 6
    path = tmp_path / "runs.permutations.jsonl"
    plan, *cells = path.read_text().splitlines()
    former = json.loads(plan)
    del former["splits"][0]["permuted"]
    path.write_text("\n".join([json.dumps(former), *cells, ""]))
    with pytest.raises(DataError, match="the splits differ"):
        compare(SHIFTED, LABELS, **settings)


@pytest.mark.process
def test_shuffles_resume_and_can_be_added(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    settings: dict[str, Any] = {**QUICK, "cv": "3x2", "results": path}

    def interrupt(done: int, *_: object) -> None:
        if done == 6 + 3 * 4 + 1:
            raise KeyboardInterrupt

    part = compare(SHIFTED, LABELS, **settings, permutations=9, progress=interrupt)
    assert (part.complete, part.runs) == (False, (19, 33))
    assert part.permutation_tests["permutations"].tolist() == [4]
    done = compare(SHIFTED, LABELS, **settings, permutations=9)
    assert (done.complete, done.reused) == (True, 19)
    more = compare(SHIFTED, LABELS, **settings, permutations=12)
    assert (more.reused, more.runs) == (33, (42, 42))
    fresh = compare(SHIFTED, LABELS, **{**settings, "results": None}, permutations=12)
    assert more.permutation_tests.equals(fresh.permutation_tests)
    assert (tmp_path / "runs.permutations.jsonl").exists()


@pytest.mark.process
def test_groups_regression_and_published_splits_can_be_shuffled() -> None:
    settings: dict[str, Any] = {**RIDGE, "methods": "uniform", "permutations": 3}
    patients = np.arange(40) // 4
    ill = np.where(patients % 2 == 0, "a", "b")
    done = compare(SHIFTED, ill, **settings, groups=patients, cv="2x1")
    numbers = compare(SHIFTED, NOISE[:, 0], **settings, task="regression", cv="2x2")
    random = compare(SHIFTED, LABELS, **settings, mccv=7)
    listed = [(np.arange(20), np.arange(20, 40))]
    one = compare(SHIFTED, LABELS, **settings, cv=listed)
    for each, n_splits in ((done, 2), (numbers, 2), (random, 5), (one, 1)):
        assert each.permutation_tests["permutations"].tolist() == [3]
        scores = [cell.score for cell in each.cells if cell.method == "uniform"][:n_splits]
        assert each.permutation_tests["score"][0] == pytest.approx(np.mean(scores))
    assert numbers.permutation_tests["score"][0] > 0.85


@pytest.mark.process
def test_few_samples_get_a_proposal() -> None:
    few = compare(SHIFTED, LABELS, **QUICK, cv="2x1")
    assert any("--permutations 200" in note for note in few.notes)
    asked = compare(SHIFTED, LABELS, **QUICK, cv="2x1", permutations=1)
    enough = np.tile(SHIFTED, (3, 1)) + RNG.normal(size=(120, 3))
    many = compare(enough, np.tile(LABELS, 3), **QUICK, cv="2x1")
    for done in (asked, many):
        assert not any("--permutations" in note for note in done.notes)


@pytest.mark.parametrize(
    "wrong", [{"seeds": 0}, {"seeds": 1.5}, {"permutations": -1}, {"permutations": "many"}]
)
def test_numbers_that_are_none(wrong: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="must be a whole number"):
        compare(SHIFTED, LABELS, **QUICK, **wrong)


class Listener:
    """What is told while a comparison runs."""

    def __init__(self) -> None:
        self.sentences: list[tuple[int, str]] = []
        self.done = 0

    def __call__(self, done: int, total: int, part: str = "") -> None:
        self.done = done

    def say(self, text: str) -> None:
        self.sentences.append((self.done, text))


@pytest.fixture
def dear(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the fits of ridge seem to take 30 seconds."""
    from mklkit.comparison import comparing

    def run_cells(*given: Any) -> Iterator[Any]:
        for place, method, cell in real(*given):
            seconds = 30.0 if method.name == "ridge" else 0.5
            yield place, method, attrs.evolve(cell, seconds=seconds)

    real = comparing.run_cells
    monkeypatch.setattr(comparing, "run_cells", run_cells)
    return None


@pytest.mark.process
@pytest.mark.usefixtures("dear")
def test_what_takes_most_of_the_time_is_told_after_the_first_split() -> None:
    listener = Listener()
    settings: dict[str, Any] = {**QUICK, "without": ()}
    compare(SHIFTED, LABELS, **settings, cv="5x2", progress=listener)
    (first, begun), (second, ahead) = listener.sentences
    assert (first, begun) == (0, "20 runs: 2 methods on 10 splits")
    assert second == 1  # The second of the two methods is running.
    assert "so the others take about 4.6 min" in ahead
    assert "ridge takes 98 % of the time: --no ridge (in Python without='ridge')" in ahead


def test_little_time_and_what_is_left_out_by_itself() -> None:
    cells = [attrs.evolve(_cell(name, 0.5), seconds=time) for name, time in (("a", 90), ("b", 1))]
    assert after_first_split(cells[1:], 1.0, {"b": 3}, []) == ""
    text = after_first_split(cells, 91.0, {"a": 9, "b": 9}, ["a"])
    assert text.endswith("a takes 99 % of the time, and is dropped from them")
    assert "the others take about 9.0 s" in text
    assert "of the time" not in after_first_split(cells[1:], 1.0, {"b": 9}, [])


def test_runs_in_a_file_take_no_time() -> None:
    """By hand: a's runs are all known, so 9 runs of b at one second are left."""
    cells = [attrs.evolve(_cell(name, 0.5), seconds=time) for name, time in (("a", 90), ("b", 1))]
    text = after_first_split(cells, 91.0, {"a": 0, "b": 9}, [])
    assert "the others take about 9.0 s" in text
    assert "--no a" not in text


def test_files_of_other_seeds_are_checked_before_anything_runs(tmp_path: Path) -> None:
    runs = []
    for part in ("seed-1", "permutations"):
        (tmp_path / f"{part}.{part}.jsonl").write_text("no results\n")
        with pytest.raises(DataError, match="not a file of results"):
            compare(
                SHIFTED,
                LABELS,
                **QUICK,
                cv="2x1",
                seeds=2,
                permutations=1,
                results=tmp_path / f"{part}.jsonl",
                progress=lambda *told: runs.append(told),
            )
    assert not [told for told in runs if told[0] > 0]


def test_another_seed_is_named_as_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    compare(SHIFTED, LABELS, **QUICK, cv="2x1", results=path)
    with pytest.raises(DataError, match="the seeds differ, 0 there, 1 now"):
        compare(SHIFTED, LABELS, **QUICK, cv="2x1", results=path, seed=1)


def test_seeds_end_where_numpy_ends() -> None:
    with pytest.raises(SpecError, match="smaller seed"):
        compare(SHIFTED, LABELS, **QUICK, seed=2**32 - 2, seeds=3)


def test_seeds_of_one_split_change_only_the_methods() -> None:
    listed = [(np.arange(20), np.arange(20, 40))]
    single = compare(SHIFTED, LABELS, **QUICK, cv=listed, seeds=2)
    assert any("the splits are the same with every seed" in text for text in single.how)
    folds = compare(SHIFTED, LABELS, **QUICK, cv="2x1", seeds=2)
    assert not any("the splits are the same" in text for text in folds.how)
