"""The permitted types of a model file: components, and a short list of other libraries' types.

What is in the list has been read: it runs no code of a file's choosing, and its compiled code
follows no index that :mod:`mklkit.persistence.contents` leaves unchecked.
"""

from __future__ import annotations

from collections.abc import Iterable

from mklkit.errors import listed, quoted
from mklkit.persistence.schema import Node, full_name


def _names(module: str, names: str) -> frozenset[str]:
    return frozenset(f"{module}.{name}" for name in names.split())


# Objects that are rebuilt from plain attributes, by ``__new__`` and ``__dict__`` or
# ``BaseEstimator.__setstate__``.
OBJECTS = (
    # The registry has components; these contain components.
    _names(
        "mklkit",
        "datasets.columns.DateParts datasets.covariates.CovariateRemoval"
        " datasets.encoder.TableEncoder"
        " estimators.classifier.MKLClassifier"
        " estimators.fit.Fitted estimators.one_class.MKLOneClass"
        " estimators.partial_fits.PartialSums estimators.plan.Plan"
        " estimators.predicting.DecisionValues estimators.problems.Problem"
        " estimators.proposing.KernelBank estimators.regressor.MKLRegressor"
        " estimators.rpemekl.RPEMEKLClassifier estimators.search.MKLSearchCV"
        " protocols.rows.SomeRows protocols.schema.Schema protocols.schema.Source"
        " estimators.transformer.MKLTransformer"
        " estimators.voting.MKLVotingClassifier numerics.class_moments.ClassMoments"
        " views.bound_kernels.BoundKernel views.scaling.FittedScaling",
    )
    | _names("sklearn.calibration", "_CalibratedClassifier _SigmoidCalibration _TemperatureScaling")
    | _names("sklearn.compose._column_transformer", "make_column_selector")
    | _names(
        "sklearn.model_selection._split",
        "KFold StratifiedKFold GroupKFold StratifiedGroupKFold RepeatedKFold"
        " RepeatedStratifiedKFold ShuffleSplit StratifiedShuffleSplit LeaveOneOut TimeSeriesSplit",
    )
    | _names("sklearn.multiclass", "_ConstantPredictor")
    | _names("sklearn.metrics._scorer", "_Scorer _CurveScorer")
    | _names("sklearn.utils._metadata_requests", "MetadataRequest MethodMetadataRequest")
)
# Estimators whose predictions are NumPy's sums and products. Those omitted run compiled code on
# arrays of the file (support vectors, neighbours, trees, hashing, coordinate descent), or make
# columns in numbers of the file's choosing.
ESTIMATORS = (
    _names("sklearn.calibration", "CalibratedClassifierCV")
    | _names("sklearn.compose._column_transformer", "ColumnTransformer")
    | _names("sklearn.decomposition._kernel_pca", "KernelPCA")
    | _names("sklearn.decomposition._pca", "PCA")
    | _names("sklearn.decomposition._truncated_svd", "TruncatedSVD")
    | _names("sklearn.discriminant_analysis", "LinearDiscriminantAnalysis")
    | _names("sklearn.dummy", "DummyClassifier DummyRegressor")
    | _names("sklearn.ensemble._stacking", "StackingClassifier StackingRegressor")
    | _names("sklearn.ensemble._voting", "VotingClassifier VotingRegressor")
    | _names("sklearn.feature_extraction._dict_vectorizer", "DictVectorizer")
    | _names("sklearn.feature_extraction.text", "CountVectorizer TfidfTransformer TfidfVectorizer")
    | _names("sklearn.feature_selection._from_model", "SelectFromModel")
    | _names(
        "sklearn.feature_selection._univariate_selection",
        "GenericUnivariateSelect SelectFdr SelectFpr SelectFwe SelectKBest SelectPercentile",
    )
    | _names("sklearn.feature_selection._variance_threshold", "VarianceThreshold")
    | _names("sklearn.frozen._frozen", "FrozenEstimator")
    | _names("sklearn.impute._base", "MissingIndicator SimpleImputer")
    | _names("sklearn.impute._knn", "KNNImputer")
    | _names("sklearn.isotonic", "IsotonicRegression")
    | _names("sklearn.linear_model._base", "LinearRegression")
    | _names("sklearn.linear_model._coordinate_descent", "ElasticNet ElasticNetCV Lasso LassoCV")
    | _names("sklearn.linear_model._logistic", "LogisticRegression LogisticRegressionCV")
    | _names("sklearn.linear_model._ridge", "Ridge RidgeCV RidgeClassifier RidgeClassifierCV")
    | _names("sklearn.mixture._bayesian_mixture", "BayesianGaussianMixture")
    | _names("sklearn.mixture._gaussian_mixture", "GaussianMixture")
    | _names(
        "sklearn.model_selection._classification_threshold",
        "FixedThresholdClassifier TunedThresholdClassifierCV",
    )
    | _names("sklearn.model_selection._search", "GridSearchCV RandomizedSearchCV")
    | _names("sklearn.multiclass", "OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier")
    | _names("sklearn.multioutput", "MultiOutputRegressor")
    | _names("sklearn.naive_bayes", "GaussianNB")
    | _names("sklearn.pipeline", "FeatureUnion Pipeline")
    | _names(
        "sklearn.preprocessing._data",
        "Binarizer KernelCenterer MaxAbsScaler MinMaxScaler Normalizer PowerTransformer"
        " QuantileTransformer RobustScaler StandardScaler",
    )
    | _names("sklearn.preprocessing._encoders", "OneHotEncoder OrdinalEncoder")
    | _names("sklearn.preprocessing._function_transformer", "FunctionTransformer")
    | _names("sklearn.preprocessing._label", "LabelBinarizer LabelEncoder")
    | _names("sklearn.random_projection", "GaussianRandomProjection SparseRandomProjection")
    | _names("sklearn.svm._classes", "LinearSVC LinearSVR")
)
FUNCTIONS = (
    _names(
        "sklearn.feature_selection._univariate_selection",
        "f_classif f_oneway f_regression r_regression chi2",
    )
    | _names("sklearn.feature_selection._mutual_info", "mutual_info_classif mutual_info_regression")
    # Scores for which a decision threshold was tuned.
    | _names(
        "sklearn.metrics._classification",
        "accuracy_score balanced_accuracy_score cohen_kappa_score f1_score jaccard_score"
        " matthews_corrcoef precision_score recall_score",
    )
    # Of one number, for FunctionTransformer.
    | _names(
        "numpy",
        "absolute arcsinh arctan cbrt ceil cos degrees exp exp2 expm1 fabs floor log log10 log1p"
        " log2 negative radians reciprocal rint sign sin sinh sqrt square tan tanh trunc",
    )
    | _names("scipy.special._special_ufuncs", "expit logit log_expit")
    | _names("scipy.special._ufuncs", "expit logit log_expit")
)
SCALARS = _names(
    "numpy",
    "bool bool_ int8 int16 int32 int64 longlong uint8 uint16 uint32 uint64 ulonglong float16"
    " float32 float64 longdouble complex64 complex128 str_ bytes_ datetime64 timedelta64",
)
# Types of keys, those selected by make_column_selector, and the dtype of an encoder or imputer.
TYPES = (
    _names("builtins", "bool float int object str")
    | _names(
        "numpy",
        "number integer signedinteger unsignedinteger inexact floating generic character",
    )
    | (SCALARS - _names("numpy", "bytes_"))
)

KNOWN_TYPES: dict[str, frozenset[str]] = {
    "ObjectNode": OBJECTS | ESTIMATORS,
    "FunctionNode": FUNCTIONS,
    "TypeNode": TYPES,
    "DTypeNode": frozenset({"numpy.dtype"}),
    "JsonNode": _names("builtins", "str"),
    "TupleNode": _names("builtins", "tuple"),
    "ListNode": _names("builtins", "list"),
    "SetNode": _names("builtins", "set"),
    "SliceNode": _names("builtins", "slice"),
    "BytesNode": _names("builtins", "bytes"),
    "DictNode": frozenset(
        {"builtins.dict", "collections.OrderedDict", "sklearn.utils._bunch.Bunch"}
    ),
    "NdArrayNode": SCALARS | _names("numpy", "ndarray"),
    "MaskedArrayNode": frozenset({"numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"}),
    "SparseMatrixNode": _names("scipy.sparse._csr", "csr_matrix csr_array")
    | _names("scipy.sparse._csc", "csc_matrix csc_array"),
    "RandomStateNode": frozenset({"numpy.random.mtrand.RandomState"}),
}
"""By kind of node, as skops calls them, the types that it may hold; saving writes no others."""

COMPILED = "compiled code uses its arrays unchecked, so that a crafted file could crash Python"
WHY_NOT: dict[str, str] = {
    "mklkit.registry.matrices.FunctionKernel": "a file holds no functions; kernels that can be"
    " saved are Precomputed(K), a matrix, and the classes of a package",
    "functools.partial": "a file must not determine which function is called",
    "sklearn.": f"of scikit-learn, a file holds scalers, encoders, imputers, selectors, linear"
    f" models and what combines them; for the others, {COMPILED}, or they are untested",
}
"""By the beginning of a type's name."""


def trusted_names() -> list[str]:
    """Return the names of the types that a model file may hold besides skops' own defaults."""
    return sorted({*_registered_types()}.union(*KNOWN_TYPES.values()))


def _registered_types() -> Iterable[str]:
    from mklkit.registry.registry import get_registry

    return get_registry().model_types()


def unknown_types(nodes: list[Node]) -> list[str]:
    """Return the types of nodes that are not trusted, or are in the wrong place."""
    known = KNOWN_TYPES | {"ObjectNode": KNOWN_TYPES["ObjectNode"].union(_registered_types())}
    somewhere = frozenset().union(*known.values())
    return list(
        dict.fromkeys(
            f"{name} (as {kind})" if name in somewhere else name
            for kind, name in ((node.get("__loader__"), full_name(node)) for node in nodes)
            if name not in known.get(str(kind), ())
        )
    )


def not_trusted(names: list[str]) -> str:
    """Return a message that types are not trusted, with reasons for well-known ones."""
    types = f"type {quoted(names[0], 200)} is" if len(names) == 1 else f"types {listed(names)} are"
    reasons = "".join(
        f" About {name.rpartition('.')[2]}: {reason}."
        for start, reason in WHY_NOT.items()
        for name in [next((name for name in names if name.startswith(start)), "")]
        if name
    )
    return (
        f"the {types} registered neither by mklkit nor by an installed plugin (by @register)."
        f"{reasons}"
    )
