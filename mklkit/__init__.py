"""mklkit: multiple kernel learning from parts that compose.

The names below are the whole public interface, in two lists: one for users, one for authors of
components. They are imported when first used, so that ``import mklkit`` and the command line's
help cost almost nothing.
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
    from mklkit.combiners.templates.fusion import LearnedFusion as LearnedFusion
    from mklkit.combiners.templates.fusion import WeightedFusion as WeightedFusion
    from mklkit.combiners.templates.gating import Gates as Gates
    from mklkit.combiners.templates.gating import GatingCombiner as GatingCombiner
    from mklkit.combiners.templates.gating import WeightedGates as WeightedGates
    from mklkit.combiners.templates.weighting import LearnedWeighting as LearnedWeighting
    from mklkit.combiners.templates.weighting import WeightedDecision as WeightedDecision
    from mklkit.combiners.templates.weighting import WeightingCombiner as WeightingCombiner
    from mklkit.combiners.templates.weighting import weighting_rule as weighting_rule
    from mklkit.comparison.comparing import compare as compare
    from mklkit.comparison.comparison import Comparison as Comparison
    from mklkit.datasets.encoder import TableEncoder as TableEncoder
    from mklkit.datasets.pipeline import build_pipeline as build_pipeline
    from mklkit.datasets.pipeline import preset_pipeline as preset_pipeline
    from mklkit.datasets.scaling import ScaledColumns as ScaledColumns
    from mklkit.errors import DataError as DataError
    from mklkit.errors import IncompatibleError as IncompatibleError
    from mklkit.errors import MKLKitError as MKLKitError
    from mklkit.errors import MKLKitWarning as MKLKitWarning
    from mklkit.errors import SpecError as SpecError
    from mklkit.errors import WeightsWarning as WeightsWarning
    from mklkit.estimators.classifier import MKLClassifier as MKLClassifier
    from mklkit.estimators.from_preset import preset_classifier as preset_classifier
    from mklkit.estimators.one_class import MKLOneClass as MKLOneClass
    from mklkit.estimators.proposing import KernelBank as KernelBank
    from mklkit.estimators.proposing import propose_kernels as propose_kernels
    from mklkit.estimators.regressor import MKLRegressor as MKLRegressor
    from mklkit.estimators.rpemekl import RPEMEKLClassifier as RPEMEKLClassifier
    from mklkit.estimators.search import MKLSearchCV as MKLSearchCV
    from mklkit.estimators.transformer import MKLTransformer as MKLTransformer
    from mklkit.estimators.voting import MKLVotingClassifier as MKLVotingClassifier
    from mklkit.evaluation.alignment import alignment_matrix as alignment_matrix
    from mklkit.evaluation.alignment import kernel_alignment as kernel_alignment
    from mklkit.evaluation.cross_validation import cross_validate as cross_validate
    from mklkit.explanation import Explanation as Explanation
    from mklkit.explanation import explain as explain
    from mklkit.feature_maps.empirical import Empirical as Empirical
    from mklkit.feature_maps.fourier import Fourier as Fourier
    from mklkit.feature_maps.implicit import Implicit as Implicit
    from mklkit.kernels.amounts import Hellinger as Hellinger
    from mklkit.kernels.amounts import Intersection as Intersection
    from mklkit.kernels.amounts import MinMax as MinMax
    from mklkit.kernels.amounts import Tanimoto as Tanimoto
    from mklkit.kernels.boolean import Conjunctive as Conjunctive
    from mklkit.kernels.boolean import Disjunctive as Disjunctive
    from mklkit.kernels.boolean import MonotoneConjunctive as MonotoneConjunctive
    from mklkit.kernels.boolean import MonotoneDisjunctive as MonotoneDisjunctive
    from mklkit.kernels.categories import FrequencyOverlap as FrequencyOverlap
    from mklkit.kernels.categories import Overlap as Overlap
    from mklkit.kernels.chi2 import Chi2 as Chi2
    from mklkit.kernels.cosine import Cosine as Cosine
    from mklkit.kernels.laplacian import Laplacian as Laplacian
    from mklkit.kernels.linear import Linear as Linear
    from mklkit.kernels.periodic import Periodic as Periodic
    from mklkit.kernels.polynomial import Polynomial as Polynomial
    from mklkit.kernels.precomputed import Precomputed as Precomputed
    from mklkit.kernels.rbf import RBF as RBF
    from mklkit.kernels.tanh import Tanh as Tanh
    from mklkit.kernels.text.mismatch import Mismatch as Mismatch
    from mklkit.kernels.text.spectrum import SpectrumKernel as SpectrumKernel
    from mklkit.kernels.text.token_set import TokenSet as TokenSet
    from mklkit.kernels.text.weighted_degree import WeightedDegree as WeightedDegree
    from mklkit.learners.ho_kashyap.learners import KMHKS as KMHKS
    from mklkit.learners.ho_kashyap.learners import MHKS as MHKS
    from mklkit.learners.kda import KDA as KDA
    from mklkit.learners.linear_decision import LinearDecision as LinearDecision
    from mklkit.learners.one_class_svm import OneClassSVM as OneClassSVM
    from mklkit.learners.ridge import Ridge as Ridge
    from mklkit.learners.support_vectors import SVMSolution as SVMSolution
    from mklkit.learners.support_vectors import solve_dual as solve_dual
    from mklkit.learners.support_vectors import solve_svr as solve_svr
    from mklkit.learners.svm import SVM as SVM
    from mklkit.learners.svr import SVR as SVR
    from mklkit.numerics.centring import centred_gram as centred_gram
    from mklkit.numerics.cone_programs import Cone as Cone
    from mklkit.numerics.cone_programs import ConeSolution as ConeSolution
    from mklkit.numerics.cone_programs import solve_cone_program as solve_cone_program
    from mklkit.numerics.least_squares import NormalMatrix as NormalMatrix
    from mklkit.numerics.least_squares import Spectrum as Spectrum
    from mklkit.numerics.readings import category_codes as category_codes
    from mklkit.numerics.readings import text_codes as text_codes
    from mklkit.numerics.readings import texts_of as texts_of
    from mklkit.numerics.votes import majority as majority
    from mklkit.numerics.votes import squashed as squashed
    from mklkit.persistence import load_model as load_model
    from mklkit.persistence import read_facts as read_facts
    from mklkit.persistence import save_model as save_model
    from mklkit.plotting.alignment import AlignmentDisplay as AlignmentDisplay
    from mklkit.plotting.comparison import ComparisonDisplay as ComparisonDisplay
    from mklkit.plotting.consensus import ConsensusDisplay as ConsensusDisplay
    from mklkit.plotting.critical_difference import (
        CriticalDifferenceDisplay as CriticalDifferenceDisplay,
    )
    from mklkit.plotting.gates import GatesDisplay as GatesDisplay
    from mklkit.plotting.search_surface import SearchSurfaceDisplay as SearchSurfaceDisplay
    from mklkit.plotting.weights import KernelWeightsDisplay as KernelWeightsDisplay
    from mklkit.plotting.worth import KernelWorthDisplay as KernelWorthDisplay
    from mklkit.protocols import Array as Array
    from mklkit.protocols import ColumnSelector as ColumnSelector
    from mklkit.protocols import Combiner as Combiner
    from mklkit.protocols import CombinerFacts as CombinerFacts
    from mklkit.protocols import CoupledLearner as CoupledLearner
    from mklkit.protocols import CouplingFacts as CouplingFacts
    from mklkit.protocols import Decision as Decision
    from mklkit.protocols import FeatureMap as FeatureMap
    from mklkit.protocols import FeatureMapFacts as FeatureMapFacts
    from mklkit.protocols import FittedKernel as FittedKernel
    from mklkit.protocols import FittedLearner as FittedLearner
    from mklkit.protocols import FittedMap as FittedMap
    from mklkit.protocols import FoldedMap as FoldedMap
    from mklkit.protocols import GatedDecision as GatedDecision
    from mklkit.protocols import GivesWeights as GivesWeights
    from mklkit.protocols import GridCombiner as GridCombiner
    from mklkit.protocols import GridDecision as GridDecision
    from mklkit.protocols import InitialisedSubproblem as InitialisedSubproblem
    from mklkit.protocols import Kernel as Kernel
    from mklkit.protocols import KernelAround as KernelAround
    from mklkit.protocols import KernelFacts as KernelFacts
    from mklkit.protocols import KernelProducts as KernelProducts
    from mklkit.protocols import KernelView as KernelView
    from mklkit.protocols import LandmarkMap as LandmarkMap
    from mklkit.protocols import Learner as Learner
    from mklkit.protocols import LearnerFacts as LearnerFacts
    from mklkit.protocols import LinearFunction as LinearFunction
    from mklkit.protocols import MapForAll as MapForAll
    from mklkit.protocols import OrthogonalFeatures as OrthogonalFeatures
    from mklkit.protocols import Projector as Projector
    from mklkit.protocols import Quadrant as Quadrant
    from mklkit.protocols import Quadrants as Quadrants
    from mklkit.protocols import RememberedFeatures as RememberedFeatures
    from mklkit.protocols import Rows as Rows
    from mklkit.protocols import RowSource as RowSource
    from mklkit.protocols import ScalarKernel as ScalarKernel
    from mklkit.protocols import Stopping as Stopping
    from mklkit.protocols import Subproblem as Subproblem
    from mklkit.protocols import SupportedDecision as SupportedDecision
    from mklkit.protocols import Target as Target
    from mklkit.protocols import Task as Task
    from mklkit.protocols import TrainingView as TrainingView
    from mklkit.protocols import TrimmableMap as TrimmableMap
    from mklkit.protocols import Views as Views
    from mklkit.protocols import facts_of as facts_of
    from mklkit.protocols.c_parameter import C_field as C_field
    from mklkit.protocols.c_parameter import C_of as C_of
    from mklkit.protocols.c_parameter import LearnerWithC as LearnerWithC
    from mklkit.protocols.c_parameter import scaled_C as scaled_C
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
    from mklkit.views.deciding import with_support as with_support
    from mklkit.views.kernel_rows import FittedScalarKernel as FittedScalarKernel
    from mklkit.views.kernel_rows import KernelRows as KernelRows
    from mklkit.views.sides import FeatureSide as FeatureSide
    from mklkit.views.sides import GramSide as GramSide
    from mklkit.views.sides import RowSubset as RowSubset
    from mklkit.views.sides import Side as Side
    from mklkit.views.stored_rows import StoredRows as StoredRows
    from mklkit.views.tiles import kernel_products as kernel_products
    from mklkit.views.tiles import symmetric_tiles as symmetric_tiles
    from mklkit.views.view import View as View
    from mklkit.views.view_set import ViewSet as ViewSet

FOR_USERS = {
    "_version": "__version__",
    "combiners.cluster_gating.combiner": "ClusterGating",
    "combiners.ifsl.combiner": "IFSL",
    "comparison.comparing": "compare",
    "comparison.comparison": "Comparison",
    "errors": "DataError IncompatibleError MKLKitError MKLKitWarning SpecError WeightsWarning",
    "datasets.encoder": "TableEncoder",
    "datasets.pipeline": "build_pipeline preset_pipeline",
    "datasets.scaling": "ScaledColumns",
    "estimators.classifier": "MKLClassifier",
    "estimators.from_preset": "preset_classifier",
    "estimators.one_class": "MKLOneClass",
    "estimators.proposing": "KernelBank propose_kernels",
    "estimators.regressor": "MKLRegressor",
    "estimators.rpemekl": "RPEMEKLClassifier",
    "estimators.search": "MKLSearchCV",
    "estimators.transformer": "MKLTransformer",
    "estimators.voting": "MKLVotingClassifier",
    "evaluation.alignment": "alignment_matrix kernel_alignment",
    "evaluation.cross_validation": "cross_validate",
    "explanation": "Explanation explain",
    "feature_maps.empirical": "Empirical",
    "feature_maps.fourier": "Fourier",
    "feature_maps.implicit": "Implicit",
    "kernels.cosine": "Cosine",
    "kernels.chi2": "Chi2",
    "kernels.amounts": "Hellinger Intersection MinMax Tanimoto",
    "kernels.periodic": "Periodic",
    "kernels.boolean": "Conjunctive Disjunctive MonotoneConjunctive MonotoneDisjunctive",
    "kernels.categories": "FrequencyOverlap Overlap",
    "kernels.text.mismatch": "Mismatch",
    "kernels.text.spectrum": "SpectrumKernel",
    "kernels.text.token_set": "TokenSet",
    "kernels.text.weighted_degree": "WeightedDegree",
    "kernels.laplacian": "Laplacian",
    "kernels.linear": "Linear",
    "kernels.polynomial": "Polynomial",
    "kernels.precomputed": "Precomputed",
    "kernels.rbf": "RBF",
    "kernels.tanh": "Tanh",
    "learners.ho_kashyap.learners": "KMHKS MHKS",
    "learners.kda": "KDA",
    "learners.one_class_svm": "OneClassSVM",
    "learners.ridge": "Ridge",
    "learners.svm": "SVM",
    "learners.svr": "SVR",
    "persistence": "load_model read_facts save_model",
    "plotting.alignment": "AlignmentDisplay",
    "plotting.comparison": "ComparisonDisplay",
    "plotting.consensus": "ConsensusDisplay",
    "plotting.critical_difference": "CriticalDifferenceDisplay",
    "plotting.gates": "GatesDisplay",
    "plotting.search_surface": "SearchSurfaceDisplay",
    "plotting.weights": "KernelWeightsDisplay",
    "plotting.worth": "KernelWorthDisplay",
    "protocols.preset": "Preset",
    "registry.registry": "get_registry",
    "registry.specs": "to_spec",
    "views.stored_rows": "StoredRows",
}
"""For users: names by module, for fitting, evaluating, plotting and saving models."""

FOR_AUTHORS = {
    "combiners.templates.coupling": "CoupledSolution CouplingCombiner",
    "combiners.templates.fusion": "Fusion FusionCombiner LearnedFusion WeightedFusion",
    "combiners.templates.gating": "Gates GatingCombiner WeightedGates",
    "combiners.templates.weighting": (
        "LearnedWeighting WeightedDecision WeightingCombiner weighting_rule"
    ),
    "learners.linear_decision": "LinearDecision",
    "learners.support_vectors": "SVMSolution solve_dual solve_svr",
    "numerics.centring": "centred_gram",
    "numerics.cone_programs": "Cone ConeSolution solve_cone_program",
    "numerics.least_squares": "NormalMatrix Spectrum",
    "numerics.readings": "category_codes text_codes texts_of",
    "numerics.votes": "majority squashed",
    "protocols": (
        "Array Combiner CombinerFacts CoupledLearner CouplingFacts Decision FeatureMap "
        "FeatureMapFacts FittedKernel FittedLearner FittedMap FoldedMap GivesWeights GridCombiner "
        "GridDecision InitialisedSubproblem Kernel KernelAround KernelFacts KernelProducts "
        "KernelView LandmarkMap Learner LearnerFacts LinearFunction MapForAll OrthogonalFeatures "
        "Projector Quadrant Quadrants RememberedFeatures RowSource GatedDecision Rows ScalarKernel "
        "Stopping Subproblem SupportedDecision Target Task TrainingView TrimmableMap Views "
        "WeightedKernel ColumnSelector facts_of"
    ),
    "protocols.c_parameter": "C_field C_of LearnerWithC scaled_C",
    "protocols.component": "Component finite whole",
    "registry.hookspecs": "hookimpl",
    "registry.registry": "Registry",
    "views.deciding": "BlockDecision RowBlock with_support",
    "views.kernel_rows": "FittedScalarKernel KernelRows",
    "views.sides": "FeatureSide GramSide RowSubset Side",
    "views.tiles": "kernel_products symmetric_tiles",
    "views.view": "View",
    "views.view_set": "ViewSet",
}
"""For authors of components: protocols, templates, views and numerical helpers."""

_HOME = {
    name: module
    for modules in (FOR_USERS, FOR_AUTHORS)
    for module, names in modules.items()
    for name in names.split()
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
