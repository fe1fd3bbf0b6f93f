"""mklkit's own checks of what a combiner must do."""

from __future__ import annotations

from mklkit_authors.testing import parametrize_with_component_checks
from mklkit_views import CCAMHKS1, CCAMHKS2, SVM2K, SVMConcat


@parametrize_with_component_checks([CCAMHKS1, CCAMHKS2, SVM2K, SVMConcat, CCAMHKS1(n_components=1)])
def test_combiners_do_what_mklkit_asks(check):
    check()
