"""mklkit's own checks of what a combiner must do."""

from __future__ import annotations

import pytest
from mklkit_authors.testing import parametrize_with_component_checks
from mklkit_discriminant import MKDA, Localized


@parametrize_with_component_checks([MKDA, Localized, Localized(gating="sigmoid", n_init=2)])
def test_combiners_do_what_mklkit_asks(check):
    check()


@pytest.mark.slow
@parametrize_with_component_checks([MKDA(form="sdp", alpha=0.1)])
def test_the_semidefinite_form_does_what_mklkit_asks(check):
    check()
