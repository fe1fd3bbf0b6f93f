"""Sources that the names of columns, or the labels of kernels, tell."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from mklkit import (
    MKLClassifier,
    MKLSearchCV,
    alignment_matrix,
    build_pipeline,
    compare,
    cross_validate,
    explain,
    join_sources,
    propose_kernels,
)
from mklkit.errors import SpecError
from mklkit.estimators.on_sources import on_sources
from mklkit.protocols.splits.making import make_splits

N = 80


@pytest.fixture(scope="module")
def sources() -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(0)
    classes = np.arange(N)[:, None] % 2
    return {
        "genes": pd.DataFrame(rng.normal(size=(N, 12)) + 0.6 * classes),
        "dose": pd.DataFrame(rng.normal(size=(N, 3)) + 0.9 * classes),
    }


@pytest.fixture(scope="module")
def labels() -> np.ndarray:
    return np.where(np.arange(N) % 2, "ill", "well")


LIKE_SOURCES = ["genes:rbf[none]", "dose:rbf[none]"]
WITH_COLUMNS = ["genes:rbf[none]@genes_*", "dose:rbf[none]@dose_*"]


class TestLabels:
    @pytest.mark.parametrize("in_one_table", [True, False])
    def test_a_kernel_that_is_named_like_a_source_reads_it(
        self, sources: Any, labels: np.ndarray, in_one_table: bool
    ) -> None:
        X = join_sources(sources)
        expected = MKLClassifier(WITH_COLUMNS).fit(X, labels)
        rows = X if in_one_table else sources
        decisions = MKLClassifier(LIKE_SOURCES).fit(rows, labels).decision_function(rows)
        np.testing.assert_array_equal(decisions, expected.decision_function(X))

    def test_so_it_does_after_an_encoder_which_leaves_the_gaps_of_samples_without_it(
        self, sources: Any, labels: np.ndarray
    ) -> None:
        X = join_sources(sources)
        X.loc[:20, [name for name in X if name.startswith("dose")]] = np.nan
        decisions = [
            build_pipeline(MKLClassifier(kernels)).fit(X, labels).decision_function(X)
            for kernels in (LIKE_SOURCES, WITH_COLUMNS)
        ]
        np.testing.assert_array_equal(*decisions)

    def test_sources_to_choose_kernels_for_are_named_alike(
        self, sources: Any, labels: np.ndarray
    ) -> None:
        model = MKLClassifier(["genes:auto", "dose:auto"]).fit(sources, labels)
        assert [len(columns) for columns in model.kernel_columns_] == [12, 3]

    def test_so_they_are_in_alignments_and_proposals(
        self, sources: Any, labels: np.ndarray
    ) -> None:
        X = join_sources(sources)
        expected = alignment_matrix(WITH_COLUMNS, X)
        for rows in (X, sources):
            pd.testing.assert_frame_equal(alignment_matrix(LIKE_SOURCES, rows), expected)
            bank = propose_kernels(rows, labels, ["genes:auto", "dose:rbf"])
            assert [len(bound.columns) for bound in bank.kernels] == [12, 3]

    def test_almost_the_name_of_a_source_is_an_error(
        self, sources: Any, labels: np.ndarray
    ) -> None:
        with pytest.raises(SpecError, match=r"'gene'.*'genes'"):
            MKLClassifier(["gene:rbf", "dose:rbf"]).fit(sources, labels)

    @pytest.mark.parametrize("in_pipeline", [True, False])
    @pytest.mark.parametrize("label", ["gene", "Genes", "dos"])
    def test_so_it_is_if_the_names_of_columns_tell_sources(
        self, sources: Any, labels: np.ndarray, label: str, in_pipeline: bool
    ) -> None:
        X = join_sources(sources)
        nearest = "dose" if label == "dos" else "genes"
        for kernel in (f"{label}:rbf", f"{label}:auto"):
            model = MKLClassifier([kernel, "dose:rbf" if label != "dos" else "genes:rbf"])
            with pytest.raises(SpecError, match=rf"'{label}'.*'{nearest}'"):
                (build_pipeline(model) if in_pipeline else model).fit(X, labels)
        with pytest.raises(SpecError, match=rf"'{label}'.*'{nearest}'"):
            compare(X, labels, kernels=[f"{label}:rbf"], cv="2x1")

    def test_a_label_unlike_any_source_or_with_columns_is_free(
        self, sources: Any, labels: np.ndarray
    ) -> None:
        X = join_sources(sources)
        for kernel, places in (("gene:rbf@*", None), ("whole:rbf", None), ("gene:rbf@dose_*", 3)):
            columns = MKLClassifier([kernel]).fit(X, labels).kernel_columns_[0]
            assert (columns if places is None else len(columns)) == places

    def test_a_source_may_be_called_auto(self, sources: Any, labels: np.ndarray) -> None:
        model = MKLClassifier().fit({"auto": sources["genes"], "dose": sources["dose"]}, labels)
        assert np.concatenate(model.kernel_columns_).tolist() == list(range(15))

    def test_labels_that_repeat_are_numbered(self, labels: np.ndarray) -> None:
        notes = [f"the patient number {place} came in the morning" for place in range(N)]
        X = pd.DataFrame({"a": np.arange(N) % 7, "b": np.arange(N) % 2, "numbers": notes})
        model = MKLClassifier("auto").fit(X, labels)
        names = [source.label for source in model.fitted_.plan.sources]
        assert names == ["numbers", "numbers #2"]


class TestMappingsThatBecomeOneTable:
    def test_cross_validation_fits_as_on_the_mapping(
        self, sources: Any, labels: np.ndarray
    ) -> None:
        result = cross_validate(MKLClassifier(), sources, labels, cv=3)
        for split, fold in zip(make_splits(labels, 3), result.folds, strict=True):
            train, test = (
                {name: X.iloc[rows] for name, X in sources.items()}
                for rows in (split.train, split.test)
            )
            model = MKLClassifier().fit(train, labels[split.train])
            assert fold["accuracy"] == model.score(test, labels[split.test])

    def test_compare_and_explain_read_the_sources(self, sources: Any, labels: np.ndarray) -> None:
        few: dict[str, Any] = {"cv": "2x1", "baselines": "none", "methods": "uniform"}
        X = join_sources(sources)
        tables = [
            compare(rows, labels, kernels=kernels, **few).table().set_index("method")["accuracy"]
            for rows, kernels in ((sources, LIKE_SOURCES), (X, WITH_COLUMNS))
        ]
        assert tables[0].drop("rbf on all columns", errors="ignore").to_dict() == {
            name: accuracy for name, accuracy in tables[1].items() if name != "rbf on all columns"
        }
        losses = []
        for rows, kernels in ((sources, LIKE_SOURCES), (X, WITH_COLUMNS)):
            model = MKLClassifier(kernels).fit(rows, labels)
            losses.append(explain(model, rows, labels, cv=2).kernels["left_out"])
        np.testing.assert_array_equal(*losses)

    def test_estimators_in_pipelines_and_searches_are_changed_too(self, sources: Any) -> None:
        search = MKLSearchCV(MKLClassifier(["dose:linear", "auto"]))
        changed, table = on_sources(build_pipeline(search), sources)
        assert changed[-1].estimator.kernels == [
            ("dose", "linear", "dose_*", None),
            ("genes", "auto", "genes_*", None),
        ]
        assert list(table)[-1] == "dose_2"
        assert search.estimator.kernels == ["dose:linear", "auto"]


class TestDefaults:
    def test_samples_without_a_source_keep_its_gaps(self, sources: Any, labels: np.ndarray) -> None:
        X = join_sources(sources)
        X.loc[::3, [name for name in X if name.startswith("dose")]] = np.nan
        named = ["genes:auto@genes_*", "dose:auto@dose_*"]
        decisions = [
            build_pipeline(MKLClassifier(kernels)).fit(X, labels).decision_function(X)
            for kernels in (None, "auto", named)
        ]
        np.testing.assert_array_equal(decisions[0], decisions[2])
        np.testing.assert_array_equal(decisions[1], decisions[2])

    def test_a_comparison_chooses_a_kernel_for_each_source(
        self, sources: Any, labels: np.ndarray
    ) -> None:
        few: dict[str, Any] = {"cv": "2x1", "baselines": "none"}
        X = join_sources(sources)
        default = compare(X, labels, methods="centered-alignment", **few)
        named = ["genes:auto@genes_*", "dose:auto@dose_*"]
        expected = compare(X, labels, methods="centered-alignment", kernels=named, **few)
        pd.testing.assert_series_equal(
            default.table().set_index("method")["accuracy"],
            expected.table().set_index("method")["accuracy"],
        )
        assert {"genes", "dose", "rbf on all columns"} <= {*default.table()["method"]}

    def test_a_lone_source_keeps_its_name(self, sources: Any, labels: np.ndarray) -> None:
        model = MKLClassifier().fit({"genes": sources["genes"]}, labels)
        assert all(name.startswith("genes") for name in model.kernel_names_)

    def test_a_column_may_be_named_like_a_slice(self, labels: np.ndarray) -> None:
        X = pd.DataFrame(np.random.default_rng(0).normal(size=(N, 3)), columns=[":", "b", "c"])
        assert MKLClassifier().fit(X, labels).kernel_columns_ == [None]

    def test_a_number_that_begins_like_a_category_is_read(self, labels: np.ndarray) -> None:
        rng = np.random.default_rng(0)
        site = rng.choice(["x", "y", "z"], N)
        X = pd.DataFrame({"site": site, "age": rng.normal(size=N), "dose": rng.normal(size=N)})
        X["site_temperature"] = (labels == "ill") + 0.1 * rng.normal(size=N)
        model = build_pipeline(MKLClassifier("auto")).fit(X, labels)
        assert model.score(X, labels) > 0.9


class TestComparisons:
    """Without kernels, each source has a chosen one; with labels, those that they name."""

    FEW: ClassVar[dict[str, Any]] = {"cv": "2x1", "baselines": "none", "methods": "uniform"}

    @pytest.mark.parametrize("role", ["groups", "split_column"])
    def test_a_column_with_another_role_is_in_no_source(
        self, sources: Any, labels: np.ndarray, role: str
    ) -> None:
        X = join_sources(sources).assign(kind=labels, patient=np.arange(N) // 3)
        X["part"] = np.where(np.arange(N) % 3, "train", "test")
        column = {"groups": "patient", "split_column": "part"}[role]
        settings: dict[str, Any] = self.FEW | ({"cv": None} if role == "split_column" else {})
        rest = X.drop(columns="part" if role == "groups" else "patient")
        result = compare(rest, target="kind", **{role: column}, **settings)
        assert {"uniform", "genes", "dose", "best-single"} <= {*result.table()["method"]}

    def test_labels_name_sources_that_are_compared_alone(
        self, sources: Any, labels: np.ndarray
    ) -> None:
        X = join_sources(sources)
        result = compare(X, labels, kernels=["genes:auto", "dose:auto"], **self.FEW)
        assert {"genes", "dose", "rbf on all columns"} <= {*result.table()["method"]}

    def test_the_keys_of_a_mapping_are_its_sources_whatever_their_names(
        self, sources: Any, labels: np.ndarray
    ) -> None:
        overlapping = {"dose": sources["dose"], "dose_raw": sources["genes"]}
        kernels = ["dose:rbf[none]"]
        accuracies = [
            compare(rows, labels, kernels=kernels, **self.FEW)
            .results.query("method == 'uniform' or method == 'dose'")["accuracy"]
            .unique()
            .tolist()
            for rows in (overlapping, {"dose": sources["dose"]})
        ]
        assert accuracies[0] == accuracies[1]
        with_comma = {"a,b": sources["genes"], "c": sources["dose"]}
        assert "a,b" in compare(with_comma, labels, **self.FEW).table()["method"].tolist()
        with pytest.raises(SpecError, match=r"'dos'.*'dose'"):
            compare(sources, labels, kernels=["dos:rbf", "genes:rbf"], **self.FEW)


def test_sources_that_other_kernels_read_in_part_miss_the_rest(
    sources: Any, labels: np.ndarray
) -> None:
    X = join_sources(sources)
    X.loc[:20, [f"genes_{place}" for place in range(1, 12)]] = np.nan
    kernels = ["first:rbf[none]@genes_0", "auto"]
    inner = MKLClassifier(kernels).fit(X, labels)
    outer = build_pipeline(MKLClassifier(kernels)).fit(X, labels)
    np.testing.assert_array_equal(inner.decision_function(X), outer.decision_function(X))
