"""Kernels as views of the same rows: near-mean CCA, and classifiers that join the views."""

from __future__ import annotations

from collections.abc import Iterable

from mklkit import hookimpl
from mklkit_views.cca_mhks1 import CCAMHKS1, ConcatenatedDecision
from mklkit_views.cca_mhks2 import CCAMHKS2, VotedDecision
from mklkit_views.correlated import CorrelatedViews
from mklkit_views.kernel_nmcca import KernelNmCCA
from mklkit_views.nmcca import NmCCA
from mklkit_views.svm2k import SVM2K, TwoViewDecision
from mklkit_views.svm_concat import SVMConcat

__all__ = ["CCAMHKS1", "CCAMHKS2", "SVM2K", "KernelNmCCA", "NmCCA", "SVMConcat"]


@hookimpl
def mklkit_combiners() -> Iterable[type]:
    """Register the combiners."""
    return [CCAMHKS1, CCAMHKS2, SVM2K, SVMConcat]


@hookimpl
def mklkit_model_types() -> Iterable[type]:
    """Register the fitted objects of combiners and transformers for model files."""
    return [
        CorrelatedViews,
        ConcatenatedDecision,
        VotedDecision,
        TwoViewDecision,
        NmCCA,
        KernelNmCCA,
    ]
