"""Checks of presets: their components exist, and the system learns and can be saved."""

from __future__ import annotations

import numpy as np

from mklkit.errors import MKLKitError, quoted
from mklkit.estimators.from_preset import preset_classifier
from mklkit.protocols.component import Preset
from mklkit.registry.registry import Kind, get_registry
from mklkit.registry.specs import is_name, parse_kernel_spec
from mklkit.testing.cases import Case
from mklkit.testing.expectations import CheckFailure, expect
from mklkit.testing.in_classifier import saved_and_loaded

__all__ = ["PRESET_CHECKS"]

SCALES = (None, "standard", "minmax", "none")


def preset_is_described(case: Case) -> None:
    """It has a valid name, one line of help, one or more members and a known scale."""
    preset: Preset = case.component
    advice = "Write Preset('my-name', 'Description.', ...)."
    wanted = "a name of letters, digits, '_', '.', '-'"
    expect(is_name(preset.name), wanted, quoted(preset.name), advice)
    one_line = bool(preset.help.strip()) and "\n" not in preset.help
    expect(one_line, "one line of help", repr(preset.help), advice)
    count = preset.members
    expect(isinstance(count, int) and count >= 1, "members of 1 or more", count, advice)
    expect(preset.scale in SCALES, f"a scale of {SCALES}", repr(preset.scale), advice)


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
    for labels in (np.where(case.y > 0, "well", "ill"), case.three_classes()[1]):
        rows = case.three_classes()[0] if len(set(labels)) == 3 else case.rows
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
    """Fitting twice with the same seed gives the same predictions."""
    first, second = (one.predict(case.new_rows) for one in (case.model(), case.fit_model()))
    advice = "Its components should draw from the random_state that fit gets."
    expect(bool((first == second).all()), "the same classes from one seed", "others", advice)


def system_is_saved_and_loaded(case: Case) -> None:
    """A system loaded from a model file has the same predictions as the saved one."""
    model = case.model()
    again = saved_and_loaded(model)
    alike = bool((again.predict(case.new_rows) == model.predict(case.new_rows)).all())
    what = "the same predictions of the loaded model"
    expect(alike, what, "other classes", "See the checks of its components.")


PRESET_CHECKS = (
    preset_is_described,
    parts_exist,
    learns_two_and_three_classes,
    one_seed_gives_one_system,
    system_is_saved_and_loaded,
)
