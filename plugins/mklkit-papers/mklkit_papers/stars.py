"""Four groups of two stars (4-XmasStar), the generated data of Mu and Zhou 2011, section 2."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

GAPS = (0.2, 0.8, 1.4, 2.0)
"""Distances of the two stars' centres in each group."""


def make_four_stars(
    n_samples: int = 800,
    gaps: tuple[float, ...] = GAPS,
    deviation: float = 0.3,
    n_rays: int = 6,
    spacing: float = 6.0,
    random_state: Any = None,
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    """Make groups of two stars, one per class, whose distance differs between groups.

    Parameters
    ----------
    n_samples : int, default=800
        The number of samples, divided evenly among the stars.
    gaps : tuple of float, default=(0.2, 0.8, 1.4, 2.0)
        The distance of the two stars' centres, per group.
    deviation : float, default=0.3
        The standard deviation along a star's rays.
    n_rays : int, default=6
        The number of rays per star.
    spacing : float, default=6.0
        The distance of the groups' centres, which form a square (Figure 2).
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        0 and 1.
    group : ndarray of shape (n_samples,)
        The group of each sample, numbered like the gaps.

    Examples
    --------
    >>> X, y, group = make_four_stars(400, random_state=0)
    >>> X.shape, np.bincount(y).tolist(), np.bincount(group).tolist()
    ((400, 2), [200, 200], [100, 100, 100, 100])
    """
    rng = check_random_state(random_state)
    star = np.arange(n_samples) % (2 * len(gaps))
    group, y = star // 2, star % 2
    columns = int(np.ceil(np.sqrt(len(gaps))))
    centers = spacing * np.stack([group % columns, group // columns], axis=1).astype(float)
    centers[:, 0] += np.asarray(gaps)[group] * (y - 0.5)
    angles = 2 * np.pi * rng.randint(n_rays, size=n_samples) / n_rays
    lengths = np.abs(rng.normal(scale=deviation, size=n_samples))
    rays = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    # Without this small width, two rays of a star would have no common neighbourhood.
    width = rng.normal(scale=deviation / 20, size=(n_samples, 2))
    return centers + lengths[:, None] * rays + width, y, group
