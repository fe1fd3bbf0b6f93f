"""mklkit: multiple kernel learning from parts that compose.

The names below are the whole public interface. They are imported when first used, so that
``import mklkit`` and the command line's help cost next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mklkit._version import __version__
    from mklkit.alignment import alignment_matrix, kernel_alignment
    from mklkit.combiners.base import LearnedWeighting, WeightingCombiner, weighting_rule
    from mklkit.combiners.coupling import CoupledSolution, CouplingCombiner
    from mklkit.combiners.fusion import FusionCombiner
    from mklkit.combiners.gating import Gates, GatingCombiner
    from mklkit.combiners.ifsl import IFSL
    from mklkit.components import Component
    from mklkit.ensembles import MKLVotingClassifier, RPEMEKLClassifier
    from mklkit.errors import MKLKitError, MKLKitWarning
    from mklkit.estimators import MKLClassifier
    from mklkit.feature_maps.empirical import Empirical
    from mklkit.feature_maps.implicit import Implicit
    from mklkit.hookspecs import hookimpl
    from mklkit.kernels.base import FittedScalarKernel
    from mklkit.kernels.cosine import Cosine
    from mklkit.kernels.laplacian import Laplacian
    from mklkit.kernels.linear import Linear
    from mklkit.kernels.polynomial import Polynomial
    from mklkit.kernels.precomputed import Precomputed
    from mklkit.kernels.rbf import RBF
    from mklkit.kernels.tanh import Tanh
    from mklkit.learners.base import LinearDecision
    from mklkit.learners.kmhks import KMHKS
    from mklkit.learners.mhks import MHKS
    from mklkit.learners.svm import SVM
    from mklkit.persistence import load_model, save_model
    from mklkit.presets.base import Preset
    from mklkit.protocols import (
        BaseLearner,
        Combiner,
        CoupledLearner,
        Decision,
        FeatureMap,
        FittedKernel,
        FittedLearner,
        FittedMap,
        Kernel,
        Subproblem,
        TrainingSide,
    )
    from mklkit.registry import Registry, get_registry
    from mklkit.selection.ifsl_cv import IFSLClassifierCV
    from mklkit.specs import to_spec
    from mklkit.views import View, ViewSet

_HOME = {
    "BaseLearner": "protocols",
    "Combiner": "protocols",
    "Component": "components",
    "Cosine": "kernels.cosine",
    "CoupledLearner": "protocols",
    "CoupledSolution": "combiners.coupling",
    "CouplingCombiner": "combiners.coupling",
    "Decision": "protocols",
    "Empirical": "feature_maps.empirical",
    "FeatureMap": "protocols",
    "FittedKernel": "protocols",
    "FittedLearner": "protocols",
    "FittedMap": "protocols",
    "FittedScalarKernel": "kernels.base",
    "FusionCombiner": "combiners.fusion",
    "Gates": "combiners.gating",
    "GatingCombiner": "combiners.gating",
    "IFSL": "combiners.ifsl",
    "IFSLClassifierCV": "selection.ifsl_cv",
    "Implicit": "feature_maps.implicit",
    "KMHKS": "learners.kmhks",
    "Kernel": "protocols",
    "Laplacian": "kernels.laplacian",
    "LearnedWeighting": "combiners.base",
    "Linear": "kernels.linear",
    "LinearDecision": "learners.base",
    "MHKS": "learners.mhks",
    "MKLClassifier": "estimators",
    "MKLVotingClassifier": "ensembles",
    "MKLKitError": "errors",
    "MKLKitWarning": "errors",
    "Polynomial": "kernels.polynomial",
    "Precomputed": "kernels.precomputed",
    "Preset": "presets.base",
    "RBF": "kernels.rbf",
    "RPEMEKLClassifier": "ensembles",
    "Registry": "registry",
    "SVM": "learners.svm",
    "Subproblem": "protocols",
    "Tanh": "kernels.tanh",
    "TrainingSide": "protocols",
    "View": "views",
    "ViewSet": "views",
    "WeightingCombiner": "combiners.base",
    "__version__": "_version",
    "alignment_matrix": "alignment",
    "get_registry": "registry",
    "hookimpl": "hookspecs",
    "kernel_alignment": "alignment",
    "load_model": "persistence",
    "save_model": "persistence",
    "to_spec": "specs",
    "weighting_rule": "combiners.base",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'mklkit' has no attribute {name!r}")
    value = getattr(import_module(f"mklkit.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
