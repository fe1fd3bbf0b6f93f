"""The names and formats of scores in tables of methods."""

from __future__ import annotations

import attrs


@attrs.frozen
class Measure:
    """A score: its head on a page, and shorter ones on a terminal (empty: left out) and in LaTeX.

    A share is written in percent. For errors (``lower``) the least is the best.
    """

    head: str
    short: str
    latex: str
    share: bool = False
    lower: bool = False

    @property
    def scale(self) -> tuple[int, int]:
        """A factor, and the decimals of the product to show."""
        return scale_of("points" if self.share else "")


MEASURES = {
    "accuracy": Measure("Accuracy", "accuracy %", "Accuracy", share=True),
    "balanced_accuracy": Measure("Balanced accuracy", "bal.", r"Bal.\ acc.", share=True),
    "auc": Measure("AUC", "AUC", "AUC"),
    "log_loss": Measure("Log loss", "", "Log loss", lower=True),
    "r2": Measure("R²", "R²", "$R^2$"),
    "mean_absolute_error": Measure("Mean absolute error", "MAE", "MAE", lower=True),
}

PARTS = {"complete_score": ("All sources", "all"), "lacking_score": ("One lacking", "lack")}
"""Heads of the scores on rows with and without all sources, on a page and a terminal."""


def scale_of(unit: str) -> tuple[int, int]:
    """Return a factor and the decimals of scores whose differences have a unit."""
    return (100, 1) if unit == "points" else (1, 3)
