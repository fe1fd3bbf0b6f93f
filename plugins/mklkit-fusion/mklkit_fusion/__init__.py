"""Late fusion of decisions: one learner per kernel, whose decision values are joined."""

from mklkit_fusion.choquet import choquet_integral, shapley_values
from mklkit_fusion.defimkl import ChoquetFusion, DeFIMKL
from mklkit_fusion.fixed import AverageScores, Vote
from mklkit_fusion.measure import learn_measure

__all__ = [
    "AverageScores",
    "ChoquetFusion",
    "DeFIMKL",
    "Vote",
    "choquet_integral",
    "learn_measure",
    "shapley_values",
]
