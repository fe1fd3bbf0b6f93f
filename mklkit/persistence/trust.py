"""The types that a model file may hold: those known here, and those that plugins register."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mklkit.persistence.archive import MODEL_MEMBER, nodes, schema_in

__all__ = [
    "KNOWN_TYPES",
    "WHY_NOT",
    "installed_version",
    "kinds",
    "listed",
    "plugin_records",
    "plugins_in",
    "reasons",
    "refusal",
    "trusted_names",
    "unknown_types",
]


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


TYPES_SHOWN = 5
VERSION = r"[\w.+!-]{0,80}"


def trusted_names() -> list[str]:
    """Return the names of the types that a model file may hold besides skops' own defaults."""
    return sorted(set(_registered_types()).union(*KNOWN_TYPES.values()))


def _registered_types() -> dict[str, type]:
    from mklkit.datasets.dates import DateParts
    from mklkit.datasets.encoder import TableEncoder
    from mklkit.datasets.scaling import ScaledColumns
    from mklkit.datasets.text_columns import ColumnReading
    from mklkit.estimators.classifier import MKLClassifier
    from mklkit.estimators.fit import Fitted
    from mklkit.estimators.one_class import MKLOneClass
    from mklkit.estimators.partial_fits import PartialSums
    from mklkit.estimators.plan import Plan
    from mklkit.estimators.predicting import DecisionValues
    from mklkit.estimators.problems import Problem
    from mklkit.estimators.proposing import KernelBank
    from mklkit.estimators.regressor import MKLRegressor
    from mklkit.estimators.rpemekl import RPEMEKLClassifier
    from mklkit.estimators.search import MKLSearchCV
    from mklkit.estimators.table_reading import TableReading
    from mklkit.estimators.transformer import MKLTransformer
    from mklkit.estimators.voting import MKLVotingClassifier
    from mklkit.numerics.class_moments import ClassMoments
    from mklkit.registry.registry import get_registry
    from mklkit.views.bound_kernels import BoundKernel

    # The registry contains components; these types contain components.
    types: tuple[type, ...] = (TableEncoder, ScaledColumns, ColumnReading, DateParts)
    types += (MKLClassifier, MKLOneClass, MKLRegressor, MKLSearchCV, MKLTransformer)
    types += (MKLVotingClassifier, RPEMEKLClassifier, DecisionValues, Problem, PartialSums)
    types += (Fitted, KernelBank, Plan, TableReading, BoundKernel, ClassMoments)
    return get_registry().model_types() | {
        f"{cls.__module__}.{cls.__qualname__}": cls for cls in types
    }


def unknown_types(archive: bytes) -> list[str]:
    """Return the types in an archive that are not trusted, or not in their place."""
    from skops.io import get_untrusted_types

    registered, trusted = _registered_types(), set(trusted_names())
    misplaced = (
        f"{name} (as {kind})"
        for kind, name in _named_nodes(archive)
        if kind not in ({"ObjectNode"} if name in registered else kinds(name))
    )
    unknown = (name for name in get_untrusted_types(data=archive) if name not in trusted)
    return list(dict.fromkeys([*unknown, *misplaced]))


def plugins_in(archive: bytes) -> list[dict[str, Any]]:
    """Return the plugins whose types an archive holds: distribution, version and types."""
    from mklkit.registry.registry import get_registry

    found: dict[str, set[str]] = {}
    for _, name in _named_nodes(archive):
        distribution = get_registry().distribution_of(name)
        if distribution not in (None, "mklkit"):
            found.setdefault(str(distribution), set()).add(name)
    return [
        {
            "distribution": distribution,
            "version": installed_version(distribution) or "",
            "types": sorted(types),
        }
        for distribution, types in sorted(found.items())
    ]


def _named_nodes(archive: bytes) -> Iterator[tuple[Any, str]]:
    """Yield the kind of every node in an archive and the full name of its type."""
    with zipfile.ZipFile(io.BytesIO(archive)) as zip_file:
        schema, _ = schema_in(zip_file.read(MODEL_MEMBER))
    for node in nodes(schema):
        yield node.get("__loader__"), f"{node['__module__']}.{node['__class__']}"


def refusal(path: Path, unknown: list[str], plugins: list[Any]) -> str:
    """Return why a file is not loaded, and which plugin it states to need."""
    homes = {name: plugin for plugin in plugin_records(plugins) for name in plugin["types"]}
    needed = [homes[name]["distribution"] for name in unknown if name in homes]
    message = (
        f"{path} is not loaded: {listed(unknown)} known neither to mklkit nor to an"
        " installed plugin."
        f"{reasons(unknown)}"
    )
    if needed:
        names = ", ".join(dict.fromkeys(needed))
        message += (
            f" The file states that it needs the plugin {names}: install it if you trust it"
            " (and leave MKLKIT_DISABLE_PLUGINS unset)."
        )
    return message


def plugin_records(plugins: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield the well-formed records, as a file may state anything about itself."""
    for plugin in plugins:
        if (
            isinstance(plugin, dict)
            and re.fullmatch(r"[\w.-]{1,80}", str(plugin.get("distribution", "")), re.ASCII)
            and re.fullmatch(VERSION, str(plugin.get("version", "")), re.ASCII)
            and isinstance(plugin.get("types"), list)
        ):
            yield {"version": "", **plugin, "types": [str(name) for name in plugin["types"]]}


def listed(names: list[str]) -> str:
    """Return ``the type 'a' is``, ``the types 'a', 'b' are``."""
    shown = ", ".join(f"{name!r:.200}" for name in names[:TYPES_SHOWN])
    more = "" if len(names) <= TYPES_SHOWN else f" and {len(names) - TYPES_SHOWN} more"
    return f"the type {shown} is" if len(names) == 1 else f"the types {shown}{more} are"


def reasons(names: list[str]) -> str:
    """Return why well-known types are not trusted."""
    known = {name.rpartition(".")[2]: WHY_NOT[name] for name in names if name in WHY_NOT}
    return "".join(f" As to {name}: {reason}." for name, reason in known.items())


def installed_version(distribution: str) -> str | None:
    """Return the version of an installed distribution, or None where it has none to be read."""
    with suppress(Exception):  # Its metadata may be damaged in any way.
        return version(distribution)
    return None
