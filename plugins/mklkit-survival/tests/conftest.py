"""What these tests share; most compare with scikit-survival, which not every Python has."""

from __future__ import annotations

import os
from importlib.util import find_spec

if find_spec("sksurv") is None:
    collect_ignore = [
        *("test_cox.py", "test_partial_likelihood.py"),
        *("test_survival_models.py", "test_survival_scores.py"),
    ]

# As mklkit's own tests: threads that wait for each other would slow down several workers.
os.environ.setdefault("OMP_NUM_THREADS", "1")
