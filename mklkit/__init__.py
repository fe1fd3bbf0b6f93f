"""mklkit: multiple kernel learning from parts that compose.

The names below are the whole public interface. They are imported when first used, so that
``import mklkit`` and the command line's help cost next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mklkit._version import __version__ as __version__
    from mklkit.alignment import alignment_matrix as alignment_matrix
    from mklkit.alignment import kernel_alignment as kernel_alignment
    from mklkit.combiners.base import LearnedWeighting as LearnedWeighting
    from mklkit.combiners.base import WeightedDecision as WeightedDecision
    from mklkit.combiners.base import WeightingCombiner as WeightingCombiner
    from mklkit.combiners.base import weighting_rule as weighting_rule
    from mklkit.combiners.cluster_gating import ClusterGating as ClusterGating
    from mklkit.combiners.coupling import CoupledSolution as CoupledSolution
    from mklkit.combiners.coupling import CouplingCombiner as CouplingCombiner
    from mklkit.combiners.fusion import FusionCombiner as FusionCombiner
    from mklkit.combiners.gating import Gates as Gates
    from mklkit.combiners.gating import GatingCombiner as GatingCombiner
    from mklkit.combiners.ifsl import IFSL as IFSL
    from mklkit.components import Component as Component
    from mklkit.components import finite as finite
    from mklkit.components import whole as whole
    from mklkit.deciding import BlockDecision as BlockDecision
    from mklkit.deciding import RowBlock as RowBlock
    from mklkit.ensembles import MKLVotingClassifier as MKLVotingClassifier
    from mklkit.ensembles import RPEMEKLClassifier as RPEMEKLClassifier
    from mklkit.errors import DataError as DataError
    from mklkit.errors import IncompatibleError as IncompatibleError
    from mklkit.errors import MKLKitError as MKLKitError
    from mklkit.errors import MKLKitWarning as MKLKitWarning
    from mklkit.errors import SpecError as SpecError
    from mklkit.errors import WeightsWarning as WeightsWarning
    from mklkit.estimators import MKLClassifier as MKLClassifier
    from mklkit.feature_maps.empirical import Empirical as Empirical
    from mklkit.feature_maps.implicit import Implicit as Implicit
    from mklkit.hookspecs import hookimpl as hookimpl
    from mklkit.kernels.base import FittedScalarKernel as FittedScalarKernel
    from mklkit.kernels.cosine import Cosine as Cosine
    from mklkit.kernels.laplacian import Laplacian as Laplacian
    from mklkit.kernels.linear import Linear as Linear
    from mklkit.kernels.polynomial import Polynomial as Polynomial
    from mklkit.kernels.precomputed import Precomputed as Precomputed
    from mklkit.kernels.rbf import RBF as RBF
    from mklkit.kernels.tanh import Tanh as Tanh
    from mklkit.learners.base import LinearDecision as LinearDecision
    from mklkit.learners.kda import KDA as KDA
    from mklkit.learners.kmhks import KMHKS as KMHKS
    from mklkit.learners.mhks import MHKS as MHKS
    from mklkit.learners.support_vectors import DualSolution as DualSolution
    from mklkit.learners.support_vectors import solve_dual as solve_dual
    from mklkit.learners.svm import SVM as SVM
    from mklkit.persistence import load_model as load_model
    from mklkit.persistence import read_facts as read_facts
    from mklkit.persistence import save_model as save_model
    from mklkit.plotting.gates import GatesDisplay as GatesDisplay
    from mklkit.plotting.weights import KernelWeightsDisplay as KernelWeightsDisplay
    from mklkit.preprocessing.encoder import TableEncoder as TableEncoder
    from mklkit.presets.base import Preset as Preset
    from mklkit.projectors import Projector as Projector
    from mklkit.protocols import BaseLearner as BaseLearner
    from mklkit.protocols import Combiner as Combiner
    from mklkit.protocols import CoupledLearner as CoupledLearner
    from mklkit.protocols import Decision as Decision
    from mklkit.protocols import FeatureMap as FeatureMap
    from mklkit.protocols import FittedKernel as FittedKernel
    from mklkit.protocols import FittedLearner as FittedLearner
    from mklkit.protocols import FittedMap as FittedMap
    from mklkit.protocols import Kernel as Kernel
    from mklkit.protocols import Subproblem as Subproblem
    from mklkit.protocols import TrainingSide as TrainingSide
    from mklkit.registry import Registry as Registry
    from mklkit.registry import get_registry as get_registry
    from mklkit.selection.ifsl_cv import IFSLClassifierCV as IFSLClassifierCV
    from mklkit.sides import GramSide as GramSide
    from mklkit.sides import RowSubset as RowSubset
    from mklkit.sides import Side as Side
    from mklkit.specs import to_spec as to_spec
    from mklkit.systems import preset_classifier as preset_classifier
    from mklkit.tiles import kernel_products as kernel_products
    from mklkit.tiles import symmetric_tiles as symmetric_tiles
    from mklkit.views import View as View
    from mklkit.views import ViewSet as ViewSet

_HOME = {
    "whole": "components",
    "finite": "components",
    "WeightsWarning": "errors",
    "SpecError": "errors",
    "DataError": "errors",
    "DualSolution": "learners.support_vectors",
    "solve_dual": "learners.support_vectors",
    "IncompatibleError": "errors",
    "RowSubset": "sides",
    "Side": "sides",
    "GramSide": "sides",
    "BlockDecision": "deciding",
    "RowBlock": "deciding",
    "Projector": "projectors",
    "ClusterGating": "combiners.cluster_gating",
    "KDA": "learners.kda",
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
    "GatesDisplay": "plotting.gates",
    "GatingCombiner": "combiners.gating",
    "IFSL": "combiners.ifsl",
    "IFSLClassifierCV": "selection.ifsl_cv",
    "Implicit": "feature_maps.implicit",
    "KMHKS": "learners.kmhks",
    "Kernel": "protocols",
    "KernelWeightsDisplay": "plotting.weights",
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
    "TableEncoder": "preprocessing.encoder",
    "Tanh": "kernels.tanh",
    "TrainingSide": "protocols",
    "View": "views",
    "ViewSet": "views",
    "WeightedDecision": "combiners.base",
    "WeightingCombiner": "combiners.base",
    "__version__": "_version",
    "alignment_matrix": "alignment",
    "get_registry": "registry",
    "hookimpl": "hookspecs",
    "kernel_alignment": "alignment",
    "load_model": "persistence",
    "read_facts": "persistence",
    "save_model": "persistence",
    "preset_classifier": "systems",
    "symmetric_tiles": "tiles",
    "kernel_products": "tiles",
    "to_spec": "specs",
    "weighting_rule": "combiners.base",
}

__all__ = sorted(_HOME)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'mklkit' has no attribute {name!r}")
    value = getattr(import_module(f"mklkit.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
