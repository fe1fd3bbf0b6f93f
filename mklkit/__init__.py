"""mklkit: multiple kernel learning from parts that compose.

The names below are the whole public interface. They are imported when first used, so that
``import mklkit`` and the command line's help cost next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mklkit._version import __version__ as __version__
    from mklkit.combiners.cluster_gating.combiner import ClusterGating as ClusterGating
    from mklkit.combiners.ifsl.combiner import IFSL as IFSL
    from mklkit.combiners.templates.coupling import CoupledSolution as CoupledSolution
    from mklkit.combiners.templates.coupling import CouplingCombiner as CouplingCombiner
    from mklkit.combiners.templates.fusion import Fusion as Fusion
    from mklkit.combiners.templates.fusion import FusionCombiner as FusionCombiner
    from mklkit.combiners.templates.fusion import WeightedFusion as WeightedFusion
    from mklkit.combiners.templates.gating import Gates as Gates
    from mklkit.combiners.templates.gating import GatingCombiner as GatingCombiner
    from mklkit.combiners.templates.gating import WeightedGates as WeightedGates
    from mklkit.combiners.templates.weighting import LearnedWeighting as LearnedWeighting
    from mklkit.combiners.templates.weighting import WeightedDecision as WeightedDecision
    from mklkit.combiners.templates.weighting import WeightingCombiner as WeightingCombiner
    from mklkit.combiners.templates.weighting import weighting_rule as weighting_rule
    from mklkit.errors import DataError as DataError
    from mklkit.errors import IncompatibleError as IncompatibleError
    from mklkit.errors import MKLKitError as MKLKitError
    from mklkit.errors import MKLKitWarning as MKLKitWarning
    from mklkit.errors import SpecError as SpecError
    from mklkit.errors import WeightsWarning as WeightsWarning
    from mklkit.estimators.classifier import MKLClassifier as MKLClassifier
    from mklkit.estimators.from_preset import preset_classifier as preset_classifier
    from mklkit.estimators.ifsl_search import IFSLClassifierCV as IFSLClassifierCV
    from mklkit.estimators.voting import MKLVotingClassifier as MKLVotingClassifier
    from mklkit.estimators.voting import RPEMEKLClassifier as RPEMEKLClassifier
    from mklkit.evaluation.alignment import alignment_matrix as alignment_matrix
    from mklkit.evaluation.alignment import kernel_alignment as kernel_alignment
    from mklkit.feature_maps.empirical import Empirical as Empirical
    from mklkit.feature_maps.implicit import Implicit as Implicit
    from mklkit.kernels.cosine import Cosine as Cosine
    from mklkit.kernels.laplacian import Laplacian as Laplacian
    from mklkit.kernels.linear import Linear as Linear
    from mklkit.kernels.polynomial import Polynomial as Polynomial
    from mklkit.kernels.precomputed import Precomputed as Precomputed
    from mklkit.kernels.rbf import RBF as RBF
    from mklkit.kernels.tanh import Tanh as Tanh
    from mklkit.learners.ho_kashyap.kmhks import KMHKS as KMHKS
    from mklkit.learners.ho_kashyap.mhks import MHKS as MHKS
    from mklkit.learners.kda import KDA as KDA
    from mklkit.learners.linear_decision import LinearDecision as LinearDecision
    from mklkit.learners.support_vectors import DualSolution as DualSolution
    from mklkit.learners.support_vectors import solve_dual as solve_dual
    from mklkit.learners.svm import SVM as SVM
    from mklkit.numerics.least_squares import NormalMatrix as NormalMatrix
    from mklkit.numerics.least_squares import Spectrum as Spectrum
    from mklkit.persistence import load_model as load_model
    from mklkit.persistence import read_facts as read_facts
    from mklkit.persistence import save_model as save_model
    from mklkit.plotting.gates import GatesDisplay as GatesDisplay
    from mklkit.plotting.weights import KernelWeightsDisplay as KernelWeightsDisplay
    from mklkit.preprocessing.encoder import TableEncoder as TableEncoder
    from mklkit.protocols import Combiner as Combiner
    from mklkit.protocols import CombinerFacts as CombinerFacts
    from mklkit.protocols import CoupledLearner as CoupledLearner
    from mklkit.protocols import Decision as Decision
    from mklkit.protocols import FeatureMap as FeatureMap
    from mklkit.protocols import FeatureMapFacts as FeatureMapFacts
    from mklkit.protocols import FittedKernel as FittedKernel
    from mklkit.protocols import FittedLearner as FittedLearner
    from mklkit.protocols import FittedMap as FittedMap
    from mklkit.protocols import Kernel as Kernel
    from mklkit.protocols import KernelFacts as KernelFacts
    from mklkit.protocols import KernelProducts as KernelProducts
    from mklkit.protocols import KernelView as KernelView
    from mklkit.protocols import LandmarkMap as LandmarkMap
    from mklkit.protocols import Learner as Learner
    from mklkit.protocols import LearnerFacts as LearnerFacts
    from mklkit.protocols import MapForAll as MapForAll
    from mklkit.protocols import OrthogonalFeatures as OrthogonalFeatures
    from mklkit.protocols import Projector as Projector
    from mklkit.protocols import Quadrant as Quadrant
    from mklkit.protocols import Quadrants as Quadrants
    from mklkit.protocols import RememberedFeatures as RememberedFeatures
    from mklkit.protocols import RowWeights as RowWeights
    from mklkit.protocols import ScalarKernel as ScalarKernel
    from mklkit.protocols import Subproblem as Subproblem
    from mklkit.protocols import SupportedDecision as SupportedDecision
    from mklkit.protocols import TrainingSide as TrainingSide
    from mklkit.protocols import TrimmableMap as TrimmableMap
    from mklkit.protocols import Views as Views
    from mklkit.protocols import facts_of as facts_of
    from mklkit.protocols.component import Component as Component
    from mklkit.protocols.component import finite as finite
    from mklkit.protocols.component import whole as whole
    from mklkit.protocols.preset import Preset as Preset
    from mklkit.registry.hookspecs import hookimpl as hookimpl
    from mklkit.registry.registry import Registry as Registry
    from mklkit.registry.registry import get_registry as get_registry
    from mklkit.registry.specs import to_spec as to_spec
    from mklkit.views.deciding import BlockDecision as BlockDecision
    from mklkit.views.deciding import RowBlock as RowBlock
    from mklkit.views.scalar_kernels import FittedScalarKernel as FittedScalarKernel
    from mklkit.views.sides import GramSide as GramSide
    from mklkit.views.sides import RowSubset as RowSubset
    from mklkit.views.sides import Side as Side
    from mklkit.views.tiles import kernel_products as kernel_products
    from mklkit.views.tiles import symmetric_tiles as symmetric_tiles
    from mklkit.views.view import View as View
    from mklkit.views.view import ViewSet as ViewSet

_HOME = {
    "whole": "protocols.component",
    "finite": "protocols.component",
    "WeightsWarning": "errors",
    "SpecError": "errors",
    "DataError": "errors",
    "DualSolution": "learners.support_vectors",
    "solve_dual": "learners.support_vectors",
    "IncompatibleError": "errors",
    "RowSubset": "views.sides",
    "Side": "views.sides",
    "GramSide": "views.sides",
    "BlockDecision": "views.deciding",
    "RowBlock": "views.deciding",
    "Projector": "protocols",
    "ClusterGating": "combiners.cluster_gating.combiner",
    "KDA": "learners.kda",
    "CombinerFacts": "protocols",
    "FeatureMapFacts": "protocols",
    "KernelFacts": "protocols",
    "KernelProducts": "protocols",
    "KernelView": "protocols",
    "LandmarkMap": "protocols",
    "Learner": "protocols",
    "LearnerFacts": "protocols",
    "MapForAll": "protocols",
    "OrthogonalFeatures": "protocols",
    "Quadrant": "protocols",
    "Quadrants": "protocols",
    "RememberedFeatures": "protocols",
    "RowWeights": "protocols",
    "ScalarKernel": "protocols",
    "SupportedDecision": "protocols",
    "TrimmableMap": "protocols",
    "Views": "protocols",
    "facts_of": "protocols",
    "Combiner": "protocols",
    "Component": "protocols.component",
    "Cosine": "kernels.cosine",
    "CoupledLearner": "protocols",
    "CoupledSolution": "combiners.templates.coupling",
    "CouplingCombiner": "combiners.templates.coupling",
    "Decision": "protocols",
    "Empirical": "feature_maps.empirical",
    "FeatureMap": "protocols",
    "FittedKernel": "protocols",
    "FittedLearner": "protocols",
    "FittedMap": "protocols",
    "FittedScalarKernel": "views.scalar_kernels",
    "FusionCombiner": "combiners.templates.fusion",
    "Gates": "combiners.templates.gating",
    "WeightedGates": "combiners.templates.gating",
    "Fusion": "combiners.templates.fusion",
    "WeightedFusion": "combiners.templates.fusion",
    "NormalMatrix": "numerics.least_squares",
    "Spectrum": "numerics.least_squares",
    "GatesDisplay": "plotting.gates",
    "GatingCombiner": "combiners.templates.gating",
    "IFSL": "combiners.ifsl.combiner",
    "IFSLClassifierCV": "estimators.ifsl_search",
    "Implicit": "feature_maps.implicit",
    "KMHKS": "learners.ho_kashyap.kmhks",
    "Kernel": "protocols",
    "KernelWeightsDisplay": "plotting.weights",
    "Laplacian": "kernels.laplacian",
    "LearnedWeighting": "combiners.templates.weighting",
    "Linear": "kernels.linear",
    "LinearDecision": "learners.linear_decision",
    "MHKS": "learners.ho_kashyap.mhks",
    "MKLClassifier": "estimators.classifier",
    "MKLVotingClassifier": "estimators.voting",
    "MKLKitError": "errors",
    "MKLKitWarning": "errors",
    "Polynomial": "kernels.polynomial",
    "Precomputed": "kernels.precomputed",
    "Preset": "protocols.preset",
    "RBF": "kernels.rbf",
    "RPEMEKLClassifier": "estimators.voting",
    "Registry": "registry.registry",
    "SVM": "learners.svm",
    "Subproblem": "protocols",
    "TableEncoder": "preprocessing.encoder",
    "Tanh": "kernels.tanh",
    "TrainingSide": "protocols",
    "View": "views.view",
    "ViewSet": "views.view",
    "WeightedDecision": "combiners.templates.weighting",
    "WeightingCombiner": "combiners.templates.weighting",
    "__version__": "_version",
    "alignment_matrix": "evaluation.alignment",
    "get_registry": "registry.registry",
    "hookimpl": "registry.hookspecs",
    "kernel_alignment": "evaluation.alignment",
    "load_model": "persistence",
    "read_facts": "persistence",
    "save_model": "persistence",
    "preset_classifier": "estimators.from_preset",
    "symmetric_tiles": "views.tiles",
    "kernel_products": "views.tiles",
    "to_spec": "registry.specs",
    "weighting_rule": "combiners.templates.weighting",
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
