"""Survival for mklkit: times with censoring, learned by Cox regression on several kernels."""

from mklkit_survival.calibration_display import SurvivalCalibrationDisplay
from mklkit_survival.combiners import MeanHazard, StackedHazards
from mklkit_survival.cox import Cox
from mklkit_survival.estimator import MKLSurvival
from mklkit_survival.kaplan_meier_display import KaplanMeierDisplay
from mklkit_survival.task import Survival

__all__ = [
    "Cox",
    "KaplanMeierDisplay",
    "MKLSurvival",
    "MeanHazard",
    "StackedHazards",
    "Survival",
    "SurvivalCalibrationDisplay",
]
