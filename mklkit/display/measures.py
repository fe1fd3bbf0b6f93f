"""The names of scores in tables of methods, and whether they are shares or errors."""

from __future__ import annotations

import attrs


@attrs.frozen
class Measure:
    """A score: its head, and a shorter one for a terminal (empty: left out there).

    A share is written in percent. For errors (``lower``) the least is the best.
    """

    head: str
    short: str
    share: bool = False
    lower: bool = False


MEASURES = {
    "accuracy": Measure("Accuracy", "accuracy %", share=True),
    "balanced_accuracy": Measure("Balanced accuracy", "bal.", share=True),
    "auc": Measure("AUC", "AUC"),
    "log_loss": Measure("Log loss", "", lower=True),
    "r2": Measure("R²", "R²"),
    "mean_absolute_error": Measure("Mean absolute error", "MAE", lower=True),
}

PARTS = {"complete_score": ("All sources", "all"), "lacking_score": ("One lacking", "lack")}
"""Heads of the scores on rows with and without all sources, on a page and a terminal."""
