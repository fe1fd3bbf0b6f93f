"""The permitted contents of a model file: known or registered types, and harmless parameters.

Safe types are not enough. Some of their parameters make a model open files or start processes when
it predicts or is refitted, and compiled code follows unchecked indices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from mklkit.errors import ModelFileError, listed, quoted
from mklkit.persistence.archive import named_nodes


def _names(module: str, names: str) -> frozenset[str]:
    return frozenset(f"{module}.{name}" for name in names.split())


# Objects that are rebuilt from plain attributes, by ``__new__`` and ``__dict__`` or
# ``BaseEstimator.__setstate__``.
OBJECTS = (
    # The registry has components; these contain components.
    _names(
        "mklkit",
        "datasets.columns.DateParts datasets.covariates.CovariateRemoval"
        " datasets.encoder.TableEncoder datasets.pipeline.ScaledColumns"
        " datasets.readings.ColumnReading estimators.classifier.MKLClassifier"
        " estimators.fit.Fitted estimators.one_class.MKLOneClass"
        " estimators.partial_fits.PartialSums estimators.plan.Plan"
        " estimators.predicting.DecisionValues estimators.problems.Problem"
        " estimators.proposing.KernelBank estimators.regressor.MKLRegressor"
        " estimators.rpemekl.RPEMEKLClassifier estimators.search.MKLSearchCV"
        " estimators.table_reading.TableReading estimators.transformer.MKLTransformer"
        " estimators.voting.MKLVotingClassifier numerics.class_moments.ClassMoments"
        " views.bound_kernels.BoundKernel",
    )
    | _names("sklearn.calibration", "_CalibratedClassifier _SigmoidCalibration _TemperatureScaling")
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
    # Since SciPy 1.18 a spline keeps its numbers in another type.
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

# The nodes that saving writes; nodes that call what they name, and references, are not allowed.
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
    "mklkit.registry.matrices.FunctionKernel": "a file holds no functions; kernels that can be"
    " saved are Precomputed(K), a matrix, and the classes of a package",
    "functools.partial": "a file must not determine which function is called",
}


def trusted_names() -> list[str]:
    """Return the names of the types that a model file may hold besides skops' own defaults."""
    return sorted({*_registered_types()}.union(*KNOWN_TYPES.values()))


def _registered_types() -> Iterable[str]:
    from mklkit.registry.registry import get_registry

    return get_registry().model_types()


def unknown_types(archive: bytes) -> list[str]:
    """Return the types in an archive that are not trusted, or are in the wrong place."""
    from skops.io import get_untrusted_types

    registered, trusted = _registered_types(), set(trusted_names())
    misplaced = (
        f"{name} (as {kind})"
        for kind, name in named_nodes(archive)
        if kind not in ({"ObjectNode"} if name in registered else _kinds(name))
    )
    unknown = (name for name in get_untrusted_types(data=archive) if name not in trusted)
    return list(dict.fromkeys([*unknown, *misplaced]))


def _kinds(name: str) -> frozenset[str]:
    """Return the kinds of node that may hold a type: one if listed here, else what skops trusts."""
    return frozenset(kind for kind, names in KNOWN_TYPES.items() if name in names) or KINDS


def not_trusted(names: list[str]) -> str:
    """Return a message that types are not trusted, with reasons for well-known ones."""
    types = f"type {quoted(names[0], 200)} is" if len(names) == 1 else f"types {listed(names)} are"
    known = {name.rpartition(".")[2]: WHY_NOT[name] for name in names if name in WHY_NOT}
    reasons = "".join(f" About {name}: {reason}." for name, reason in known.items())
    return (
        f"the {types} registered neither by mklkit nor by an installed plugin (by @register)."
        f"{reasons}"
    )


MOST_JOBS = 256
RESPONSES = (
    *("auto", "predict", "predict_proba", "predict_log_proba", "decision_function", "transform"),
    "score_samples",
)


def _is_response(value: Any) -> bool:
    return all(name in RESPONSES for name in _listed(value) if isinstance(name, str))


def _is_number_of_jobs(value: Any) -> bool:
    return not isinstance(value, int | float | np.number) or abs(float(value)) <= MOST_JOBS


RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    # joblib unpickles the content of a cache.
    "memory": ("set memory=None: a path to a local cache is never saved", lambda v: v is None),
    "input": ("texts are never read as names of files", lambda v: v != "filename"),
    "n_jobs": (f"at most {MOST_JOBS} jobs are allowed", _is_number_of_jobs),
    # Called on the output of earlier steps; numpy.ndarray.tofile writes to a path.
    **{
        name: (f"a method must be one of {', '.join(RESPONSES)}", _is_response)
        for name in ("stack_method", "stack_method_", "response_method", "_response_method")
    },
}
"""For each parameter that gives a model outside access: a remedy and a test of allowed values."""
GRIDS = ("param_grid", "param_distributions")
"""Parameters whose values are themselves parameters: dictionaries of them, or lists of these."""


def check_parameters(model: Any) -> None:
    """Refuse a model with an object whose parameters open files or start processes."""
    for part in _parts(model):
        for name, value in attributes(part).items():
            _check(name, [value])
            for grid in _listed(value) if name in GRIDS else ():
                for nested, values in grid.items() if isinstance(grid, dict) else ():
                    _check(str(nested).rpartition("__")[2], _listed(values))


def _check(name: Any, values: list[Any]) -> None:
    if name not in RULES:
        return
    remedy, allowed = RULES[name]
    for value in values:
        if not allowed(value):
            raise ModelFileError(f"a model file can't hold {name}={quoted(value)}; {remedy}.")


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple | set | np.ndarray) else [value]


def check_compiled(model: Any) -> None:
    """Raise an error for indices that compiled code would follow out of bounds."""
    from scipy.interpolate import BSpline, _bsplines
    from scipy.sparse import issparse

    # Since SciPy 1.18 a spline keeps its numbers in an object whose type has no public name.
    splines = (BSpline, vars(_bsplines).get("_BSpline", BSpline))
    for part in _parts(model):
        if issparse(part):
            # Other formats are checked when they are created.
            if part.format in ("csr", "csc"):
                part.check_format(full_check=True)
        elif isinstance(part, splines):
            checked = BSpline(part.t, part.c, part.k)
            if (checked.t.dtype, checked.c.dtype) != (part.t.dtype, part.c.dtype):
                raise ValueError("a spline holds no floating-point numbers")


PLAIN = (str, bytes, float, int, type, np.generic, FunctionType, ModuleType)


def _parts(model: Any) -> Iterator[Any]:
    """Yield an object and all objects that it contains, each once."""
    # Parts are kept with their ids, so that an id can't be reused for another object.
    pending, visited = [model], dict[int, Any]()
    while pending:
        part = pending.pop()
        if id(part) in visited or isinstance(part, PLAIN):
            continue
        visited[id(part)] = part
        yield part
        pending.extend(attributes(part).values())
        if isinstance(part, dict):
            pending.extend(part.values())
        elif isinstance(part, list | tuple | set):
            pending.extend(part)
        elif isinstance(part, np.ndarray) and part.dtype == object:
            # The values under a mask too.
            pending.extend(np.asarray(part).ravel().tolist())


def attributes(part: Any) -> dict[Any, Any]:
    """Return all attributes of an object without calling its methods, which a file may set."""
    state = object.__getstate__(part)
    pair = state if isinstance(state, tuple) else (state,)
    return {name: value for names in pair for name, value in (names or {}).items()}
