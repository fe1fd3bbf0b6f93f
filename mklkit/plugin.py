"""What authors of components need, besides the errors and estimators of ``mklkit``.

A component is an ``@attrs.frozen`` class that derives from the base of its kind, or from a template
that leaves one method to be written, and is decorated by :func:`register`. An entry point of the
group ``mklkit`` names its module.
"""

from mklkit.combiners.templates.coupling import CoupledSolution, CouplingCombiner
from mklkit.combiners.templates.fusion import FusionCombiner, LearnedFusion
from mklkit.combiners.templates.gating import GatingCombiner
from mklkit.combiners.templates.weighting import (
    LearnedWeighting,
    WeightedDecision,
    WeightingCombiner,
    weighting_rule,
)
from mklkit.display.section import Picture, Section
from mklkit.estimators.target_estimator import TargetEstimator
from mklkit.learners.linear_decision import LinearDecision
from mklkit.learners.support_vectors import solve_dual, solve_svr
from mklkit.numerics.cone_programs import solve_cone_program
from mklkit.protocols import (
    NO_TARGET,
    NUMBERS,
    SEVERAL_CLASSES,
    TWO_CLASSES,
    Answers,
    Array,
    Combiner,
    CombinerTraits,
    FeatureMap,
    FeatureMapTraits,
    FittedKernel,
    FittedLearner,
    FittedMap,
    FixedKernel,
    Kernel,
    KernelTraits,
    Learner,
    LearnerTraits,
    Missing,
    Preset,
    Score,
    Subproblem,
    Target,
    TargetColumn,
    TargetKind,
    Task,
    TrainingView,
    Views,
    as_int,
    finite_number,
)
from mklkit.registry.hookspecs import hookimpl, register
from mklkit.views.deciding import BlockDecision, RowBlock
from mklkit.views.kernel_rows import FittedScalarKernel
from mklkit.views.out_of_fold import out_of_fold
from mklkit.views.sides import FeatureSide, GramSide

__all__ = [
    "NO_TARGET",
    "NUMBERS",
    "SEVERAL_CLASSES",
    "TWO_CLASSES",
    "Answers",
    "Array",
    "BlockDecision",
    "Combiner",
    "CombinerTraits",
    "CoupledSolution",
    "CouplingCombiner",
    "FeatureMap",
    "FeatureMapTraits",
    "FeatureSide",
    "FittedKernel",
    "FittedLearner",
    "FittedMap",
    "FittedScalarKernel",
    "FixedKernel",
    "FusionCombiner",
    "GatingCombiner",
    "GramSide",
    "Kernel",
    "KernelTraits",
    "LearnedFusion",
    "LearnedWeighting",
    "Learner",
    "LearnerTraits",
    "LinearDecision",
    "Missing",
    "Picture",
    "Preset",
    "RowBlock",
    "Score",
    "Section",
    "Subproblem",
    "Target",
    "TargetColumn",
    "TargetEstimator",
    "TargetKind",
    "Task",
    "TrainingView",
    "Views",
    "WeightedDecision",
    "WeightingCombiner",
    "as_int",
    "finite_number",
    "hookimpl",
    "out_of_fold",
    "register",
    "solve_cone_program",
    "solve_dual",
    "solve_svr",
    "weighting_rule",
]
