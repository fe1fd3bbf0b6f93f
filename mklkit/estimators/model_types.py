"""The estimator types that a model file may contain."""

from __future__ import annotations

from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.fit import Fitted
from mklkit.estimators.one_class import MKLOneClass
from mklkit.estimators.partial_fits import PartialSums
from mklkit.estimators.plan import Plan
from mklkit.estimators.predicting import DecisionValues
from mklkit.estimators.problems import Problem
from mklkit.estimators.proposing import KernelBank
from mklkit.estimators.regressor import MKLRegressor
from mklkit.estimators.rpemekl import RPEMEKLClassifier
from mklkit.estimators.search import MKLSearchCV
from mklkit.estimators.table_reading import TableReading
from mklkit.estimators.transformer import MKLTransformer
from mklkit.estimators.voting import MKLVotingClassifier
from mklkit.numerics.class_moments import ClassMoments
from mklkit.views.bound_kernels import BoundKernel

__all__ = ["MODEL_TYPES"]

MODEL_TYPES: tuple[type, ...] = (
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLSearchCV,
    MKLTransformer,
    MKLVotingClassifier,
    RPEMEKLClassifier,
    DecisionValues,
    Problem,
    PartialSums,
    Fitted,
    KernelBank,
    Plan,
    TableReading,
    BoundKernel,
    ClassMoments,
)
