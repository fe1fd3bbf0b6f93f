"""Checks of presets: their components exist, and the system learns and can be saved."""

from __future__ import annotations

import numpy as np

from mklkit.errors import MKLKitError
from mklkit.estimators.from_preset import preset_classifier
from mklkit.protocols.component import Preset
from mklkit.registry.registry import Kind, get_registry
from mklkit.registry.specs import parse_kernel_spec
from mklkit.testing.cases import Case
from mklkit.testing.estimators import fit_model, model_of, saved_and_loaded
from mklkit.testing.expectations import CheckFailure, expect

__all__ = ["PRESET_CHECKS"]


def parts_exist(case: Case) -> None:
    """Its kernels, feature map, combiner and learner are registered and can be made."""
    preset: Preset = case.component
    parts: list[tuple[Kind, str | None]] = [
        ("feature_map", preset.feature_map),
        ("combiner", preset.combiner),
        ("learner", preset.learner),
    ]
    try:
        parts += [("kernel", parse_kernel_spec(spec).spec) for spec in preset.kernels or ()]
        for kind, spec in parts:
            if spec is not None:
                get_registry().create(kind, spec)
    except MKLKitError as error:
        raise CheckFailure(
            f"Expected spec strings of registered components; got: {error} Install its package,"
            " or correct the spec."
        ) from error


def learns_two_and_three_classes(case: Case) -> None:
    """It is better than predicting the largest class, on held-out rows of separated classes."""
    two = case.rows, np.where(case.y > 0, "well", "ill")
    for rows, labels in (two, case.three_classes()):
        model = preset_classifier(case.component, random_state=0).fit(rows[::2], labels[::2])
        right = float((model.predict(rows[1::2]) == labels[1::2]).mean())
        largest = max(float((labels[1::2] == label).mean()) for label in set(labels))
        expect(
            right > largest,
            f"more than {largest:.0%} of held-out rows right, for {len(set(labels))} classes",
            f"{right:.0%}",
            "Check the kernels' widths: they are fitted to 21 standardised rows here.",
        )


def one_seed_gives_one_system(case: Case) -> None:
    """Fitted twice with the same seed, or saved and loaded, it has the same predictions."""
    predicted = model_of(case).predict(case.new_rows)
    for label, model in (
        ("one seed", fit_model(case)),
        ("its file", saved_and_loaded(model_of(case))),
    ):
        alike = bool((model.predict(case.new_rows) == predicted).all())
        advice = "See the checks of its components."
        expect(alike, f"the same classes from {label}", "other classes", advice)


PRESET_CHECKS = (
    parts_exist,
    learns_two_and_three_classes,
    one_seed_gives_one_system,
)
