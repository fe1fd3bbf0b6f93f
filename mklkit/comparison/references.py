"""The kernel methods of every comparison: each kernel alone, the best, and their uniform sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mklkit.comparison.design import Design
from mklkit.comparison.methods import METHOD, ONE_KERNEL, Method, method_label, preset_method
from mklkit.errors import IncompatibleError
from mklkit.protocols.component import FILLED, Preset
from mklkit.registry.columns import bind_kernels, parts_of
from mklkit.registry.composing import choose_components

EVEN, BEST_KERNEL = "uniform", "best-single"
"""The combiners to compare kernels with: their average, and the best of them."""
COVARIATES, WITH_COVARIATES = "covariates", "uniform with covariates"
"""Where covariates are removed, their kernel alone, and beside the others on unadjusted columns: a
question about both tells what the sources add."""
KEPT_COVARIATES = "fixed-share(rbf)"
ON_ALL = ("rbf on all columns", "rbf", None)
"""The reference for several kernels that read different columns."""

References = dict[str, list[Method]]
"""For one learner: the ``even`` sum, kernels ``alone``, the ``best`` single one, those that are
``also`` compared but not combined, and those ``kept`` with a fixed share, such as covariates, with
the methods ``beside`` them. For a single kernel there are no sum and best."""


def kernel_references(design: Design) -> list[References]:
    """Return, for each learner, the references for methods of several kernels.

    A source whose kernel is chosen is compared alone too, unless it is known only in a fit which
    sources there are. If kernels read different columns of numbers, one on all columns is compared
    too.
    """
    kernels = design.kernels
    bank = bind_kernels(kernels)
    if any(bound.auto and bound.columns is None for bound in bank):
        kernels, bank = [], []
    also = list(design.also)
    if any(k.columns is not None for k in bank) and all(k.reads == "numbers" for k in bank):
        also = also or [ON_ALL]
    alone = [
        (bound.label, (bound.label, *parts_of(kernel)[1:]))
        for kernel, bound in zip(kernels, bank, strict=True)
    ]
    besides = [
        (kernel.strip() if isinstance(kernel, str) else bind_kernels([kernel])[0].label, kernel)
        for kernel in also
    ]
    learners = design.learners or (None,)
    shared = [place for place, bound in enumerate(bank) if bound.traits.share]
    return [_of_learner(design, learner, alone, besides, shared) for learner in learners]


def _of_learner(
    design: Design, learner: Any, alone: Any, also: Any, shared: Sequence[int]
) -> References:
    parts = {"learner": learner, "feature_map": design.settings.feature_map}
    try:
        choose_components(EVEN, design.settings.feature_map, learner, target=design.task.kinds[0])
    except IncompatibleError:
        # The learner and map work only with the combiners of the methods.
        parts = dict.fromkeys(parts)

    def method(name: str, combiner: str, kind: str, **bank: Any) -> Method:
        label = name if parts["learner"] is None else method_label(design, name, learner)
        return preset_method(design, Preset(combiner, "", combiner), label, kind, **bank, **parts)

    # A kernel alone can't decide samples that lack its source, unless this is filled in.
    single, besides = (
        [
            method(name, EVEN, ONE_KERNEL, kernels=[kernel], missing=FILLED)
            for name, kernel in kernels
        ]
        for kernels in (alone, also)
    )
    even = [method(EVEN, EVEN, METHOD)] if len(single) != 1 else []
    # Without labels there is no best kernel.
    is_several = len(single) != 1 and not design.task.kinds[0].is_empty
    best = [method(BEST_KERNEL, BEST_KERNEL, METHOD)] if is_several else []
    kept = [single[place] for place in shared] if is_several else []
    beside = [*even, *single][:1] * len(kept)
    if (covariates := design.settings.covariates) and not design.task.kinds[0].is_empty:
        # Removed, they are no part of any other method.
        kernel = COVARIATES, KEPT_COVARIATES, covariates, None
        plain = {"covariates": None, "missing": FILLED}
        kept = [method(COVARIATES, EVEN, ONE_KERNEL, kernels=[kernel], **plain)]
        bank = [*design.kernels, kernel]
        beside = [method(WITH_COVARIATES, EVEN, METHOD, kernels=bank, covariates=None)]
    return {
        "even": even,
        "alone": single,
        "best": best,
        "also": besides,
        "beside": beside,
        "kept": kept,
    }
