"""Statements that both ``compare`` and ``explain`` make, each in one place."""

from __future__ import annotations


def still_told(columns: str) -> str:
    """Return that removed covariates can still be told from columns.

    Examples
    --------
    >>> still_told("'snp'")
    "removed covariates can still be told from 'snp'"
    """
    return f"removed covariates can still be told from {columns}"


def beats_guessing(models: str, are: str) -> str:
    """Return that models ``are``, or are not, shown to be better than guessing.

    Examples
    --------
    >>> beats_guessing("the model", "is not")
    'the model is not shown to be better than guessing without any feature'
    """
    return f"{models} {are} shown to be better than guessing without any feature"
