"""Kernels as views of the same samples: near-mean CCA, and classifiers that join the views."""

from mklkit_views.cca_mhks import CCAMHKS1, CCAMHKS2
from mklkit_views.kernel_nmcca import KernelNmCCA
from mklkit_views.nmcca import NmCCA
from mklkit_views.svm2k import SVM2K
from mklkit_views.svm_concat import SVMConcat

__all__ = ["CCAMHKS1", "CCAMHKS2", "SVM2K", "KernelNmCCA", "NmCCA", "SVMConcat"]
