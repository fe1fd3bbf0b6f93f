"""Kernel weights by optimisation, and KOMD: the components of this package."""

from mklkit_optimize.absent_margin import AbsentMargin
from mklkit_optimize.cka import CKA
from mklkit_optimize.consensus import Consensus, GraphConsensus
from mklkit_optimize.easymkl import EasyMKL
from mklkit_optimize.gamkl import GAMKL
from mklkit_optimize.gram import GRAM
from mklkit_optimize.komd import KOMD
from mklkit_optimize.loo_ridge import LooRidge
from mklkit_optimize.memo import MEMO
from mklkit_optimize.mklgl import MKLGL
from mklkit_optimize.pwmk import PWMK
from mklkit_optimize.rmkl import RMKL
from mklkit_optimize.silp import SILP
from mklkit_optimize.simplemkl import SimpleMKL

__all__ = [
    "CKA",
    "GAMKL",
    "GRAM",
    "KOMD",
    "MEMO",
    "MKLGL",
    "PWMK",
    "RMKL",
    "SILP",
    "AbsentMargin",
    "Consensus",
    "EasyMKL",
    "GraphConsensus",
    "LooRidge",
    "SimpleMKL",
]
