"""Types of NumPy, SciPy and scikit-learn that a model file may hold besides skops' defaults.

skops trusts scikit-learn's public estimators, arrays and ufuncs. Fitted transformers, selectors and
calibrators need a few more, listed here, each for one kind of node only. A listed function must be
safe with any arguments and only compute; a ``FunctionNode`` looks it up for a file and never calls
it.
"""

from __future__ import annotations

__all__ = ["KNOWN_TYPES", "WHY_NOT", "kinds"]


def _names(module: str, names: str) -> frozenset[str]:
    return frozenset(f"{module}.{name}" for name in names.split())


# Objects that are rebuilt from plain attributes, by ``__new__`` and ``__dict__`` or
# ``BaseEstimator.__setstate__``.
OBJECTS = (
    _names("sklearn.calibration", "_CalibratedClassifier _SigmoidCalibration _TemperatureScaling")
    | _names("sklearn.compose._column_transformer", "make_column_selector")
    | _names("sklearn.cluster._bisect_k_means", "_BisectingTree")
    | _names(
        "sklearn.model_selection._split",
        "KFold StratifiedKFold GroupKFold StratifiedGroupKFold RepeatedKFold"
        " RepeatedStratifiedKFold ShuffleSplit StratifiedShuffleSplit LeaveOneOut TimeSeriesSplit",
    )
    | _names("sklearn.multiclass", "_ConstantPredictor")
    | _names("sklearn.metrics._scorer", "_Scorer _CurveScorer")
    | _names("sklearn.utils._metadata_requests", "MetadataRequest MethodMetadataRequest")
    # Since SciPy 1.18 a spline keeps its numbers in another.
    | _names("scipy.interpolate._bsplines", "BSpline _BSpline")
)
FUNCTIONS = (
    _names(
        "sklearn.feature_selection._univariate_selection",
        "f_classif f_oneway f_regression r_regression chi2",
    )
    | _names("sklearn.feature_selection._mutual_info", "mutual_info_classif mutual_info_regression")
    | _names("sklearn.cluster._kmeans", "_kmeans_single_lloyd _kmeans_single_elkan")
    # Scores for which a decision threshold was tuned.
    | _names(
        "sklearn.metrics._classification",
        "accuracy_score balanced_accuracy_score cohen_kappa_score f1_score jaccard_score"
        " matthews_corrcoef precision_score recall_score",
    )
    # How FeatureAgglomeration pools columns.
    | _names("numpy", "mean median max min amax amin sum prod std var ptp")
    # How splines made arrays until SciPy 1.18.
    | _names("scipy._lib.array_api_compat.numpy._aliases", "asarray")
)
# Types selected by make_column_selector, and the dtype of an encoder or imputer.
TYPES = _names("builtins", "object") | _names(
    "numpy", "number integer signedinteger unsignedinteger inexact floating generic character"
)
SPARSE = (
    _names("scipy.sparse._csr", "csr_matrix csr_array")
    | _names("scipy.sparse._csc", "csc_matrix csc_array")
    | _names("scipy.sparse._coo", "coo_matrix coo_array")
)

KNOWN_TYPES: dict[str, frozenset[str]] = {
    "ObjectNode": OBJECTS,
    "FunctionNode": FUNCTIONS,
    "TypeNode": TYPES,
    "DTypeNode": frozenset({"numpy.dtype"}),
    "SparseMatrixNode": SPARSE,
    "TupleNode": _names("sklearn.impute._iterative", "_ImputerTriplet"),
    "DictNode": frozenset({"sklearn.utils._bunch.Bunch"}),
}

# What saving writes. Not among them are nodes that call what they name, and references.
KINDS = frozenset(
    f"{kind}Node"
    for kind in (
        *("Object", "Function", "Type", "DType", "Json", "Tuple", "List", "Set", "Dict", "Slice"),
        *("NdArray", "MaskedArray", "SparseMatrix", "Bytes", "RandomState", "RandomGenerator"),
        "Loss",
    )
)

TREE = "compiled code uses its indices unchecked, so that a crafted file could crash Python"
WHY_NOT: dict[str, str] = {
    "sklearn.tree._tree.Tree": TREE,
    "sklearn.neighbors._kd_tree.KDTree": f"{TREE}; use the algorithm 'brute'",
    "sklearn.neighbors._ball_tree.BallTree": f"{TREE}; use the algorithm 'brute'",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor": TREE,
    "functools.partial": "a file must not determine which function is called",
}


def kinds(name: str) -> frozenset[str]:
    """Return the kinds of node that may hold a type: one if listed here, else what skops trusts."""
    return frozenset(kind for kind, names in KNOWN_TYPES.items() if name in names) or KINDS
