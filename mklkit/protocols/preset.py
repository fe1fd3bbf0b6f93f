"""What a preset is: the four choices of a whole system under one name."""

from __future__ import annotations

import attrs

__all__ = ["Preset"]


@attrs.frozen
class Preset:
    """A named system.

    Attributes
    ----------
    name : str
        The name that users type.
    help : str
        One line of description with its source.
    combiner : str
    kernels : tuple of str, optional
        Spec strings; the library's default trio where not given.
    feature_map, learner : str, optional
        Spec strings; the combiner's own pair where not given.
    members : int, default=1
        The number of classifiers that vote, each with its own random maps.
    scale : {"standard", "minmax", "none"}, optional
        How ``mklkit.preset_pipeline`` and the command line scale the features;
        ``"standard"`` where not given.

    Examples
    --------
    >>> Preset("two-widths", "Two Gaussians, even.", "uniform", ("rbf", "rbf(sigma=1)")).combiner
    'uniform'
    """

    name: str
    help: str
    combiner: str
    kernels: tuple[str, ...] | None = None
    feature_map: str | None = None
    learner: str | None = None
    members: int = 1
    scale: str | None = None
