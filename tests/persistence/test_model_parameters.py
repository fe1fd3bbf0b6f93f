"""Parameters of safe types through which a model would open files or start processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from crafted import Check, dict_node, hiding, json_node, list_node, node, rewritten, tuple_node
from joblib._parallel_backends import ThreadingBackend
from sklearn.base import BaseEstimator
from sklearn.cluster import FeatureAgglomeration
from sklearn.compose import make_column_transformer
from sklearn.ensemble import StackingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from mklkit.errors import ModelFileError
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.search import MKLSearchCV
from mklkit.persistence import load_model, save_model
from mklkit.persistence.contents import check_parameters

ROWS, LABELS = np.random.default_rng(0).normal(size=(20, 3)), np.repeat([0, 1], 10)


def cached(step: Any = None) -> Pipeline:
    return Pipeline([("step", StandardScaler() if step is None else step)], memory="folder")


def stacked(method: str) -> StackingClassifier:
    model = StackingClassifier([("logistic", LogisticRegression())], cv=2).fit(ROWS, LABELS)
    model.stack_method_ = [method]
    return model


def masked() -> StandardScaler:
    values = np.empty(1, dtype=object)
    values[0] = cached()
    return loaded(StandardScaler(), values=np.ma.array(values, mask=[True]))


def loaded(model: BaseEstimator, **state: Any) -> Any:
    vars(model).update(state)
    return model


REACHING = {
    "memory": cached,
    "memory in a union": lambda: FeatureUnion([("cached", cached())]),
    "memory in columns": lambda: make_column_transformer((cached(), [0])).fit(ROWS),
    "memory in a search": lambda: GridSearchCV(cached(LogisticRegression()), {}),
    "memory in a search of ours": lambda: MKLSearchCV(cached(MKLClassifier())),
    "memory in a grid": lambda: GridSearchCV(Pipeline([]), {"memory": ["folder"]}),
    "memory in a nested grid": lambda: MKLSearchCV(None, {"a__memory": [None, "folder"]}),
    "memory of a transformer": lambda: FeatureAgglomeration(memory="folder"),
    "memory under a mask": masked,
    "memory beside a false method": lambda: loaded(cached(), __getstate__=dict, check_format=str),
    "input": lambda: CountVectorizer(input="filename"),
    "n_jobs": lambda: FeatureUnion([], n_jobs=100_000),
    "stack_method_": lambda: stacked("tofile"),
}


@pytest.mark.parametrize("kind", REACHING)
def test_they_are_found(kind: str) -> None:
    with pytest.raises(ModelFileError, match=f"can't hold {kind.partition(' ')[0]}="):
        check_parameters(REACHING[kind]())


def test_innocent_ones_are_kept() -> None:
    for model in (
        make_pipeline(StandardScaler(), CountVectorizer(vocabulary={"memory": 0, "n_jobs": 1})),
        FeatureUnion([], n_jobs=-1),
        GridSearchCV(Pipeline([]), [{"memory": [None]}, {"step__C": [1, 2]}], n_jobs=4),
        stacked("predict_proba"),
    ):
        check_parameters(model)


def test_nothing_that_a_refit_would_unpickle_is_saved(tmp_path: Path) -> None:
    model = make_pipeline(cached(), MKLClassifier("linear")).fit(ROWS, LABELS)
    with pytest.raises(ModelFileError, match=r"step 'pipeline'.*memory='folder'"):
        save_model(model, tmp_path / "model.mkl")
    assert not (tmp_path / "model.mkl").exists()


def test_nothing_that_a_refit_would_unpickle_is_loaded(tmp_path: Path, saved: Path) -> None:
    change = hiding(json_node(str(tmp_path / "cache")))
    path = rewritten(saved, tmp_path / "model.mkl", schema=change)
    with pytest.raises(ModelFileError, match=r"model\.mkl is not loaded: .*memory="):
        load_model(path)
    assert not (tmp_path / "cache").exists()


def test_attributes_that_are_pairs(check_refused: Check) -> None:
    """An object's attributes may be set from a list too."""
    pairs = list_node(tuple_node(json_node("memory"), json_node("folder")))

    def change(schema: dict[str, Any]) -> dict[str, Any]:
        attributes = schema["content"]["content"]
        attributes["extra"] = node(
            "ObjectNode", "mklkit.estimators.classifier", "MKLClassifier", content=pairs
        )
        attributes["key_types"] = dict_node()
        schema["content"]["key_types"]["content"].append(node("TypeNode", "builtins", "str"))
        return schema

    check_refused("memory='folder'", schema=change)


class NoProcesses(ThreadingBackend):
    """A backend of joblib that must not be used."""

    def configure(self, *_: Any, **__: Any) -> int:
        raise AssertionError("a process is started")


@pytest.mark.process
def test_loading_starts_no_processes(tmp_path: Path) -> None:
    steps = [("a", StandardScaler()), ("b", StandardScaler())]
    save_model(FeatureUnion(steps, n_jobs=2).fit(ROWS), tmp_path / "model.mkl")
    joblib.register_parallel_backend("no processes", NoProcesses)
    with joblib.parallel_config("no processes"):
        loaded = load_model(tmp_path / "model.mkl")
        assert loaded.n_jobs == 2
        with pytest.raises(AssertionError, match="a process is started"):
            loaded.fit(ROWS)


def test_no_file_is_written_by_a_method_named_in_the_file(tmp_path: Path) -> None:
    """An array as an estimator, a path from a step before it, and the array's method tofile."""
    goal = tmp_path / "written"
    stack = stacked("tofile")
    stack.estimators_ = [np.array([b"evil"])]
    with pytest.raises((TypeError, ValueError, AttributeError)):
        # The attack is real without the check.
        stack.transform(str(goal))
    assert goal.read_bytes() == b"evil"
    with pytest.raises(ModelFileError, match="stack_method_"):
        check_parameters(stack)
