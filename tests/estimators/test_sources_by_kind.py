"""kernels="auto" on text, categories, counts and dates: recognised, compared, fitted."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics.pairwise import chi2_kernel, cosine_similarity
from sklearn.preprocessing import StandardScaler

import mklkit
from mklkit import MKLClassifier, build_pipeline, propose_kernels
from mklkit.datasets import load_table
from mklkit.errors import DataError
from mklkit.estimators.sources import counts_in, is_free_text

N = 60


@pytest.fixture
def table(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Return two numbers, a comment, two categories and six counts, each of some use."""
    y = np.arange(N) % 2
    words = np.array(["pain", "fever", "cough", "rash", "rest", "walk", "Müdigkeit", "咳"])
    mood = np.where(y == 1, "badly", "well")
    frame = pd.DataFrame(rng.normal(size=(N, 2)) + y[:, None], columns=["age", "weight"])
    frame["comment"] = [f"{' '.join(rng.choice(words, 4))} slept {word}" for word in mood]
    frame["color"] = np.where(rng.random(N) < 0.2 + 0.5 * y, "red", "blue")
    frame["site"] = rng.choice(["north", "south", None], N)
    for place in range(6):
        frame[f"n{place}"] = rng.poisson(0.9 + 1.5 * y * (place < 3))
    return frame, y


def alignment(gram: np.ndarray, y: np.ndarray) -> float:
    """Return the centred alignment with the same-class matrix."""
    middle = np.eye(len(y)) - 1 / len(y)
    first, second = middle @ gram @ middle, middle @ (y[:, None] == y) @ middle
    return float(np.vdot(first, second) / np.linalg.norm(first) / np.linalg.norm(second))


def told(notes: Any) -> str:
    (note,) = [note for note in notes if "sources found" in note]
    return str(note).partition("sources found: ")[2]


class TestRecognised:
    """What columns are taken for."""

    @pytest.mark.parametrize(
        ("texts", "free"),
        [
            ([f"slept {n} hours" for n in range(30)], True),
            (["".join(np.random.RandomState(n).choice(list("ACGT"), 25)) for n in range(30)], True),
            (
                [
                    f"昨日は{chr(0x4E00 + n)}時間眠りましたがまだとても疲れています"
                    for n in range(30)
                ],
                True,
            ),
            ([f"slept {n} hours" for n in range(19)], False),
            ([f"ward {n % 10} of the hospital" for n in range(60)], False),
            ([f"patient {n}" for n in range(30)], False),
            ([f"{n:032x}" for n in range(30)], False),
            ([None] * 30, False),
            (list(range(30)), False),
            ([], False),
        ],
    )
    def test_free_text(self, texts: list[Any], free: bool) -> None:
        assert is_free_text(pd.Series(texts, dtype=object)) == free

    def test_counts(self, rng: np.random.Generator) -> None:
        counts = pd.DataFrame(rng.poisson(0.8, (50, 5))).add_prefix("rna_")
        tail = pd.DataFrame(rng.lognormal(3, 1.5, (50, 5)).round()).add_prefix("cell_")
        ages = pd.DataFrame(rng.integers(20, 80, (50, 5))).add_prefix("age_")
        yes = pd.DataFrame(rng.integers(0, 2, (50, 5))).add_prefix("yes_")
        frame = pd.concat([ages, counts, yes, tail], axis=1)
        expected = [*range(5, 10), *range(15, 20)]
        assert counts_in(frame) == expected
        assert counts_in(frame.assign(rna_0=frame["rna_0"].replace(0, np.nan))) == expected[5:]
        assert counts_in(-frame) == []
        assert counts_in(frame.iloc[:0]) == []
        chosen = frame.iloc[:, expected]
        assert counts_in(chosen) == [*range(10)]  # the same once the others are scaled

    def test_a_table_is_told_in_one_note(self, table: Any) -> None:
        frame, y = table
        notes = propose_kernels(frame, y).notes
        assert told(notes) == "numbers (2), counts (6), text: comment, categories (2)"
        names = {f"n{n}": f"gut_{n}" for n in range(6)} | {"age": "lab_age", "weight": "lab_weight"}
        notes = propose_kernels(frame.rename(columns=names), y).notes
        assert told(notes) == "lab_* (2), gut_* counts (6), text: comment, categories (2)"

    def test_dates_have_a_source_of_their_parts(self, table: Any) -> None:
        frame, y = table
        frame = frame[["age", "color"]].assign(
            visit=pd.date_range("2024-01-01", periods=N, freq="97h").strftime("%d.%m.%Y %H:%M")
        )
        model = build_pipeline(MKLClassifier("auto")).fit(frame, y)
        assert told(model[-1].choices_) == "numbers (1), visit (4), categories (1)"
        with pytest.raises(DataError, match="TableEncoder"):
            MKLClassifier("auto").fit(frame.assign(visit=pd.to_datetime("2024-01-01")), y)


class TestCompared:
    """Kernels on each kind against those of scikit-learn."""

    def test_alignments_are_those_of_gram_matrices(self, table: Any) -> None:
        frame, y = table
        words = CountVectorizer(token_pattern=r"\w+").fit_transform(frame["comment"])
        letters = CountVectorizer(analyzer="char", ngram_range=(3, 3), lowercase=False)
        categories = frame[["color", "site"]].to_numpy()
        same = (categories[:, None] == categories) & pd.notna(categories)
        known = pd.notna(categories).sum(axis=1)
        counts = frame[[f"n{n}" for n in range(6)]].to_numpy(float)
        distance = -np.log(chi2_kernel(counts, gamma=1.0))
        expected = {
            "spectrum(k=1, words=True)@comment": cosine_similarity(words),
            "spectrum(k=3)@comment": cosine_similarity(letters.fit_transform(frame["comment"])),
            "overlap@categories": same.sum(axis=2) / np.sqrt(np.outer(known, known)),
            "chi2@counts": np.exp(-distance / (distance.sum() / (N * (N - 1)))),
        }
        notes = " ".join(propose_kernels(frame, y).notes)
        for label, gram in expected.items():
            (shown,) = re.findall(rf"{re.escape(label)} \(alignment (\d\.\d\d)\)", notes)
            assert float(shown) == pytest.approx(alignment(gram, y), abs=0.0051)

    def test_the_model_is_that_of_its_kernels_by_name(self, table: Any) -> None:
        frame, y = table
        model = MKLClassifier("auto").fit(frame, y)
        assert any(name.endswith("@comment") for name in model.kernel_names_)
        names = model.feature_names_in_
        columns = [names[places].tolist() for places in model.kernel_columns_]
        named = zip(model.kernel_names_, model.kernels_, columns, strict=True)
        same = MKLClassifier(list(named), learner=model.learner_).fit(frame, y)
        decided = model.decision_function(frame)
        np.testing.assert_allclose(same.decision_function(frame), decided, atol=1e-8)


class TestPipelines:
    """Tables whose numbers are scaled and whose categories are one-hot encoded."""

    def test_text_and_counts_pass_and_categories_do_beside_their_columns(self, table: Any) -> None:
        frame, y = table
        model = build_pipeline(MKLClassifier("auto")).fit(frame, y)
        out = model[:-1].transform(frame)
        assert out["comment"].equals(frame["comment"])
        assert out["site"].fillna("gap").equals(frame["site"].fillna("gap"))
        assert {"site_north", "site_south", "site_missing", "color_red"} <= set(out)
        np.testing.assert_array_equal(out[[f"n{n}" for n in range(6)]], frame.filter(regex=r"n\d"))
        scaled = StandardScaler().fit_transform(frame[["age", "weight"]])
        np.testing.assert_allclose(out[["age", "weight"]], scaled)
        assert told(model[-1].choices_).startswith("numbers (2), counts (6), text: comment")

    def test_explaining_keeps_what_was_recognised(self, table: Any) -> None:
        frame, y = table
        model = build_pipeline(MKLClassifier("auto", random_state=0)).fit(frame, y)
        result = mklkit.explain(model, frame, y, cv=2)
        assert list(result.kernels["kernel"]) == model[-1].kernel_names_

    def test_a_sequence_is_learned_from(self) -> None:
        rows = load_table("mixed_sources")
        model = build_pipeline(MKLClassifier("auto")).fit(rows.features[:300], rows.target[:300])
        assert any(name.startswith("spectrum") for name in model[-1].kernel_names_)
        assert model.score(rows.features[300:], rows.target[300:]) > 0.85


@pytest.mark.parametrize("column", ["same", None, "Ünï çødé 漢字 😀"])
@pytest.mark.parametrize("piped", [True, False])
def test_odd_columns_are_no_trouble(column: Any, piped: bool, rng: np.random.Generator) -> None:
    frame = pd.DataFrame({"a": rng.normal(size=12), "odd": [column] * 12})
    model: Any = build_pipeline(MKLClassifier("auto")) if piped else MKLClassifier("auto")
    assert len(model.fit(frame, np.arange(12) % 2).predict(frame)) == 12


@pytest.mark.parametrize("columns", [["comment"], ["site"], ["comment", "age"], ["n1", "site"]])
def test_few_rows_and_few_columns(columns: list[str], table: Any) -> None:
    frame, y = table
    for rows in (2, N):
        part = frame[columns][:rows].fillna("none")
        for model in (MKLClassifier("auto"), build_pipeline(MKLClassifier("auto"))):
            assert len(model.fit(part, y[:rows]).predict(part)) == rows
