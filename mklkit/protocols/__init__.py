"""The contracts between the parts: kernel, feature map, learner, combiner, component, preset."""

from mklkit.protocols.arrays import Array
from mklkit.protocols.combiner import Combiner, Decision, RowWeights
from mklkit.protocols.coupling import CoupledLearner, Subproblem
from mklkit.protocols.facts import (
    CombinerFacts,
    Facts,
    FeatureMapFacts,
    KernelFacts,
    LearnerFacts,
    facts_of,
)
from mklkit.protocols.feature_map import (
    FeatureMap,
    FittedMap,
    LandmarkMap,
    MapForAll,
    OrthogonalFeatures,
    RememberedFeatures,
    TrimmableMap,
)
from mklkit.protocols.kernel import FittedKernel, Kernel, ScalarKernel
from mklkit.protocols.learner import FittedLearner, Learner, SupportedDecision
from mklkit.protocols.training_side import TrainingSide
from mklkit.protocols.views import KernelProducts, KernelView, Projector, Quadrant, Quadrants, Views

__all__ = [
    "Array",
    "Combiner",
    "CombinerFacts",
    "CoupledLearner",
    "Decision",
    "Facts",
    "FeatureMap",
    "FeatureMapFacts",
    "FittedKernel",
    "FittedLearner",
    "FittedMap",
    "Kernel",
    "KernelFacts",
    "KernelProducts",
    "KernelView",
    "LandmarkMap",
    "Learner",
    "LearnerFacts",
    "MapForAll",
    "OrthogonalFeatures",
    "Projector",
    "Quadrant",
    "Quadrants",
    "RememberedFeatures",
    "RowWeights",
    "ScalarKernel",
    "Subproblem",
    "SupportedDecision",
    "TrainingSide",
    "TrimmableMap",
    "Views",
    "facts_of",
]
