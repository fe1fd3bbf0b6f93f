"""Mu and Zhou 2011, section 7.1: weights and accuracies on the four stars (4-XmasStar)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import attrs
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.model_selection import StratifiedShuffleSplit

from mklkit.combiners.cluster_gating.combiner import ClusterGating
from mklkit.errors import UnknownNameError
from mklkit.estimators.classifier import MKLClassifier
from mklkit.plotting.parts import new_figure
from mklkit.protocols import Array
from mklkit_papers.entries import Entry
from mklkit_papers.gates import GatesDisplay
from mklkit_papers.lines import ACCURACY, Line, Measure, PrintedTable, published
from mklkit_papers.protocol import DataUse
from mklkit_papers.scores import WEIGHT
from mklkit_papers.session import Session, SetLines
from mklkit_papers.stars import GAPS, make_four_stars

STARS = DataUse("4-XmasStar", "", quick=3)
N_ROWS, TRAIN = 800, 0.3
GAMMA = 1e-3 * TRAIN * N_ROWS
"""1e-3, of scatters that are averages over the training samples."""
WIDTHS = (0.01, 0.1, 1, 10, 100)
KERNELS = [f"K{width:g}:rbf(gamma={width**-2:g})" for width in WIDTHS]
NAMES = [f"K{width:g}" for width in WIDTHS]
GROUPS = [f"gap {gap:g}" for gap in GAPS]
EVERY = "all"
MARGIN, RESOLUTION = 0.5, 200
"""For Figure 2: the margin beyond the samples, and the points of the plane per axis."""
GATED, LOCALIZED, EVEN = "C=4", "LocalizedMKL", "average kernel"

THETA = published("mu-2011-eq16")


@attrs.frozen(eq=False)
class Stars:
    """The samples (N, 2) of one seed, and cluster gating until convergence on the training part."""

    rows: Array
    labels: Any
    groups: Any
    train: Any
    test: Any
    gated: MKLClassifier

    @classmethod
    @cache
    def of_seed(cls, seed: int) -> Stars:
        """Return the samples and weights of a seed; stars have the same shares of both parts."""
        rows, labels, groups = make_four_stars(N_ROWS, random_state=seed)
        cut = StratifiedShuffleSplit(1, train_size=TRAIN, random_state=seed)
        train, test = next(cut.split(rows, 2 * groups + labels))
        combiner = ClusterGating(n_clusters=4, alpha=GAMMA, max_iter=500, tol=1e-6)
        gated = _classifier(KERNELS, combiner, seed).fit(rows[train], labels[train])
        return cls(rows, labels, groups, train, test, gated)

    def memberships(self, rows: Array) -> Array:
        """Return Γ (n, C) of samples (n, 2)."""
        decision: Any = self.gated.decisions_[0]
        return np.asarray(decision.gates.memberships(rows))

    def fitted(self, name: str, seed: int) -> MKLClassifier:
        """Return a system, fitted on the training samples."""
        if name == GATED:
            return self.gated
        if name == LOCALIZED:
            model = MKLClassifier(KERNELS, combiner="localized", random_state=seed)
        else:
            kernels = [KERNELS[NAMES.index(name)]] if name in NAMES else KERNELS
            model = _classifier(kernels, "uniform", seed)
        return model.fit(self.rows[self.train], self.labels[self.train])


def _classifier(kernels: list[str], combiner: Any, seed: int) -> MKLClassifier:
    learner = f"kda(alpha={GAMMA:g})"
    return MKLClassifier(kernels, combiner=combiner, learner=learner, random_state=seed)


def cluster_weights(seed: int) -> Array:
    """Return Θ (groups, kernels): the row of a group is that of its matched cluster.

    The groups and clusters are matched so that most samples are in the cluster of their group.
    """
    stars = Stars.of_seed(seed)
    shares = _by_group(stars, stars.memberships(stars.rows))
    _, clusters = linear_sum_assignment(-shares)
    return np.asarray(stars.gated.weights_)[clusters]


def group_gates(seed: int) -> Array:
    """Return the mean weight of each kernel over the samples of each group, (kernels, groups)."""
    stars = Stars.of_seed(seed)
    return _by_group(stars, stars.gated.gate_weights(stars.rows)).T


def _by_group(stars: Stars, values: Array) -> Array:
    return np.stack([values[stars.groups == group].mean(axis=0) for group in range(len(GAPS))])


def _accuracies(name: str, seed: int) -> Array:
    """Return a system's test accuracies in %: of all samples, and of each group."""
    stars = Stars.of_seed(seed)
    right = stars.fitted(name, seed).predict(stars.rows[stars.test]) == stars.labels[stars.test]
    groups = stars.groups[stars.test]
    parts = [right, *(right[groups == group] for group in range(len(GAPS)))]
    return 100 * np.array([[part.mean() for part in parts]])


def _lines(
    session: Session,
    _: DataUse,
    values: Callable[[int], Array],
    rows: Sequence[str],
    columns: Sequence[str],
    measure: Measure,
    table: PrintedTable | None = None,
) -> Iterator[Line]:
    """Yield the means over seeds of values (rows, columns)."""
    number = session.number(STARS)
    of_seeds = []
    for seed in range(number):
        session.progress(seed, number, f"{STARS.label}: {rows[0]}")
        of_seeds.append(values(seed))
    by_place = np.moveaxis(np.array(of_seeds), 0, -1)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            printed = table[row][column] if table else None
            yield Line.mean_of(row, column, measure, by_place[i, j], printed)


_theta_lines = partial(
    _lines, values=cluster_weights, rows=GROUPS, columns=NAMES, measure=WEIGHT, table=THETA
)
_gate_lines = partial(_lines, values=group_gates, rows=NAMES, columns=GROUPS, measure=WEIGHT)


def _accuracy_lines(session: Session, use: DataUse) -> Iterator[Line]:
    for name in (*NAMES, EVEN, LOCALIZED, GATED):
        try:
            values = partial(_accuracies, name)
            yield from _lines(session, use, values, [name], [EVERY, *GROUPS], ACCURACY)
        except UnknownNameError as error:
            yield Line(row=name, column="", measure=ACCURACY, reason=str(error))


def _draw_regions(_: Sequence[Line]) -> SimpleNamespace:
    """Return Figure 2 for the first seed: samples by class, by cluster, and LocalizedMKL's regions.

    A region is where one kernel has the largest weight; lines are the decision boundary.
    """
    from matplotlib import colormaps

    stars = Stars.of_seed(0)
    rows, labels = stars.rows[stars.train], stars.labels[stars.train]
    model = stars.fitted(LOCALIZED, 0)
    palette = colormaps["Set2"].resampled(len(NAMES))
    figure = new_figure(11, 4)
    classes, clusters, regions = figure.subplots(1, 3, sharex=True, sharey=True)
    classes.scatter(*rows.T, c=labels, s=6, cmap="coolwarm")
    clusters.scatter(*rows.T, c=stars.memberships(rows).argmax(axis=1), s=6, cmap=palette)
    low, high = rows.min(axis=0) - MARGIN, rows.max(axis=0) + MARGIN
    across, up = np.linspace(low, high, RESOLUTION, axis=1)
    plane = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    shape = RESOLUTION, RESOLUTION
    strongest = model.gate_weights(plane).argmax(axis=1).reshape(shape)
    ends: dict[str, Any] = {"vmin": -0.5, "vmax": len(NAMES) - 0.5, "rasterized": True}
    colored = regions.pcolormesh(across, up, strongest, cmap=palette, **ends)
    outputs = np.asarray(model.decision_function(plane)).reshape(shape)
    regions.contour(across, up, outputs, levels=[0], colors="black", linewidths=0.8)
    regions.scatter(*rows.T, c=labels, s=3, cmap="coolwarm")
    bar = figure.colorbar(colored, ax=regions, ticks=range(len(NAMES)))
    bar.set_ticklabels(NAMES)
    titles = ("classes", "clusters", "LocalizedMKL: strongest kernel")
    for ax, title in zip((classes, clusters, regions), titles, strict=True):
        ax.set_title(title)
    return SimpleNamespace(figure_=figure)


def _draw_gates(_: Sequence[Line]) -> GatesDisplay:
    """Return Figure 3 for the first seed, with the two kernels that the paper leaves out."""
    stars = Stars.of_seed(0)
    return GatesDisplay.from_estimator(
        stars.gated, stars.rows[stars.train], stars.labels[stars.train]
    )


STARS_ENTRIES = (
    Entry.told("mu-2011-eq16", SetLines([STARS], WEIGHT, _theta_lines)),
    Entry.told("mu-2011-fig2", SetLines([STARS], ACCURACY, _accuracy_lines), draw=_draw_regions),
    Entry.told("mu-2011-fig3", SetLines([STARS], WEIGHT, _gate_lines), draw=_draw_gates),
)
