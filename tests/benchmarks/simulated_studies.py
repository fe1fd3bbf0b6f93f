"""Studies whose truth is known: settings that mislead, and ridge regressions of them by formula.

Each setting is a function of a number of samples and a generator of random numbers. The models of
all folds are fitted at once, because the commands take some seconds a study.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist

from mklkit.evaluation.pooled_r2 import HeldOut
from mklkit.protocols.splits.making import Folds, make_splits
from mklkit.protocols.splits.split import Split

Array = NDArray[np.float64]
ALPHA = 10.0
"""The penalty of the ridge regressions."""
COLUMNS = 4
"""The columns of a source."""
LARGEST_GAUSSIAN = 250
"""The most samples with which a Gaussian kernel is compared."""


@attrs.frozen(eq=False)
class Study:
    """The samples of one study: sources of columns and a target, -1 and +1 or a number."""

    sources: dict[str, Array]
    target: Array
    groups: NDArray[np.intp] | None = None
    is_regression: bool = False

    @property
    def rows(self) -> Array:
        """The columns of all sources, side by side (n, p)."""
        return np.hstack(list(self.sources.values()))

    @property
    def places(self) -> dict[str, slice]:
        """The columns of each source in ``rows``."""
        ends = np.cumsum([0, *(part.shape[1] for part in self.sources.values())])
        return {name: slice(*ends[m : m + 2]) for m, name in enumerate(self.sources)}

    def take(self, rows: NDArray[np.intp]) -> Study:
        """Return some samples."""
        sources = {name: part[rows] for name, part in self.sources.items()}
        groups = None if self.groups is None else self.groups[rows]
        return Study(sources, self.target[rows], groups, self.is_regression)

    @property
    def frame(self) -> pd.DataFrame:
        """The table as a user has it."""
        parts = self.sources.items()
        names = [f"{name}_{k}" for name, part in parts for k in range(part.shape[1])]
        return pd.DataFrame(self.rows, columns=names)

    @property
    def score(self) -> str:
        """The score that the commands choose."""
        if self.is_regression:
            return "r2"
        counts = np.unique(self.target, return_counts=True)[1]
        return "balanced_accuracy" if counts.max() > 1.5 * counts.min() else "accuracy"


def repeated(signal: Array, rng: np.random.Generator, noise: float = 1.0) -> Array:
    """Return columns of a source that have a signal and noise of their own."""
    return signal[:, None] + noise * rng.normal(size=(len(signal), COLUMNS))


def halves(n_samples: int, rng: np.random.Generator) -> Array:
    """Return two classes of equal size, -1 and +1, in random order."""
    return 2.0 * rng.permutation(np.arange(n_samples) % 2) - 1


def plain(n_samples: int, rng: np.random.Generator, side: float = 0.5) -> Study:
    """Two sources separate the classes, a copy has what one of them has, and one has nothing."""
    signs = halves(n_samples, rng)
    common = 0.9 * signs + rng.normal(size=n_samples)
    signals = {"main": common, "copy": common, "side": side * signs, "noise": 0 * signs}
    return Study({name: repeated(signal, rng) for name, signal in signals.items()}, signs)


def loss_of_13(n_samples: int, rng: np.random.Generator) -> Study:
    """The same, where the side source of 80 samples is worth 13 points of accuracy."""
    return plain(n_samples, rng, 0.62)


def three_sources(
    n_samples: int, rng: np.random.Generator, strengths: Sequence[float] = (0.3, 0.3, 0.575)
) -> Study:
    """Each of three sources separates the classes, the third by 13 points of 80 samples."""
    signs = halves(n_samples, rng)
    named = dict(zip(("first", "second", "third", "noise"), (*strengths, 0.0), strict=True))
    return Study({name: repeated(part * signs, rng) for name, part in named.items()}, signs)


def loss_of_4(n_samples: int, rng: np.random.Generator) -> Study:
    """Each of three sources of 1,000 samples is worth 4 points of accuracy."""
    return three_sources(n_samples, rng, (0.2, 0.2, 0.2))


def redundant(n_samples: int, rng: np.random.Generator) -> Study:
    """Two sources are nearly the same, so that either is dispensable."""
    signs = halves(n_samples, rng)
    common = repeated(0.6 * signs, rng)
    twins = {f"{name}": common + 0.1 * rng.normal(size=common.shape) for name in ("first", "twin")}
    signals = {"side": 0.3 * signs, "noise": 0 * signs}
    others = {name: repeated(signal, rng) for name, signal in signals.items()}
    return Study({**twins, **others}, signs)


def suppressor(n_samples: int, rng: np.random.Generator) -> Study:
    """One source says nothing of the classes, but of the disturbance in another."""
    signs = halves(n_samples, rng)
    disturbance = rng.normal(size=n_samples)
    signals = {
        "main": 0.6 * signs + disturbance,
        "suppressor": disturbance,
        "side": 0.2 * signs,
        "noise": 0 * signs,
    }
    return Study({name: repeated(signal, rng, 0.7) for name, signal in signals.items()}, signs)


def rare(n_samples: int, rng: np.random.Generator) -> Study:
    """A tenth of the samples are in the rare class, a tenth of which one source alone tells."""
    signs = np.where(rng.permutation(n_samples) < round(0.1 * n_samples), 1.0, -1.0)
    apart = (signs > 0) & (rng.random(n_samples) < 0.1)
    usual = np.where(apart, -1.0, signs)
    signals = {
        "main": 2.0 * usual,
        "copy": 2.0 * usual,
        "side": np.where(apart, 10.0, 0.0),
        "noise": 0 * signs,
    }
    return Study({name: repeated(signal, rng) for name, signal in signals.items()}, signs)


def patients(n_samples: int, rng: np.random.Generator) -> Study:
    """Patients of 15 samples each, which differ from each other within a class."""
    n_patients = n_samples // 15
    groups = np.repeat(np.arange(n_patients), 15)
    signs = halves(n_patients, rng)[groups]
    strengths = {"main": 0.5, "copy": 0.5, "side": 0.4, "noise": 0.0}
    sources = {}
    for name, strength in strengths.items():
        of_patients = rng.normal(size=(n_patients, COLUMNS))
        noise = rng.normal(size=(len(groups), COLUMNS))
        sources[name] = strength * signs[:, None] + 0.7 * of_patients[groups] + 0.7 * noise
    return Study(sources, signs, groups)


def confounded(n_samples: int, rng: np.random.Generator) -> Study:
    """Discrete columns, of which some follow the site alone, where the class is more frequent."""
    signs = halves(n_samples, rng)
    site = np.where(rng.random(n_samples) < 0.8, signs, -signs)
    chances = {"genes": 0.35 + 0.2 * site, "markers": 0.35 + 0.1 * signs, "noise": 0.35 + 0 * signs}
    sources = {"site": np.column_stack([site < 0, site > 0]).astype(float)}
    for name, chance in chances.items():
        sources[name] = rng.binomial(2, chance[:, None], (n_samples, COLUMNS)).astype(float)
    return Study(sources, signs)


def numbers(n_samples: int, rng: np.random.Generator, df: float = np.inf) -> Study:
    """A numeric target of two signals and normal noise."""
    common, extra = rng.normal(size=(2, n_samples))
    noise = rng.normal(size=n_samples) if np.isinf(df) else rng.standard_t(df, n_samples)
    signals = {"main": common, "copy": common, "side": extra, "noise": 0 * extra}
    sources = {name: repeated(signal, rng) for name, signal in signals.items()}
    return Study(sources, common + 0.5 * extra + noise, is_regression=True)


def patients_numbers(n_samples: int, rng: np.random.Generator) -> Study:
    """A numeric target of patients of 15 samples each, who differ in signals and noise."""
    n_patients = n_samples // 15
    groups = np.repeat(np.arange(n_patients), 15)

    def varying(n_columns: int, *scales: float) -> Array:
        """Return columns that vary between patients and between their samples."""
        between, within = (rng.normal(size=(n, n_columns)) for n in (n_patients, len(groups)))
        return np.asarray(scales[0] * between[groups] + scales[1] * within)

    common, extra, noise = varying(3, 0.8, 0.6).T
    signals = {"main": common, "copy": common, "side": extra, "noise": 0 * extra}
    sources = {
        name: signal[:, None] + varying(COLUMNS, 0.7, 0.7) for name, signal in signals.items()
    }
    return Study(sources, common + 0.5 * extra + noise, groups, is_regression=True)


def heavy_tails(n_samples: int, rng: np.random.Generator) -> Study:
    """The same with noise that has Student's distribution of two degrees of freedom."""
    return numbers(n_samples, rng, 2.0)


def folds(study: Study, repeats: int, seed: int) -> list[Split]:
    """Return five folds, several times, as the commands draw them."""
    strata = None if study.is_regression else study.target
    five = Folds(5, repeats)
    return list(make_splits(study.target, five, seed=seed, groups=study.groups, strata=strata))


@attrs.frozen(eq=False)
class Moments:
    """Of each of J folds the means (J, p), scatter (J, p, p), that with the target, its mean."""

    means: Array
    scatter: Array
    with_target: Array
    bias: Array


@attrs.define(eq=False, slots=False)
class FoldFits:
    """Models of one study on many folds."""

    study: Study
    splits: Sequence[Split]
    train: Array
    """Whether each fold trains on a sample (J, n)."""
    test: NDArray[np.bool_]
    """Whether each fold scores a sample (J, n)."""

    @classmethod
    def of(cls, study: Study, splits: Iterable[Split]) -> FoldFits:
        """Return the models on these folds."""
        pairs = list(splits)
        train, test = np.zeros((2, len(pairs), len(study.target)))
        for place, split in enumerate(pairs):
            train[place, split.train] = 1
            test[place, split.test] = 1
        return cls(study, pairs, train, test > 0)

    @cached_property
    def moments(self) -> Moments:
        """What the folds' ridge regressions need of their training samples."""
        rows, target = self.study.rows, self.study.target
        n_columns, counts = rows.shape[1], self.train.sum(axis=1)
        means, bias = self.train @ rows / counts[:, None], self.train @ target / counts
        products = (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
        scatter = (self.train @ products).reshape(-1, n_columns, n_columns)
        scatter -= counts[:, None, None] * means[:, :, None] * means[:, None, :]
        with_target = self.train @ (rows * target[:, None]) - (counts * bias)[:, None] * means
        return Moments(means, scatter, with_target, bias)

    @property
    def deviations(self) -> Array:
        """The standard deviation of each column on each fold's training samples (J, p)."""
        scatter = np.diagonal(self.moments.scatter, axis1=1, axis2=2)
        variances = scatter / self.train.sum(axis=1)[:, None]
        return np.sqrt(np.where(variances > 1e-12, variances, 1.0))

    def linear(self, moments: Moments, scales: Array) -> Array:
        """Return decisions (J, n) of ridge regressions on columns times ``scales`` (J, p)."""
        ridge = scales[:, :, None] * moments.scatter * scales[:, None, :]
        ridge += ALPHA * np.eye(scales.shape[1])
        of_target = (scales * moments.with_target)[:, :, None]
        weights = scales * np.linalg.solve(ridge, of_target)[:, :, 0]
        bias = moments.bias - (weights * moments.means).sum(axis=1)
        return weights @ self.study.rows.T + bias[:, None]

    def on_sources(self, sources: Collection[str]) -> Array:
        """Return decisions (J, n) of models on the mean of the sources' linear kernels."""
        scales = np.zeros(self.study.rows.shape[1])
        for source in sources:
            scales[self.study.places[source]] = 1 / np.sqrt(len(sources))
        return self.linear(self.moments, np.tile(scales, (len(self.splits), 1)))

    def on_weights(self, weights: Mapping[str, Array]) -> Array:
        """Return decisions (J, n) on standardised columns, with weights (J,) of the kernels."""
        scales = 1 / self.deviations
        total = sum(weights.values())
        for source, places in self.study.places.items():
            scales[:, places] *= np.sqrt(weights.get(source, 0 * total) / total)[:, None]
        return self.linear(self.moments, scales)

    def alignments(self) -> dict[str, Array]:
        """Return of each source the centred alignment of its kernel with the target, (J,)."""
        moments, scales, weights = self.moments, 1 / self.deviations, {}
        for source, places in self.study.places.items():
            scaled = scales[:, places]
            scatter = scaled[:, :, None] * moments.scatter[:, places, places] * scaled[:, None, :]
            with_target = scaled * moments.with_target[:, places]
            size = np.sqrt(np.square(scatter).sum(axis=(1, 2)))
            weights[source] = np.square(with_target).sum(axis=1) / size
        return weights

    def best_single(self, seed: int) -> Array:
        """Return decisions (J, n) on the source that is best in five folds of the training samples.

        At most 500 samples are scored in them.
        """
        inner = [self._inside(split, seed + place) for place, split in enumerate(self.splits)]
        outer = np.repeat(np.arange(len(inner)), [len(splits) for splits in inner])
        right = []
        for source, places in self.study.places.items():
            part = attrs.evolve(self.study, sources={source: self.study.sources[source]})
            fits = FoldFits.of(part, [split for splits in inner for split in splits])
            decided = fits.linear(fits.moments, 1 / self.deviations[outer, places])
            right.append(np.bincount(outer, (fits.outcomes(decided) * fits.test).sum(axis=1)))
        best = np.argmax(right, axis=0)
        names = list(self.study.places)
        return self.on_weights({name: (best == m) * 1.0 for m, name in enumerate(names)})

    def _inside(self, split: Split, seed: int) -> list[Split]:
        """Return folds of the training samples of a split, dealt without scikit-learn's checks."""
        train, study = split.train, self.study
        units = np.arange(len(train)) if study.groups is None else study.groups[train]
        first = np.unique(units, return_index=True)[1]
        order = np.random.default_rng(seed).permutation(first)
        if not study.is_regression:
            order = order[np.argsort(study.target[train[order]], kind="stable")]
        fold_of = pd.Series(np.arange(len(order)) % 5, units[order])[units].to_numpy()
        n_folds = -(-500 * 5 // len(train))
        return [Split(train[fold_of != k], train[fold_of == k]) for k in range(5)[:n_folds]]

    def gaussian(self) -> Array:
        """Return decisions (J, n) with a Gaussian kernel as wide as the mean distance in training.

        They are those of the scored samples alone.
        """
        rows, deviations = self.study.rows, self.deviations
        decided = np.zeros(self.test.shape)
        for place, (deviation, split) in enumerate(zip(deviations, self.splits, strict=True)):
            train, test = split.train, split.test
            scaled = rows / deviation
            distances = cdist(scaled, scaled[train], "sqeuclidean")
            width = np.sqrt(distances[train]).mean()
            gram = np.exp(-distances / (2 * width**2))
            target = self.study.target[train]
            # Centring the kernel's features is a constraint on the dual coefficients: sum 0.
            ridge = cho_factor(gram[train] + ALPHA * np.eye(len(train)))
            of_target = cho_solve(ridge, np.column_stack([target, np.ones(len(train))]))
            bias = of_target[:, 0].sum() / of_target[:, 1].sum()
            decided[place, test] = gram[test] @ (of_target[:, 0] - bias * of_target[:, 1]) + bias
        return decided

    def outcomes(self, decided: Array) -> Array:
        """Return whether decisions (J, n) are right, of numbers the negated squared error."""
        target = self.study.target
        if self.study.is_regression:
            return -np.square(decided - target)
        return np.asarray((decided > 0) == (target > 0), dtype=float)

    def scores(self, decided: Array) -> Array:
        """Return the score of each fold (J,)."""
        outcomes, target, test = self.outcomes(decided), self.study.target, self.test
        if self.study.is_regression:
            tests = [split.test for split in self.splits]
            scored = HeldOut(target, tests)
            variance = np.concatenate([scored.variance(place) for place in range(len(tests))])
            return 1 + (outcomes * test).sum(axis=1) / test.sum(axis=1) / variance
        parts = [test]
        if self.study.score == "balanced_accuracy":
            parts = [test & (target > 0), test & (target < 0)]
        shares = [(outcomes * part).sum(axis=1) / part.sum(axis=1) for part in parts]
        return np.mean(shares, axis=0)


def method_scores(fits: FoldFits, seed: int) -> dict[str, Array]:
    """Return the score of each fold (J,) of the methods that ``compare`` asks about.

    Centred columns have the same alignment, centred or not, unless classes differ in size. The
    Gaussian kernel takes too long for many samples.
    """
    n_folds, sources = len(fits.splits), list(fits.study.places)
    decided = {
        "uniform": fits.on_weights(dict.fromkeys(sources, np.ones(n_folds))),
        "centered-alignment": fits.on_weights(fits.alignments()),
        "best-single": fits.best_single(seed),
    }
    if len(fits.study.target) <= LARGEST_GAUSSIAN:
        decided["rbf on all columns"] = fits.gaussian()
    return {name: fits.scores(values) for name, values in decided.items()}


def scores_without(fits: FoldFits) -> tuple[Array, dict[str, Array]]:
    """Return the score of each fold (J,) with all sources, and without each of them."""
    sources = list(fits.study.places)
    without = {
        source: fits.scores(fits.on_sources([other for other in sources if other != source]))
        for source in sources
    }
    return fits.scores(fits.on_sources(sources)), without


Setting = Callable[[int, np.random.Generator], Study]
SIZES = (40, 80, 250, 1000)
SETTINGS: dict[Setting, Sequence[int]] = {
    plain: SIZES,
    loss_of_13: (80,),
    three_sources: (80,),
    loss_of_4: (1000,),
    redundant: SIZES,
    suppressor: SIZES,
    rare: SIZES,
    confounded: SIZES,
    patients: (150, 300, 600),
    patients_numbers: (150, 300, 600),
    numbers: SIZES,
    heavy_tails: SIZES,
}
"""The settings and their numbers of samples."""
