"""mklkit: multiple kernel learning from parts that compose.

The names below are for users; component classes are in ``mklkit.kernels``, ``mklkit.feature_maps``,
``mklkit.combiners`` and ``mklkit.learners``, figures in ``mklkit.plotting``, and what authors of
components need is in ``mklkit.plugin``. Names are imported when first used, so that ``import
mklkit`` and the command line's help cost almost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mklkit._version import __version__
    from mklkit.comparison.comparing import compare
    from mklkit.comparison.comparison import Comparison
    from mklkit.datasets.encoder import TableEncoder
    from mklkit.datasets.pipeline import build_pipeline, preset_pipeline
    from mklkit.errors import (
        DataError,
        IncompatibleError,
        MKLKitError,
        MKLKitWarning,
        SpecError,
        WeightsWarning,
    )
    from mklkit.estimators.classifier import MKLClassifier
    from mklkit.estimators.from_preset import preset_classifier
    from mklkit.estimators.joining import join_sources
    from mklkit.estimators.model_settings import ModelSettings
    from mklkit.estimators.one_class import MKLOneClass
    from mklkit.estimators.proposing import propose_kernels
    from mklkit.estimators.regressor import MKLRegressor
    from mklkit.estimators.rpemekl import RPEMEKLClassifier
    from mklkit.estimators.search import MKLSearchCV
    from mklkit.estimators.transformer import MKLTransformer
    from mklkit.estimators.voting import MKLVotingClassifier
    from mklkit.evaluation.alignment import alignment_matrix, kernel_alignment
    from mklkit.evaluation.cross_validation import cross_validate
    from mklkit.explanation import explain
    from mklkit.persistence import load_model, read_metadata, save_model
    from mklkit.registry.registry import get_registry
    from mklkit.views.stored_rows import StoredRows

__all__ = [
    "Comparison",
    "DataError",
    "IncompatibleError",
    "MKLClassifier",
    "MKLKitError",
    "MKLKitWarning",
    "MKLOneClass",
    "MKLRegressor",
    "MKLSearchCV",
    "MKLTransformer",
    "MKLVotingClassifier",
    "ModelSettings",
    "RPEMEKLClassifier",
    "SpecError",
    "StoredRows",
    "TableEncoder",
    "WeightsWarning",
    "__version__",
    "alignment_matrix",
    "build_pipeline",
    "compare",
    "cross_validate",
    "explain",
    "get_registry",
    "join_sources",
    "kernel_alignment",
    "load_model",
    "preset_classifier",
    "preset_pipeline",
    "propose_kernels",
    "read_metadata",
    "save_model",
]

_HOME = {
    "_version": "__version__",
    "comparison.comparing": "compare",
    "comparison.comparison": "Comparison",
    "errors": "DataError IncompatibleError MKLKitError MKLKitWarning SpecError WeightsWarning",
    "estimators.classifier": "MKLClassifier",
    "estimators.from_preset": "preset_classifier",
    "estimators.joining": "join_sources",
    "estimators.model_settings": "ModelSettings",
    "estimators.one_class": "MKLOneClass",
    "estimators.proposing": "propose_kernels",
    "estimators.regressor": "MKLRegressor",
    "estimators.rpemekl": "RPEMEKLClassifier",
    "estimators.search": "MKLSearchCV",
    "estimators.transformer": "MKLTransformer",
    "estimators.voting": "MKLVotingClassifier",
    "evaluation.alignment": "alignment_matrix kernel_alignment",
    "evaluation.cross_validation": "cross_validate",
    "explanation": "explain",
    "persistence": "load_model read_metadata save_model",
    "datasets.encoder": "TableEncoder",
    "datasets.pipeline": "build_pipeline preset_pipeline",
    "registry.registry": "get_registry",
    "views.stored_rows": "StoredRows",
}
"""The names by the module that defines them."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    for module, names in _HOME.items():
        if name in names.split():
            value = globals()[name] = getattr(import_module(f"mklkit.{module}"), name)
            return value
    raise AttributeError(f"module 'mklkit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
