"""kernels="auto" on text, categories, numbers and dates: recognised, compared, fitted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import cosine_similarity

import mklkit
from mklkit import MKLClassifier, build_pipeline, propose_kernels
from mklkit.datasets import load_table
from mklkit.errors import DataError
from mklkit.estimators.proposing import RIDGES
from mklkit.estimators.sources import is_free_text

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


def share_of_error(gram: np.ndarray, y: np.ndarray) -> float:
    """Return the leave-one-out error of ridge regression in relation to that of the mean."""
    values, vectors = np.linalg.eigh(gram)
    features = vectors * np.sqrt(np.maximum(values, 0))
    spread = ((features - features.mean(axis=0)) ** 2).sum(axis=1).mean()
    targets = np.eye(2)[y]
    totals = np.zeros(len(RIDGES) + 1)
    for row in range(len(y)):
        rest = np.arange(len(y)) != row
        fits = (Ridge(alpha=r * spread).fit(features[rest], targets[rest]) for r in RIDGES)
        answers = [targets[rest].mean(axis=0), *(f.predict(features[[row]])[0] for f in fits)]
        totals += ((targets[row] - answers) ** 2).sum(axis=1)
    return float(totals[1:].min() / totals[0])


def told(notes: Iterable[str]) -> list[str]:
    """Return the sources of which notes tell what was chosen."""
    chosen = [
        re.match(r"kernels auto: (?!dropped)(.*?): .*, leave-one-out error", note) for note in notes
    ]
    return [match[1] for match in chosen if match is not None]


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

    def test_each_kind_is_a_source(self, table: Any) -> None:
        frame, y = table
        assert told(propose_kernels(frame, y).notes) == ["numbers", "comment", "categories"]
        names = {f"n{n}": f"gut_{n}" for n in range(6)} | {"age": "lab_age", "weight": "lab_weight"}
        notes = propose_kernels(frame.rename(columns=names), y).notes
        assert told(notes) == ["lab", "gut", "comment", "categories"]

    def test_a_column_that_is_named_alone(self, table: Any) -> None:
        frame, y = table
        kernels = ["note:auto@comment", "where:auto@site", "who@age,color,comment"]
        notes = propose_kernels(frame, y, kernels).notes
        assert {"note", "where", "who", "comment", "categories"} == {*told(notes)}

    def test_dates_have_a_source_of_their_parts(self, table: Any) -> None:
        frame, y = table
        frame = frame[["age", "color"]].assign(
            visit=pd.date_range("2024-01-01", periods=N, freq="97h").strftime("%d.%m.%Y %H:%M")
        )
        model = build_pipeline(MKLClassifier("auto")).fit(frame, y)
        assert told(model[-1].choices_) == ["numbers", "visit", "categories"]
        with pytest.raises(DataError, match="TableEncoder"):
            MKLClassifier("auto").fit(frame.assign(visit=pd.to_datetime("2024-01-01")), y)


class TestCompared:
    """Kernels on each kind against those of scikit-learn."""

    @pytest.mark.process
    def test_errors_are_those_of_refits_on_gram_matrices(self, table: Any) -> None:
        frame, y = table
        words = CountVectorizer(token_pattern=r"\w+").fit_transform(frame["comment"])
        categories = frame[["color", "site"]].to_numpy()
        same = (categories[:, None] == categories) & pd.notna(categories)
        known = pd.notna(categories).sum(axis=1)
        expected = {
            "comment: spectrum(k=1, words=True)": cosine_similarity(words),
            "categories: overlap": same.sum(axis=2) / np.sqrt(np.outer(known, known)),
        }
        notes = " ".join(propose_kernels(frame, y).notes)
        for spec, gram in expected.items():
            (shown,) = re.findall(rf"{re.escape(spec)}, leave-one-out error (\d\.\d\d)", notes)
            assert float(shown) == pytest.approx(share_of_error(gram, y), abs=0.0051)

    def test_the_model_is_that_of_its_kernels_by_name(self, table: Any) -> None:
        frame, y = table
        model = MKLClassifier("auto").fit(frame, y)
        assert "comment" in model.kernel_names_
        names = model.feature_names_in_
        named = [
            (k.label, k.kernel, names[k.columns].tolist(), k.scaling and k.scaling.name)
            for k in model.bound_kernels_
        ]
        same = MKLClassifier(named, learner=model.learner_).fit(frame, y)
        decided = model.decision_function(frame)
        np.testing.assert_allclose(same.decision_function(frame), decided, atol=1e-8)


class TestPipelines:
    """Tables whose categories are one-hot encoded."""

    def test_text_passes_and_categories_do_beside_their_columns(self, table: Any) -> None:
        frame, y = table
        model = build_pipeline(MKLClassifier("auto")).fit(frame, y)
        out = model[:-1].transform(frame)
        assert out["comment"].equals(frame["comment"])
        assert out["site"].fillna("gap").equals(frame["site"].fillna("gap"))
        assert {"site_north", "site_south", "site_missing", "color_red"} <= set(out)
        numbers = ["age", "weight", *(f"n{n}" for n in range(6))]
        np.testing.assert_array_equal(out[numbers], frame[numbers])
        assert told(model[-1].choices_) == ["numbers", "comment", "categories"]
        # The one-hot columns are no source of their own.
        read = [out.columns[places].tolist() for places in model[-1].kernel_columns_]
        assert not any(name.startswith(("site_", "color_")) for names in read for name in names)

    def test_explaining_keeps_what_was_recognised(self, table: Any) -> None:
        frame, y = table
        model = build_pipeline(MKLClassifier("auto", random_state=0)).fit(frame, y)
        result = mklkit.explain(model, frame, y, cv=2)
        # Also of sources that the model dropped, which a fit on a fold may choose.
        assert set(result.kernels["kernel"]) == {"numbers", "comment", "categories"}
        assert set(model[-1].kernel_names_) <= set(result.kernels["kernel"])

    def test_a_sequence_is_learned_from(self) -> None:
        rows = load_table("mixed_sources")
        model = build_pipeline(MKLClassifier("auto")).fit(rows.features[:300], rows.target[:300])
        assert any(kernel.name == "spectrum" for kernel in model[-1].kernels_)
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
