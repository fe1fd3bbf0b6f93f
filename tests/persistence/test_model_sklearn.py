"""scikit-learn's own transformers, selectors and calibrators are saved, or their step is named."""

from __future__ import annotations

import functools
import operator
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest, chi2, mutual_info_classif
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OutputCodeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from sklearn.utils import all_estimators

from mklkit.datasets.pipeline import build_pipeline
from mklkit.errors import ModelFileError
from mklkit.estimators.classifier import MKLClassifier
from mklkit.persistence import load_model, save_model
from mklkit.persistence.trial import check_decisions
from mklkit.persistence.trust import ESTIMATORS

TEMPERATURE = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8)
ROWS = 24
LABELS = np.array(["no", "yes"] * (ROWS // 2))
TABLE = np.abs(np.random.default_rng(5).normal(size=(ROWS, 4)))
TABLE[:, 0] += LABELS == "yes"
GAPS = np.where(np.arange(ROWS * 4).reshape(ROWS, 4) % 5 == 0, np.nan, TABLE)
TEXTS = [f"row {label} word{i % 3}" for i, label in enumerate(LABELS)]
COUNTS = [{"a": i % 3, label: 1.0} for i, label in enumerate(LABELS)]
INPUTS: dict[str, Any] = {
    "CountVectorizer": TEXTS,
    "DictVectorizer": COUNTS,
    "FeatureHasher": COUNTS,
    "HashingVectorizer": TEXTS,
    "KernelCenterer": TABLE @ TABLE.T,
    "MissingIndicator": GAPS,
    "TfidfVectorizer": TEXTS,
}
TWO = [("nb", GaussianNB()), ("lr", LogisticRegression())]
PARAMETERS: dict[str, dict[str, Any]] = {
    "ColumnTransformer": {"transformers": [("all", "passthrough", [0, 1])]},
    "DictionaryLearning": {"n_components": 2, "max_iter": 5},
    "FeatureHasher": {"n_features": 8},
    "FeatureUnion": {"transformer_list": [("scale", StandardScaler())]},
    "GaussianRandomProjection": {"n_components": 2},
    "HashingVectorizer": {"n_features": 8},
    "LatentDirichletAllocation": {"n_components": 2, "max_iter": 2},
    "MiniBatchDictionaryLearning": {"n_components": 2, "max_iter": 2},
    "MiniBatchSparsePCA": {"n_components": 2, "max_iter": 2},
    "QuantileTransformer": {"n_quantiles": 5},
    "RandomTreesEmbedding": {"n_estimators": 2},
    "RFE": {"estimator": LogisticRegression()},
    "RFECV": {"estimator": LogisticRegression(), "cv": StratifiedKFold(2)},
    "SelectFromModel": {"estimator": LogisticRegression()},
    "SequentialFeatureSelector": {"estimator": GaussianNB(), "n_features_to_select": 1, "cv": 2},
    "SparseCoder": {"dictionary": np.eye(4)},
    "SparsePCA": {"n_components": 2, "max_iter": 2},
    "SparseRandomProjection": {"n_components": 2},
    "StackingClassifier": {"estimators": TWO, "cv": 2},
    "VotingClassifier": {"estimators": TWO},
}
NOT_A_STEP = {
    "CCA": "gives two tables where it is fitted",
    "IsotonicRegression": "gives one number a row, not a table; see the calibrators",
    "LabelBinarizer": "takes labels",
    "LabelEncoder": "takes labels",
    "MultiLabelBinarizer": "takes labels",
    "PLSCanonical": "gives two tables where it is fitted",
    "PLSRegression": "gives two tables where it is fitted",
    "PLSSVD": "gives two tables where it is fitted",
    "PatchExtractor": "takes images",
    "TSNE": "has no transform",
    "StackingRegressor": "learns numbers, not classes",
    "VotingRegressor": "learns numbers, not classes",
}


def model_with(name: str, transformer: Any) -> Any:
    """Return a fitted pipeline of the transformer and a classifier, and the rows it took."""
    rows = INPUTS.get(name, TABLE)
    labels = LABELS
    steps = [("first", transformer)]
    if hasattr(transformer.fit(rows, labels).transform(rows), "toarray"):
        steps.append(("dense", TruncatedSVD(2)))
    return Pipeline([*steps, ("classify", MKLClassifier("rbf"))]).fit(rows, labels), rows


def check_round_trip(model: Any, rows: Any, path: Path) -> None:
    save_model(model, path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = load_model(path)
    assert again.predict(rows).tolist() == model.predict(rows).tolist()
    methods = ("decision_function", "predict_proba", "predict")
    method = next(name for name in methods if hasattr(model, name))
    if method == "predict":
        return
    np.testing.assert_array_equal(getattr(again, method)(rows), getattr(model, method)(rows))


TRANSFORMERS = [pair for pair in all_estimators("transformer") if pair[0] not in NOT_A_STEP]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(*pair, marks=[pytest.mark.slow] if place % 3 else [])
        for place, pair in enumerate(TRANSFORMERS)
    ],
)
def test_every_transformer_is_saved_or_named(name: str, kind: type, tmp_path: Path) -> None:
    model, rows = model_with(name, kind(**PARAMETERS.get(name, {})))
    if f"{kind.__module__}.{name}" in ESTIMATORS:
        check_round_trip(model, rows, tmp_path / "model.mkl")
        return
    with pytest.raises(ModelFileError, match=rf"step 'first' .*{name}"):
        save_model(model, tmp_path / "model.mkl")
    assert os.listdir(tmp_path) == []


MIXED = pd.DataFrame(GAPS, columns=["a", "b", "c", "d"]).assign(word=["x", "y", "z"] * (ROWS // 3))
COLUMNS = ColumnTransformer(
    [
        (
            "numbers",
            Pipeline([("fill", SimpleImputer(add_indicator=True)), ("scale", StandardScaler())]),
            make_column_selector(dtype_include=np.number),
        ),
        (
            "words",
            OneHotEncoder(sparse_output=False),
            make_column_selector(pattern="^w", dtype_exclude=[np.number, "datetime"]),
        ),
        ("codes", OrdinalEncoder(dtype=np.int32), ["word"]),
    ]
)
CLASSIFIER = MKLClassifier("rbf")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (Pipeline([("columns", COLUMNS), ("classify", CLASSIFIER)]), MIXED),
        (Pipeline([("best", SelectKBest(chi2, k=2)), ("classify", CLASSIFIER)]), TABLE),
        (Pipeline([("best", SelectKBest(mutual_info_classif)), ("classify", CLASSIFIER)]), TABLE),
        (Pipeline([("log", FunctionTransformer(np.log1p)), ("classify", CLASSIFIER)]), TABLE),
        (CalibratedClassifierCV(CLASSIFIER, method="sigmoid", cv=2), TABLE),
        (CalibratedClassifierCV(CLASSIFIER, method="isotonic", cv=StratifiedKFold(2)), TABLE),
        pytest.param(
            CalibratedClassifierCV(CLASSIFIER, method="temperature", cv=2, ensemble=False),
            TABLE,
            marks=pytest.mark.skipif(not TEMPERATURE, reason="scikit-learn 1.8 brought it"),
        ),
        (CalibratedClassifierCV(FrozenEstimator(CLASSIFIER.fit(TABLE, LABELS))), TABLE),
        (FixedThresholdClassifier(CLASSIFIER, threshold=0.1, pos_label="yes"), TABLE),
        (TunedThresholdClassifierCV(CLASSIFIER, cv=2, thresholds=4), TABLE),
        (OutputCodeClassifier(CLASSIFIER, random_state=0), TABLE),
        (Pipeline([("fill", KNNImputer()), ("classify", CLASSIFIER)]), GAPS),
    ],
)
def test_what_pipelines_are_made_of(model: Any, rows: Any, tmp_path: Path) -> None:
    check_round_trip(model.fit(rows, LABELS), rows, tmp_path / "model.mkl")


def halved(rows: Any) -> Any:
    return rows / 2


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (lambda: FunctionTransformer(halved), "halved"),
        (lambda: FunctionTransformer(lambda rows: rows), "<lambda>"),
        (lambda: FunctionTransformer(functools.partial(np.round, decimals=1)), "partial"),
        (lambda: FunctionTransformer(operator.methodcaller("round")), "methodcaller"),
        (lambda: FunctionTransformer(np.save), "numpy.save"),
        (lambda: SelectKBest(functools.partial(chi2)), "functools.partial"),
        (lambda: SelectFromModel(RandomForestClassifier(2)), "compiled code"),
        (lambda: FeatureUnion([("half", FunctionTransformer(halved))]), "'step' > 'half'"),
    ],
)
def test_a_function_of_ones_own_is_named_with_its_step(
    step: Callable[[], Any], reason: str, tmp_path: Path
) -> None:
    model = Pipeline([("step", step()), ("classify", CLASSIFIER)])
    # Only the classifier and the trees need to be fitted for what is saved.
    if "compiled" in reason:
        model[0].fit(TABLE, LABELS)
    model.steps[1] = ("classify", MKLClassifier("rbf").fit(TABLE, LABELS))
    with pytest.raises(
        ModelFileError, match=r"(?s)because of its step 'step'.*registered"
    ) as caught:
        save_model(model, tmp_path / "model.mkl")
    assert reason in str(caught.value)


def test_what_is_fitted_inside_is_named(tmp_path: Path) -> None:
    chosen = Pipeline([("s", SelectFromModel(RandomForestClassifier(1))), ("c", GaussianNB())])
    for model, where in (
        (CalibratedClassifierCV(chosen, cv=2), "'estimator' > 's'"),
        (VotingClassifier([*TWO, ("f", RandomForestClassifier(1))]), "'f'"),
    ):
        with pytest.raises(ModelFileError) as caught:
            save_model(model.fit(TABLE, LABELS), tmp_path / "model.mkl")
        assert f"because of its step {where}" in str(caught.value)


def test_a_model_that_refuses_new_values_is_loaded(tmp_path: Path) -> None:
    strict = Pipeline([("code", OneHotEncoder(sparse_output=False)), ("classify", CLASSIFIER)])
    words = MIXED[["word"]]
    check_round_trip(strict.fit(words, LABELS), words, tmp_path / "model.mkl")


def test_an_altered_length_is_found_whatever_the_number_of_rows() -> None:
    model = CalibratedClassifierCV(CLASSIFIER, method="sigmoid", cv=2).fit(TABLE, LABELS)
    check_decisions(model)
    calibrator = model.calibrated_classifiers_[0].calibrators[0]
    for n_rows in range(2, 7):
        calibrator.a_ = np.ones(n_rows)
        with pytest.raises(ValueError, match="broadcast"):
            check_decisions(model)
    calibrator.a_ = np.nan
    with pytest.raises(ValueError, match="predict_proba"):
        check_decisions(model)


def test_a_model_of_dates_is_loaded(tmp_path: Path) -> None:
    """Its encoder refuses numbers as dates, and its only kernel has no value in a row of gaps."""
    seen = pd.date_range("2020-01-01", periods=ROWS).astype(str)
    table = pd.DataFrame({"seen": seen, "a": TABLE[:, 0]})
    model = build_pipeline(MKLClassifier(["rbf@a"])).fit(table, LABELS)
    check_round_trip(model, table, tmp_path / "model.mkl")
