"""kernels="auto": each source's representation, by leave-one-out errors of ridge regression."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.processes import on_path, run_in_process, write_plugin
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import cosine_similarity, euclidean_distances
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.preprocessing import StandardScaler

import mklkit
from mklkit import MKLClassifier, MKLOneClass, MKLRegressor, MKLSearchCV, propose_kernels
from mklkit.estimators import proposing
from mklkit.estimators.proposing import RIDGES, better_representations
from mklkit.estimators.sources import MOST_GROUPS, column_groups
from mklkit.kernels import Precomputed
from mklkit.numerics.sampling import drawn_by_class
from mklkit.protocols import Rows
from mklkit.registry.columns import bind_kernels, proposed_kernels
from mklkit.registry.specs import kernel_spec
from mklkit.views.scaling import SCALINGS, with_scaling

AMOUNTS = [scaling.name for scaling in SCALINGS.values() if scaling.amounts]

IRIS = load_iris(return_X_y=True)
ODD_PROPOSAL = """
import attrs
from mklkit.kernels import Linear
from mklkit.plugin import KernelTraits, hookimpl

@attrs.frozen
class Odd(Linear):
    name = "odd"
    traits = KernelTraits(proposed=("lineare",))

@hookimpl
def mklkit_kernels():
    return [Odd]
"""
USUAL = "rbf(sigma='mean')[standard]"


def three_sources(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Return two sources with a column each that tells two classes apart, and 60 of noise."""
    y = np.arange(80) % 2
    names = ["mrna_1", "mrna_2", "clin.age", "clin.bmi", *(f"noise_{i}" for i in range(60))]
    frame = pd.DataFrame(rng.normal(size=(80, 64)), columns=names)
    frame["mrna_1"] += 2 * y
    frame["clin.age"] += 2 * y
    return frame, y


def words_of_topics(
    rng: np.random.Generator, n_rows: int, n_words: int = 1000
) -> tuple[np.ndarray, np.ndarray]:
    """Return sparse counts of words, of texts of several lengths and three topics.

    Rare words are of no topic, and to standardise gives each as much weight as a common one.
    """
    y = np.arange(n_rows) % 3
    common = 1 / np.arange(1, n_words + 1)
    topics = np.tile(common, (3, 1))
    for topic in range(3):
        topics[topic, topic:30:3] *= 3
    topics /= topics.sum(axis=1, keepdims=True)
    lengths = rng.integers(10, 60, n_rows)
    pairs = zip(lengths, topics[y], strict=True)
    return np.array([rng.multinomial(n, p) for n, p in pairs], float), y


def columns_of_sources(model: MKLClassifier) -> dict[str, list[int]]:
    """Return the columns of each source of which a kernel was taken."""
    pairs = zip(model.kernel_names_, model.kernel_columns_, strict=True)
    return {name: columns.tolist() for name, columns in pairs}


def specs(model: MKLClassifier) -> dict[str, str]:
    """Return how each source is represented."""
    return {bound.label: kernel_spec(bound) for bound in model.bound_kernels_}


def share_by_refits(gram: np.ndarray, targets: np.ndarray) -> float:
    """Return the leave-one-out error of ridge regression in relation to that of the mean."""
    values, vectors = np.linalg.eigh(gram)
    features = vectors * np.sqrt(np.maximum(values, 0))
    spread = ((features - features.mean(axis=0)) ** 2).sum(axis=1).mean()
    totals = dict.fromkeys([None, *RIDGES], 0.0)
    for row in range(len(gram)):
        rest = np.arange(len(gram)) != row
        for ridge in totals:
            answer = targets[rest].mean(axis=0)
            if ridge is not None:
                fit = Ridge(alpha=ridge * spread).fit(features[rest], targets[rest])
                answer = fit.predict(features[[row]])[0]
            totals[ridge] += ((targets[row] - answer) ** 2).sum()
    of_mean = totals.pop(None)
    return min(totals.values()) / of_mean


class TestGroups:
    """Columns that belong together, by their names."""

    def test_a_longer_beginning_belongs_to_the_shorter(self) -> None:
        names = ["clin_site_a", "clin_site_b", "clin_age", "clin_bmi", "dna_1", "dna_2"]
        groups = column_groups(names)
        assert [columns.tolist() for columns in groups.values()] == [[0, 1, 2, 3], [4, 5]]

    def test_the_first_part_names_the_source_unless_all_share_it(self) -> None:
        names = ["mrna_ENSG1.6", "mrna_ENSG2.6", "mirna_hsa-let-7a", "mirna_hsa-let-7b"]
        assert list(column_groups(names)) == ["mrna_*", "mirna_*"]
        study = [f"study.{name}" for name in names]
        assert list(column_groups(study)) == ["study.mrna_*", "study.mirna_*"]

    @pytest.mark.parametrize("names", [[], ["a_1", "a_2", "b_1", "c"], ["x1", "x2", "x3", "x4"]])
    def test_fewer_than_two_groups_are_none(self, names: list[str]) -> None:
        assert column_groups(names) == {}

    def test_the_smallest_of_many_groups_are_joined(self) -> None:
        most = MOST_GROUPS
        names = [
            f"g{group}_{place}" for group in range(most + 4) for place in range(2 + (group > 3))
        ]
        groups = column_groups(names)
        assert len(groups) == most + 1
        assert list(groups)[-1] == "others"
        assert groups["others"].tolist() == list(range(8))


class TestErrors:
    """What notes tell, against refits on similarities of scikit-learn."""

    @pytest.mark.parametrize("numbers", [False, True], ids=["classes", "numbers"])
    def test_of_a_lone_source(self, numbers: bool) -> None:
        X, y = IRIS[0][::4], IRIS[1][::4]
        targets = np.eye(3)[y]
        model: Any = MKLClassifier("auto")
        if numbers:
            X, y = X[:, :3], X[:, 3]
            targets = StandardScaler().fit_transform(y[:, None])
            model = MKLRegressor("auto")
        distances = euclidean_distances(StandardScaler().fit_transform(X))
        sigma = distances.mean()
        grams = {
            USUAL: np.exp(-(distances**2) / (2 * sigma**2)),
            "cosine(kernel='linear')[none]": cosine_similarity(X),
            "cosine(kernel='linear')[roots]": cosine_similarity(np.sqrt(X)),
        }
        notes = " ".join(model.fit(X, y).choices_)
        for spec, gram in grams.items():
            short = spec.replace("(kernel='linear')", "")
            (told,) = re.findall(rf"(?:{re.escape(spec)}|{re.escape(short)}) (\d\.\d+)", notes)
            assert float(told) == pytest.approx(share_by_refits(gram, targets), abs=0.0051)

    @pytest.mark.process
    def test_of_each_source_and_of_all_together(self, rng: np.random.Generator) -> None:
        frame, y = three_sources(rng)
        frame = frame.iloc[:, :4]
        notes = "\n".join(MKLClassifier("auto").fit(frame, y).choices_)
        targets = np.eye(2)[y]
        total = np.zeros((80, 80))
        for name, columns in {"mrna": slice(0, 2), "clin.*": slice(2, 4)}.items():
            distances = euclidean_distances(StandardScaler().fit_transform(frame.iloc[:, columns]))
            sigma = distances.mean()
            gram = np.exp(-(distances**2) / (2 * sigma**2))
            note = re.escape(f"kernels auto: {name}: ")
            error = re.escape(USUAL) + r",? (?:leave-one-out error)? ?(\d\.\d+)"
            told = re.search(f"{note}.*?{error}", notes)
            assert told is not None
            assert float(told[1]) == pytest.approx(share_by_refits(gram, targets), abs=0.01)
            total += gram
        (told_all,) = re.findall(r"error of both sources together (\d\.\d+)", notes)
        if notes.count(f": {USUAL}, ") == 2:  # Both are as usual, so the sum is that of these.
            assert float(told_all) == pytest.approx(share_by_refits(total, targets), abs=0.01)
        else:
            pytest.fail(notes)


class TestChosen:
    """What is taken and what is left out."""

    def test_sources_that_tell_classes_apart_are_taken_and_noise_is_not(
        self, rng: np.random.Generator
    ) -> None:
        frame, y = three_sources(rng)
        model = MKLClassifier("auto").fit(frame, y)
        assert columns_of_sources(model) == {"mrna": [0, 1], "clin.*": [2, 3]}
        assert any(note.startswith("kernels auto: dropped noise: ") for note in model.choices_)
        assert model.score(frame, y) > 0.85

    @pytest.mark.parametrize("seed", range(5))
    def test_noise_is_represented_as_usual(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(rng.gamma(1.0, size=(60, 9)))
        frame.columns = [f"{source}_{n}" for source in "abc" for n in range(3)]
        frame["a_0"] += 3 * (np.arange(60) % 2)
        model = MKLClassifier("auto").fit(frame, np.arange(60) % 2)
        for label, spec in specs(model).items():
            assert label == "a" or spec == USUAL

    def test_what_standardising_destroys_is_read_otherwise(self, rng: np.random.Generator) -> None:
        words, y = words_of_topics(rng, 240)
        lab = rng.normal(size=(240, 3)) + 0.3 * y[:, None]
        train = np.arange(240) < 160
        parts = {"text": words, "lab": lab}
        train_parts = {name: part[train] for name, part in parts.items()}
        model = MKLClassifier("auto").fit(train_parts, y[train])
        chosen = specs(model)
        assert chosen["text"] not in (USUAL, "cosine(kernel='linear')[standard]")
        assert chosen.get("lab", USUAL) == USUAL
        new = {name: part[~train] for name, part in parts.items()}
        usual = [("text", "rbf[standard]", "text_*"), ("lab", "rbf[standard]", "lab_*")]
        usual = [f"{label}:{spec}@{columns}" for label, spec, columns in usual]
        standardised = MKLClassifier(usual, learner="ridge").fit(train_parts, y[train])
        assert model.score(new, y[~train]) > standardised.score(new, y[~train]) + 0.1
        (note,) = [note for note in model.choices_ if note.startswith("kernels auto: text: ")]
        first, second = map(float, re.findall(r" (\d\.\d+)", note))
        assert first < 0.7 * second
        assert f"{USUAL} " in note

    def test_order_of_rows_does_not_matter(self, rng: np.random.Generator) -> None:
        frame, y = three_sources(rng)
        order = rng.permutation(len(y))
        first = MKLClassifier("auto", random_state=1).fit(frame, y)
        reordered = MKLClassifier("auto", random_state=2).fit(frame.iloc[order], y[order])
        assert specs(first) == specs(reordered)
        np.testing.assert_allclose(
            reordered.decision_function(frame), first.decision_function(frame), atol=1e-8
        )

    def test_few_rows_and_constant_columns(self) -> None:
        bank = propose_kernels([[0.0], [1.0]], [0, 1])
        assert 1 <= len(bank.kernels) <= proposing.MOST_TAKEN
        rows = np.column_stack([np.ones(20), np.arange(20.0)])
        assert (
            MKLClassifier("auto").fit(rows, np.arange(20) > 9).score(rows, np.arange(20) > 9) > 0.8
        )
        assert MKLClassifier("auto").fit(np.ones((6, 2)), [0, 1] * 3).kernel_names_

    def test_many_sources(self, rng: np.random.Generator) -> None:
        names = [f"g{group}_{place}" for group in range(25) for place in range(2)]
        frame = pd.DataFrame(rng.normal(size=(30, 50)), columns=names)
        frame["g7_0"] += 4 * (np.arange(30) % 3)
        bank = propose_kernels(frame, np.arange(30) % 3)
        assert "g7" in [kernel.label for kernel in bank.kernels]
        assert sum(": " in note and "leave-one-out error" in note for note in bank.notes) >= 25

    def test_samples_that_lack_a_source_do_not_count_for_it(self, rng: np.random.Generator) -> None:
        words, y = words_of_topics(rng, 150, 60)
        lab = rng.normal(size=(150, 3)) + y[:, None]
        lacks = np.arange(150) % 4 == 1
        frame = pd.DataFrame(words).add_prefix("text_").join(pd.DataFrame(lab).add_prefix("lab_"))
        frame.loc[lacks, frame.columns.str.startswith("text_")] = np.nan
        model = MKLClassifier("auto").fit(frame, y)
        alone = MKLClassifier(["text@text_*", "lab@lab_*"]).fit(frame[~lacks], y[~lacks])
        notes = {
            name: [note for note in each.choices_ if note.startswith("kernels auto: text: ")]
            for name, each in (("all", model), ("complete", alone))
        }
        errors = {
            name: list(map(float, re.findall(r" (\d\.\d+)", note)))
            for name, (note,) in notes.items()
        }
        # The shares differ in the classes' mean error, which lacks some samples.
        assert errors["all"] == pytest.approx(errors["complete"], rel=0.05)
        assert specs(model)["text"] == specs(alone)["text"]
        assert set(specs(model)) == {"text", "lab"}  # None is left out: rows would lack all.

    def test_weights_are_copies(self, rng: np.random.Generator) -> None:
        frame, y = three_sources(rng)
        frame, y = frame.iloc[:50, :8], y[:50]
        weights = rng.integers(0, 3, 50)
        copies = np.repeat(np.arange(50), weights)
        kernels = [f"{name}:auto@{name}_*" for name in ("mrna", "noise")]
        weighted = MKLClassifier(kernels, scale="none").fit(frame, y, sample_weight=weights)
        copied = MKLClassifier(kernels, scale="none").fit(frame.iloc[copies], y[copies])
        assert set(specs(weighted)) == set(specs(copied))


class TestLandmarks:
    """With many rows, errors are those of features of landmarks."""

    def test_they_choose_as_exact_errors_do(self, rng: np.random.Generator) -> None:
        words, y = words_of_topics(rng, 300, 100)
        lab = rng.normal(size=(300, 2)) + y[:, None]
        X = {"text": words, "lab": lab, "noise": rng.normal(size=(300, 2))}
        exact = propose_kernels(X, y)
        few = propose_kernels(X, y, max_exact=299, landmarks=150)
        assert [(k.label, kernel_spec(k)) for k in few.kernels] == [
            (k.label, kernel_spec(k)) for k in exact.kernels
        ]
        of_few, of_all = (
            float(re.findall(r"all 3 sources together (\d\.\d+)", "".join(bank.notes))[0])
            for bank in (few, exact)
        )
        assert of_few == pytest.approx(of_all, rel=0.15)
        assert few.notes != exact.notes  # They are not the same computation.

    def test_the_scaling_is_that_of_more_rows_than_are_compared(
        self, rng: np.random.Generator
    ) -> None:
        n_rows = proposing.MOST_ROWS + 500
        y = np.arange(n_rows) % 2
        X = (rng.normal(size=(n_rows, 4)) + 2 * y[:, None]) * [1, 100, 1, 100]
        bank = propose_kernels({"a": X[:, :2], "b": X[:, 2:]}, y, landmarks=20)
        assert [bound.scaling.name for bound in bank.kernels] == ["standard", "standard"]
        for bound in bank.kernels:
            scaler = StandardScaler().fit(X[:, bound.columns])
            np.testing.assert_allclose(bound.scaling.scaler.mean_, scaler.mean_)


class TestInEstimators:
    """Everything that takes kernels takes "auto"."""

    def test_partial_fit_keeps_the_bank_of_the_first_rows(self, tmp_path: Path) -> None:
        X, y = IRIS
        model = MKLClassifier("auto", feature_map="empirical(subset=10)", learner="kda")
        model.partial_fit(X[::2], y[::2], classes=[0, 1, 2])
        first = model.kernel_names_
        assert first == [kernel.label for kernel in propose_kernels(X[::2], y[::2]).kernels]
        scaled = [bound.scaling for bound in model.bound_kernels_]
        mklkit.save_model(model, tmp_path / "m.mkl")
        loaded = mklkit.load_model(tmp_path / "m.mkl")
        assert loaded.kernels == "auto"
        assert loaded.partial_fit(X[1::2], y[1::2]).kernel_names_ == first
        # And the scaling, or features of earlier rows would be other ones.
        for bound, scaling in zip(loaded.bound_kernels_, scaled, strict=True):
            assert (bound.scaling is None) == (scaling is None)
            if scaling is not None and scaling.scaler is not None:
                rows = X[:5] if bound.columns is None else X[:5, bound.columns]
                np.testing.assert_allclose(bound.scaling.transform(rows), scaling.transform(rows))

    def test_each_fold_of_a_search_has_its_own_bank(self) -> None:
        X, y = IRIS
        member = MKLClassifier("auto", feature_map="empirical(subset=8)", combiner="ifsl")
        folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
        member.set_params(random_state=0)
        search = MKLSearchCV(member, {"learner__alpha": (1.0,)}, cv=folds, random_state=0)
        results = search.fit(X, y).cv_results_
        for place, (train, test) in enumerate(folds):
            alone = MKLClassifier(**member.get_params(deep=False))
            score = alone.set_params(learner="mhks(alpha=1.0)").fit(X[train], y[train])
            assert results[f"split{place}_test_score"][0] == score.score(X[test], y[test])
        assert any(note.startswith("kernels auto: ") for note in search.choices_)

    def test_a_fold_sees_only_its_training_rows(self, rng: np.random.Generator) -> None:
        words, y = words_of_topics(rng, 90, 40)
        X = np.hstack([words, rng.normal(size=(90, 5))])
        frame = pd.DataFrame(
            X, columns=[f"text_{n}" for n in range(40)] + [f"b_{n}" for n in range(5)]
        )
        test = np.arange(90) % 3 == 0
        changed, labels = frame.copy(), y.copy()
        changed.loc[test] = rng.permutation(rng.gamma(9.0, 50.0, (30, 45)))
        labels[test] = rng.permutation(y[test])
        fitted = []
        for table, target in ((frame, y), (changed, labels)):
            split = [(np.flatnonzero(~test), np.flatnonzero(test))]
            results = cross_validate(
                MKLClassifier("auto"), table, target, cv=split, return_estimator=True
            )
            fitted += results["estimator"]
        first, second = fitted
        np.testing.assert_array_equal(
            first.decision_function(frame), second.decision_function(frame)
        )

    def test_sources_can_be_named(self, rng: np.random.Generator) -> None:
        frame, y = three_sources(rng)
        model = MKLClassifier(["both:auto@mrna_*,clin.age", "noise@noise_*"]).fit(frame, y)
        assert columns_of_sources(model) == {"both": [0, 1, 2]}
        assert any("dropped noise" in note for note in model.choices_)
        unnamed = MKLClassifier(["auto@mrna_*,clin.age", "noise@noise_*"]).fit(frame, y)
        assert columns_of_sources(unnamed) == {"auto@mrna_*,clin.age": [0, 1, 2]}

    def test_beside_kernels_that_are_named_no_source_is_left_out(
        self, rng: np.random.Generator
    ) -> None:
        frame, y = three_sources(rng)
        model = MKLClassifier(["noise@noise_*", "m:rbf[standard]@mrna_*"]).fit(frame, y)
        assert columns_of_sources(model) == {"noise": [*range(4, 64)], "m": [0, 1]}
        assert not any("dropped" in note for note in model.choices_)
        # "auto" stands for the sources that no other kernel reads.
        model = MKLClassifier(["auto", "m:rbf[standard]@mrna_*"]).fit(frame, y)
        assert columns_of_sources(model) == {
            "clin.*": [2, 3],
            "noise": [*range(4, 64)],
            "m": [0, 1],
        }

    def test_several_sources_get_ridge_and_one_problem(self, rng: np.random.Generator) -> None:
        words, y = words_of_topics(rng, 90, 30)
        X = {"text": words, "lab": rng.normal(size=(90, 2)) + y[:, None]}
        model = MKLClassifier("auto").fit(X, y)
        assert model.learner_.name == "ridge"
        assert len(model.decisions_) == 1
        assert MKLClassifier("auto", learner="svm").fit(X, y).learner_.name == "svm"

    def test_the_learner_is_taken_that_predicts_more_rows(self) -> None:
        X, y = IRIS
        model = MKLClassifier("auto").fit(X, y)
        gram = np.zeros((150, 150))
        for bound in propose_kernels(X, y).kernels:
            rows = X if bound.scaling is None else bound.scaling.transform(X)
            gram += bound.kernel.fit(rows)(rows, rows)
        folds = StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)
        right = dict.fromkeys(("ridge", "svm"), 0)
        for train, test in folds:
            for learner in right:
                machine = MKLClassifier(Precomputed(gram), learner=learner, multiclass="ovr").fit(
                    train[:, None], y[train]
                )
                right[learner] += (machine.predict(test[:, None]) == y[test]).sum()
        (note,) = [note for note in model.choices_ if "auto: learner" in note]
        for learner, count in right.items():
            assert f"{learner} {100 * count / 150:.1f} %" in note
        assert model.learner_.name == max(right, key=right.__getitem__)
        choices = MKLClassifier("auto", learner="kda").fit(*IRIS).choices_
        assert not any("auto: learner" in note for note in choices)

    def test_the_learner_is_not_compared_on_many_rows(self, rng: np.random.Generator) -> None:
        most = proposing.MOST_EXACT
        X, y = rng.normal(size=(most + 1, 1)), np.arange(most + 1) % 2
        compared = []
        for size in (most, most + 1):
            model = MKLClassifier("auto", feature_map="empirical(subset=4)")
            choices = model.fit(X[:size], y[:size]).choices_
            compared.append(any("auto: learner" in note for note in choices))
        assert compared == [True, False]


class TestWarnings:
    """Where another representation than that of a named kernel is much better."""

    @pytest.mark.process
    def test_with_the_errors_of_both(self, rng: np.random.Generator) -> None:
        words, y = words_of_topics(rng, 90)
        lab = rng.normal(size=(90, 3)) + y[:, None]
        X = pd.DataFrame(words).add_prefix("text_").join(pd.DataFrame(lab).add_prefix("lab_"))
        model = MKLClassifier(["text:rbf[standard]@text_*", "lab:rbf[standard]@lab_*"]).fit(X, y)
        (told,) = better_representations(model, X, y)
        assert told["kernel"] == "text"
        assert told["columns"] == list(range(1000))
        assert told["spec"] == USUAL
        distances = euclidean_distances(StandardScaler().fit_transform(words))
        gram = np.exp(-(distances**2) / (2 * distances.mean() ** 2))
        targets = np.eye(3)[y]
        assert told["error"] == pytest.approx(share_by_refits(gram, targets), abs=1e-3)
        (better,) = bind_kernels(told["better"])
        (scaled,) = with_scaling([better], Rows.of(words))
        (read,) = Rows.of(words).arrays_of([scaled])
        best = better.kernel.fit(read)(read, read)
        assert told["better_error"] == pytest.approx(share_by_refits(best, targets), abs=1e-3)
        assert told["better_error"] < 0.8 * told["error"]
        # Nothing is said once it is followed, and of kernels that fit chooses.
        followed = MKLClassifier([f"text:{told['better']}@text_*", "lab@lab_*"]).fit(X, y)
        assert better_representations(followed, X, y) == []

    def test_a_sum_of_kernels_is_judged_as_a_whole(self, rng: np.random.Generator) -> None:
        words, y = words_of_topics(rng, 90)
        for kernels, is_told in (
            (["rbf[standard]"], True),
            (["rbf[standard]", "cosine[none]"], False),
        ):
            model = MKLClassifier(kernels).fit(words, y)
            assert bool(better_representations(model, words, y)) == is_told

    @pytest.mark.parametrize("seed", range(4))
    def test_of_noise_nothing_is_said(self, seed: int) -> None:
        X = np.random.default_rng(seed).gamma(1.0, size=(60, 5))
        y = np.arange(60) % 2
        model = MKLClassifier("rbf[standard]").fit(X, y)
        assert better_representations(model, X, y) == []

    def test_without_targets_nothing_is_said(self, rng: np.random.Generator) -> None:
        X = rng.normal(size=(30, 3))
        assert better_representations(MKLOneClass("rbf").fit(X), X, None) == []


class TestCandidates:
    """They come from the kernels' own traits."""

    def test_the_usual_one_comes_first(self) -> None:
        specs = [kernel_spec(bound) for bound in proposed_kernels("numbers")]
        assert specs[0] == USUAL
        assert len(set(specs)) == len(specs)

    def test_a_proposal_that_cannot_be_made_names_its_kernel(
        self, rng: np.random.Generator, tmp_path: Path
    ) -> None:
        frame, y = three_sources(rng)
        frame.assign(target=y).to_csv(tmp_path / "data.csv", index=False)
        site = on_path(write_plugin(tmp_path / "site", "odd", ODD_PROPOSAL))
        fit = run_in_process("fit", tmp_path / "data.csv", "-k", "auto", **site)
        fit.refused("Kernel 'odd' proposes 'lineare'", "id you mean")

    def test_kernels_of_pairs_are_tried_on_few_columns_only(self, rng: np.random.Generator) -> None:
        y = np.arange(40) % 2
        for n_columns in (proposing.FEW_COLUMNS, proposing.FEW_COLUMNS + 1):
            X = rng.normal(size=(40, n_columns)) + y[:, None]
            notes = " ".join(propose_kernels(X, y).notes)
            assert ("laplacian" in notes) == (n_columns <= proposing.FEW_COLUMNS)


class TestOddTables:
    """What is chosen, or at least fitted, where gaps, groups or labels are unusual."""

    def test_a_negative_value_among_samples_that_are_not_compared(
        self, rng: np.random.Generator
    ) -> None:
        y = np.arange(600) % 2
        counts = rng.poisson(np.where(y[:, None] == 1, 4.0, 3.0), (600, 30)).astype(float)
        drawn = drawn_by_class(y, proposing.ROWS_OF_A_LONE_SOURCE)
        counts[np.setdiff1d(np.arange(600), drawn)[0], 0] = -1
        model = MKLClassifier().fit(counts, y)
        assert not any(bound.scale in AMOUNTS for bound in model.bound_kernels_)

    @pytest.mark.parametrize("n_present", [1, 2, 6])
    def test_a_source_that_one_group_has_tells_nothing(
        self, n_present: int, rng: np.random.Generator
    ) -> None:
        groups, y = np.arange(60) // 6, np.arange(60) % 2
        X = rng.normal(size=(60, 5))
        rare = np.where(np.arange(60)[:, None] < n_present, X, np.nan)
        model = MKLClassifier().fit({"a": X, "b": rare}, y, groups=groups)
        assert model.kernel_names_ == ["a", "b"]

    def test_groups_that_are_the_classes_leave_no_learner_to_compare(
        self, rng: np.random.Generator
    ) -> None:
        y = np.arange(60) % 2
        X = rng.normal(size=(60, 5)) + y[:, None]
        model = MKLClassifier().fit(X, y, groups=y)
        assert not any("learner" in note and "folds" in note for note in model.choices_)

    def test_what_was_chosen_may_be_kernels_of_another_fit(self) -> None:
        X, y = load_iris(return_X_y=True)
        model = MKLClassifier().fit(X[::2], y[::2])
        again = MKLClassifier(model.bound_kernels_, learner=model.learner_).fit(X[::2], y[::2])
        assert again.kernel_names_ == model.kernel_names_
        np.testing.assert_allclose(
            again.decision_function(X), model.decision_function(X), rtol=1e-9, atol=1e-12
        )

    def test_numeric_targets_of_many_samples_are_learned_through_landmarks(
        self, rng: np.random.Generator
    ) -> None:
        X = rng.normal(size=(proposing.MOST_SOLVED + 1, 2))
        model = MKLRegressor().fit(X, np.sin(X).sum(axis=1))
        assert model.feature_map_.subset == 1000
        assert model.score(X, np.sin(X).sum(axis=1)) > 0.99

    @pytest.mark.parametrize(("most", "landmarks"), [(100, True), (200, False)])
    def test_the_learner_of_many_samples_is_told(
        self, rng: np.random.Generator, monkeypatch: Any, most: int, landmarks: bool
    ) -> None:
        monkeypatch.setattr(proposing, "MOST_COMPARED", most)
        X = rng.normal(size=(150, 2))
        model = MKLClassifier().fit(X, X[:, 0] > 0)
        assert (model.feature_map_.name == "empirical") is landmarks
        told = [note for note in model.choices_ if f"learner {model.learner_.name}" in note]
        assert len(told) == 1
        assert told[0].endswith("there are 150 samples") is landmarks
