"""mklkit's own checks of what a combiner must do, for those that take any number of kernels."""

from __future__ import annotations

from mklkit_views import CCAMHKS1, CCAMHKS2, SVMConcat

from mklkit.testing import parametrize_with_component_checks


@parametrize_with_component_checks([CCAMHKS1, CCAMHKS2, CCAMHKS1(n_components=1), SVMConcat])
def test_combiners_do_what_mklkit_asks(check):
    check()
