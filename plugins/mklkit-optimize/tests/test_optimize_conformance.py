"""mklkit's own checks of what its components must do."""

from __future__ import annotations

from mklkit_authors.testing import parametrize_with_component_checks
from mklkit_optimize import (
    CKA,
    GAMKL,
    GRAM,
    KOMD,
    MEMO,
    MKLGL,
    PWMK,
    RMKL,
    SILP,
    AbsentMargin,
    Consensus,
    EasyMKL,
    GraphConsensus,
    LooRidge,
    SimpleMKL,
)

# A search of full length fits hundreds of support vector machines in every check.
QUICK = {GAMKL: GAMKL(generations=2, population=6)}


@parametrize_with_component_checks(
    [
        *(
            AbsentMargin,
            CKA,
            Consensus,
            EasyMKL,
            QUICK[GAMKL],
            GraphConsensus,
            GraphConsensus(norm=2),
        ),
        *(LooRidge, MKLGL, SILP, SimpleMKL, GRAM, KOMD, MEMO, MEMO(theta=0.1), PWMK, RMKL),
    ]
)
def test_components_do_what_mklkit_asks(check):
    check()
