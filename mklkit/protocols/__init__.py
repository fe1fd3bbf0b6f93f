"""The contracts between the parts: kernel, feature map, learner, combiner, component, preset."""

from mklkit.protocols.arrays import Array
from mklkit.protocols.combiner import (
    Combiner,
    Decision,
    GatedDecision,
    GivesWeights,
)
from mklkit.protocols.coupling import (
    ColumnSelector,
    CoupledLearner,
    CouplingFacts,
    InitialisedSubproblem,
    LinearFunction,
    Stopping,
    Subproblem,
)
from mklkit.protocols.facts import (
    CombinerFacts,
    Facts,
    FeatureMapFacts,
    KernelFacts,
    LearnerFacts,
    Reads,
    facts_of,
)
from mklkit.protocols.feature_map import (
    FeatureMap,
    FittedMap,
    FoldedMap,
    LandmarkMap,
    MapForAll,
    OrthogonalFeatures,
    RememberedFeatures,
    TrimmableMap,
)
from mklkit.protocols.kernel import (
    FittedKernel,
    Kernel,
    KernelAround,
    ScalarKernel,
    WeightedKernel,
)
from mklkit.protocols.learner import (
    FittedLearner,
    Learner,
    SupportedDecision,
)
from mklkit.protocols.row_source import Rows, RowSource
from mklkit.protocols.searching import (
    GridCombiner,
    GridDecision,
    learner_parameters,
    learner_variants,
)
from mklkit.protocols.table_rows import TableRows, own_rows
from mklkit.protocols.target import TASK_NAMES, Target, Task
from mklkit.protocols.training_view import TrainingView
from mklkit.protocols.views import KernelProducts, KernelView, Projector, Quadrant, Quadrants, Views

__all__ = [
    "TASK_NAMES",
    "Array",
    "ColumnSelector",
    "Combiner",
    "CombinerFacts",
    "CoupledLearner",
    "CouplingFacts",
    "Decision",
    "Facts",
    "FeatureMap",
    "FeatureMapFacts",
    "FittedKernel",
    "FittedLearner",
    "FittedMap",
    "FoldedMap",
    "GatedDecision",
    "GivesWeights",
    "GridCombiner",
    "GridDecision",
    "InitialisedSubproblem",
    "Kernel",
    "KernelAround",
    "KernelFacts",
    "KernelProducts",
    "KernelView",
    "LandmarkMap",
    "Learner",
    "LearnerFacts",
    "LinearFunction",
    "MapForAll",
    "OrthogonalFeatures",
    "Projector",
    "Quadrant",
    "Quadrants",
    "Reads",
    "RememberedFeatures",
    "RowSource",
    "Rows",
    "ScalarKernel",
    "Stopping",
    "Subproblem",
    "SupportedDecision",
    "TableRows",
    "Target",
    "Task",
    "TrainingView",
    "TrimmableMap",
    "Views",
    "WeightedKernel",
    "facts_of",
    "learner_parameters",
    "learner_variants",
    "own_rows",
]
