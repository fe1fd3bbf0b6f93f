"""kernels="auto": candidates by column group, pruned by centred alignment."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold

import mklkit
from mklkit import MKLClassifier, MKLSearchCV, propose_kernels
from mklkit.errors import SpecError
from mklkit.estimators import proposing
from mklkit.estimators.sources import column_groups
from mklkit.kernels import Linear, Precomputed
from mklkit.plugin import KernelTraits
from mklkit.registry.columns import bind_kernels, proposed_specs

IRIS = load_iris(return_X_y=True)


def _choices(kernels: str, **parts: Any) -> list[str]:
    return list(MKLClassifier(kernels, **parts).fit(*IRIS).choices_)


def centered(gram: np.ndarray) -> np.ndarray:
    middle = np.eye(len(gram)) - 1 / len(gram)
    return middle @ gram @ middle


def cosine(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.vdot(first, second) / np.linalg.norm(first) / np.linalg.norm(second))


def three_sources(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Return two sources with a column each that tells two classes apart, and 60 of noise."""
    y = np.arange(80) % 2
    names = ["mrna_1", "mrna_2", "clin.age", "clin.bmi", *(f"noise_{i}" for i in range(60))]
    frame = pd.DataFrame(rng.normal(size=(80, 64)), columns=names)
    frame["mrna_1"] += 2 * y
    frame["clin.age"] += 2 * y
    return frame, y


def columns_of_sources(model: MKLClassifier) -> dict[str, list[int]]:
    """Return the columns of each source of which a kernel was taken."""
    pairs = zip(model.kernel_names_, model.kernel_columns_, strict=True)
    return {name.partition("@")[2]: columns.tolist() for name, columns in pairs}


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
        names = [f"g{group}_{place}" for group in range(12) for place in range(2 + (group > 3))]
        groups = column_groups(names)
        assert len(groups) == 9
        assert list(groups)[-1] == "others"
        assert len(groups["others"]) == 8


class TestBank:
    """What is taken and what is left out."""

    def test_alignments_are_those_of_gram_matrices(self) -> None:
        X, y = IRIS
        bank = propose_kernels(X, y)
        same = centered((y[:, None] == y).astype(float))
        said = [note for note in bank.notes if note.startswith("kernels auto: took")]
        assert len(said) == len(bank.kernels)
        for kernel, note in zip(bank.kernels, said, strict=True):
            value = cosine(centered(kernel.kernel.fit(X)(X, X)), same)
            assert note == f"kernels auto: took {kernel.label} (alignment {value:.2f})"

    def test_one_of_two_that_are_alike_is_kept(self) -> None:
        X, y = IRIS
        bank = propose_kernels(X, y)
        (note,) = [note for note in bank.notes if "similar to one taken" in note]
        pairs = re.findall(r"([^ ]+) \(([\d.]+) with ([^,]+)\)(?:,|$)", note)
        assert pairs
        for left_out, value, kept in pairs:
            bound = bind_kernels([left_out, kept])
            grams = [centered(kernel.kernel.fit(X)(X, X)) for kernel in bound]
            assert float(value) == pytest.approx(cosine(*grams), abs=5e-4)
            assert cosine(*grams) > 0.99
            assert all(left_out != kernel.label for kernel in bank.kernels)

    def test_sources_that_tell_classes_apart_are_taken_and_noise_is_not(
        self, rng: np.random.Generator
    ) -> None:
        frame, y = three_sources(rng)
        model = MKLClassifier("auto").fit(frame, y)
        columns = columns_of_sources(model)
        assert columns == {"mrna_*": [0, 1], "clin.*": [2, 3]}
        assert model.score(frame, y) > 0.85

    def test_order_of_rows_does_not_matter(self, rng: np.random.Generator) -> None:
        frame, y = three_sources(rng)
        order = rng.permutation(len(y))
        first = MKLClassifier("auto", random_state=1).fit(frame, y)
        reordered = MKLClassifier("auto", random_state=2).fit(frame.iloc[order], y[order])
        assert first.kernel_names_ == reordered.kernel_names_

    def test_few_rows_and_constant_columns(self) -> None:
        bank = propose_kernels([[0.0], [1.0]], [0, 1])
        assert 1 <= len(bank.kernels) <= 8
        rows = np.column_stack([np.ones(20), np.arange(20.0)])
        assert (
            MKLClassifier("auto").fit(rows, np.arange(20) > 9).score(rows, np.arange(20) > 9) > 0.8
        )
        assert MKLClassifier("auto").fit(np.ones((6, 2)), [0, 1] * 3).kernel_names_

    def test_many_groups_have_a_limit_of_candidates(self, rng: np.random.Generator) -> None:
        names = [f"g{group}_{place}" for group in range(30) for place in range(2)]
        frame = pd.DataFrame(rng.normal(size=(30, 60)), columns=names)
        bank = propose_kernels(frame, np.arange(30) % 3)
        assert f"of {proposing.MOST_CANDIDATES} candidates" in bank.notes[1]
        assert len(bank.kernels) <= proposing.MOST_TAKEN


class TestInEstimators:
    """Everything that takes kernels takes "auto"."""

    def test_partial_fit_keeps_the_bank_of_the_first_rows(self, tmp_path: Path) -> None:
        X, y = IRIS
        model = MKLClassifier("auto", feature_map="empirical(subset=10)", learner="kda")
        model.partial_fit(X[::2], y[::2], classes=[0, 1, 2])
        first = model.kernel_names_
        assert first == [kernel.label for kernel in propose_kernels(X[::2], y[::2]).kernels]
        mklkit.save_model(model, tmp_path / "m.mkl")
        loaded = mklkit.load_model(tmp_path / "m.mkl")
        assert loaded.kernels == "auto"
        assert loaded.partial_fit(X[1::2], y[1::2]).kernel_names_ == first

    def test_each_fold_of_a_search_has_its_own_bank(self) -> None:
        X, y = IRIS
        member = MKLClassifier("auto", feature_map="empirical(subset=8)", combiner="ifsl")
        folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
        member.set_params(random_state=0)
        search = MKLSearchCV(member, {"learner__alpha": (1.0,)}, cv=folds, random_state=0)
        results = search.fit(X, y).cv_results_
        banks = set()
        for place, (train, test) in enumerate(folds):
            alone = MKLClassifier(**member.get_params(deep=False)).fit(X[train], y[train])
            score = alone.set_params(learner="mhks(alpha=1.0)").fit(X[train], y[train])
            assert results[f"split{place}_test_score"][0] == score.score(X[test], y[test])
            banks.add(tuple(alone.kernel_names_))
        assert any(note.startswith("kernels auto: took") for note in search.choices_)

    def test_sources_can_be_named(self, rng: np.random.Generator) -> None:
        frame, y = three_sources(rng)
        model = MKLClassifier(["auto@mrna_*,clin.age", "auto@noise_*"]).fit(frame, y)
        assert columns_of_sources(model)["mrna_*,clin.age"] == [0, 1, 2]
        assert any("others (1)" in note for note in model.choices_)

    def test_the_learner_is_taken_that_predicts_more_rows(self) -> None:
        X, y = IRIS
        model = MKLClassifier("auto").fit(X, y)
        gram = sum(kernel.kernel.fit(X)(X, X) for kernel in propose_kernels(X, y).kernels)
        folds = StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)
        right = dict.fromkeys(("ridge", "svm"), 0)
        for train, test in folds:
            for learner in right:
                machine = MKLClassifier(Precomputed(gram), learner=learner, multiclass="ovr").fit(
                    train[:, None], y[train]
                )
                right[learner] += (machine.predict(test[:, None]) == y[test]).sum()
        (note,) = [note for note in model.choices_ if "took learner" in note]
        for learner, count in right.items():
            assert f"{learner} {100 * count / 150:.1f} %" in note
        assert model.learner_.name == max(right, key=right.__getitem__)
        assert not any("took learner" in note for note in _choices("auto", learner="kda"))

    def test_the_learner_is_not_compared_on_many_rows(self, rng: np.random.Generator) -> None:
        X, y = rng.normal(size=(2001, 1)), np.arange(2001) % 2
        compared = []
        for size in (2000, 2001):
            model = MKLClassifier("auto", feature_map="empirical(subset=4)")
            choices = model.fit(X[:size], y[:size]).choices_
            compared.append(any("took learner" in note for note in choices))
        assert compared == [True, False]

    @pytest.mark.parametrize("kernels", [["auto", "linear"], ["rbf", "auto"], ["auto", "auto@0"]])
    def test_beside_other_kernels_it_is_refused(self, kernels: list[str]) -> None:
        with pytest.raises(SpecError, match="give it alone"):
            MKLClassifier(kernels).fit(*IRIS)


class TestCandidates:
    """They come from the kernels' own traits."""

    def test_a_proposal_that_cannot_be_made_names_its_kernel(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        traits = KernelTraits(proposed=("lineare",))
        monkeypatch.setattr(Linear, "traits", traits)
        with pytest.raises(SpecError, match=r"'linear' proposes 'lineare' .*[Dd]id you mean"):
            proposed_specs()
