"""A permutation test: do methods predict labels better than labels that are permuted?

M. Ojala and G. C. Garriga, "Permutation tests for studying classifier performance", Journal of
Machine Learning Research 11 (2010), test 1. Groups: A. M. Winkler et al., "Multi-level
block permutation", NeuroImage 123 (2015).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.comparison.data import DataSet
from mklkit.comparison.methods import CLASSIFIER, METHOD, Method
from mklkit.comparison.stored import Cell, Results
from mklkit.errors import DataError, counted
from mklkit.evaluation.rank_tests import DIGITS
from mklkit.protocols.splits.making import MOST_SPLITS, USUAL_FOLDS, Folds, MonteCarlo
from mklkit.protocols.splits.split import Splits

MOST_PERMUTATIONS = 100_000
"""More than any p value needs; their number is part of no plan, so that some can be added."""
USUAL_PERMUTATIONS = 200
WITHIN_SIZES = "groups of a size, then samples inside"
"""The scheme of groups with several labels, as plans record it."""
FEW_SAMPLES = 100
"""With fewer samples, the test is proposed."""


def permuted_methods(methods: Sequence[Method], unadjusted: Mapping[str, Any]) -> list[Method]:
    """Return the methods to test: those of several kernels and the user's, else all.

    Methods that still tell removed covariates are not tested.
    """
    adjusted = [method for method in methods if method.name not in unadjusted]
    return [method for method in adjusted if method.kind in (METHOD, CLASSIFIER)] or adjusted


def one_repetition(request: Any) -> Any:
    """Return the request for the first repetition of the splits, or the first few random ones."""
    if isinstance(request, Folds):
        return attrs.evolve(request, repeats=1)
    if isinstance(request, MonteCarlo):
        return attrs.evolve(request, number=min(USUAL_FOLDS, request.number))
    return request


@attrs.frozen
class Blocks:
    """The groups of samples as blocks of exchangeable targets.

    If each group has a single target, as the samples of a patient do, all groups exchange theirs.
    Otherwise groups of the same size exchange all their targets, and samples then exchange theirs
    inside each group: whole-block and within-block exchangeability (Winkler et al. 2015). Which of
    the two it is does not depend on the order of the targets, so it is the same after a
    permutation.

    Parameters
    ----------
    members : list of ndarray of shape (size,)
        The samples of each group.
    constant : list of bool
        Whether all samples of the group have the same target.
    """

    members: list[NDArray[np.intp]]
    constant: list[bool]

    @classmethod
    def of(cls, targets: NDArray[Any], groups: NDArray[Any]) -> Blocks:
        """Return the blocks of targets with these groups."""
        frame = pd.DataFrame(targets.reshape(len(targets), -1))
        codes, labels = pd.factorize(groups)
        members = [np.flatnonzero(codes == code) for code in range(len(labels))]
        constant = (frame.groupby(codes).nunique(dropna=False) == 1).all(axis=1)
        return cls(members, constant.tolist())

    @property
    def whole(self) -> bool:
        """Whether each group has a single target, which groups of any size can exchange."""
        return all(self.constant)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """The number of samples of each group."""
        return np.array([len(rows) for rows in self.members])

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Whether each group has no other with which to exchange targets."""
        sizes, counts = np.unique(self.sizes, return_counts=True)
        return np.isin(self.sizes, sizes[counts == 1]) & (not self.whole)

    @property
    def fixed(self) -> int:
        """The number of samples whose target no permutation changes."""
        return int(self.sizes[self.alone & np.array(self.constant)].sum())

    def shuffled(self, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return the sample from which each sample gets its target."""
        rows = np.empty(self.sizes.sum(), dtype=np.intp)
        sources = np.arange(len(self.members))
        sizes = np.zeros_like(self.sizes) if self.whole else self.sizes
        for size in np.unique(sizes):
            places = np.flatnonzero(sizes == size)
            sources[places] = rng.permutation(places)
        for group, source in zip(self.members, sources, strict=True):
            taken = self.members[source]
            rows[group] = taken[0] if self.whole else rng.permutation(taken)
        return rows

    def in_words(self) -> str:
        """Return what is permuted."""
        n_groups = counted(len(self.members), "group")
        if self.whole:
            return f"{n_groups} exchange their labels, because each has a single one"
        text = "groups of the same size exchange their labels, and samples those inside a group"
        if n_alone := int(self.alone.sum()):
            text += (
                f"; {n_alone} of {n_groups} are the only ones of their size and exchange labels"
                " only inside"
            )
        return text


def shuffled_rows(
    targets: NDArray[Any], groups: NDArray[np.intp] | None, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return the sample (N,) from which each sample gets its target; groups are :class:`Blocks`.

    Examples
    --------
    >>> patients = np.array([0, 0, 1, 1, 2, 2])
    >>> labels = np.array(list("aaaabb"))
    >>> labels[shuffled_rows(labels, patients, np.random.default_rng(1))].tolist()
    ['a', 'a', 'a', 'a', 'b', 'b']
    """
    if groups is None:
        return rng.permutation(len(targets))
    return Blocks.of(targets, groups).shuffled(rng)


def note_on_groups(data: DataSet) -> str:
    """Return how the labels of groups are permuted, empty without groups.

    Raises
    ------
    DataError
        If most labels can't be permuted, so that the test would find nothing.
    """
    if data.groups is None:
        return ""
    blocks = Blocks.of(data.target, data.groups)
    if 2 * blocks.fixed > len(data.target):
        raise DataError(
            f"The labels of {data.name} can't be permuted for --permutations: some groups have"
            f" several labels, so only groups of the same size can exchange theirs, and"
            f" {blocks.fixed} of {len(data.target)} samples are in groups with a single label whose"
            " size no other group has. Leave out the groups with several labels, or --permutations."
        )
    return f"labels of {data.name} are permuted by group: {blocks.in_words()}"


def with_shuffled_labels(data: DataSet, seed: int, place: int) -> DataSet:
    """Return a data set whose targets are permuted in a way that seed and place determine."""
    rng = np.random.default_rng([seed, place])
    target = data.table.target
    rows = shuffled_rows(data.target, data.groups, rng)
    shuffled = target.iloc[rows].set_axis(target.index)
    return attrs.evolve(data, table=attrs.evolve(data.table, target=shuffled))


@attrs.frozen(eq=False)
class Shuffles:
    """The runs of one data set with permuted labels.

    Parameters
    ----------
    data : DataSet
        With its true labels.
    request : object
        How it is split.
    seed : int
        The seed of the comparison.
    methods : list of Method
        Those to test.
    """

    data: DataSet
    request: Any
    seed: int
    methods: list[Method]

    @property
    def n_splits(self) -> int:
        """The number of splits of a repetition with the true labels."""
        return len(self.divided(self.data))

    @property
    def n_runs(self) -> int:
        """The number of runs of one permutation."""
        return self.n_splits * len(self.methods)

    def divided(self, data: DataSet) -> Splits:
        """Return the splits of one repetition, stratified by the labels that the data have."""
        request = one_repetition(self.request)
        return data.task.splits(data.target, request, self.seed, data.groups)

    def runs(
        self, number: int, run: Callable[..., Iterator[Any]], stored: Results
    ) -> Iterator[list[Cell]]:
        """Yield the runs of each permutation, once they are all finished.

        ``run`` runs methods on the splits of data, except for those of which it gets the cells.
        """
        for shuffle in range(number):
            data = with_shuffled_labels(self.data, self.seed, shuffle)
            first = shuffle * MOST_SPLITS

            def known(place: int, method: Method, first: int = first) -> Cell | None:
                return stored.known(self.data.name, first + place, method)

            bare: dict[str, Any] = {"details": {}, "responses": {}, "weights": None}
            yield [
                stored.add(first + place, method, attrs.evolve(cell, **bare))
                for place, method, cell in run(data, self.divided(data), self.methods, known)
            ]


def of_permutations(metadata: Mapping[str, Any], data: Sequence[DataSet]) -> dict[str, Any]:
    """Return the plan of the runs with permuted labels, which does not depend on their number.

    It tells how groups with several labels exchange them, so that no file of runs that were
    permuted in another way is resumed.
    """
    most = MOST_PERMUTATIONS * MOST_SPLITS
    splits = [
        {**part, "number": most, **_scheme(source)}
        for part, source in zip(metadata["splits"], data, strict=True)
    ]
    return {**metadata, "splits": splits}


def _scheme(data: DataSet) -> dict[str, str]:
    """Return how groups exchange labels, if some have several; the other schemes never changed."""
    if data.groups is None or Blocks.of(data.target, data.groups).whole:
        return {}
    return {"permuted": WITHIN_SIZES}


def permutation_tests(
    observed: Sequence[Cell], shuffled: Sequence[Sequence[Cell]], n_splits: int
) -> pd.DataFrame:
    """Return the tests of the methods of one data set.

    Parameters
    ----------
    observed : sequence of Cell
        The runs with the true labels, whose first ``n_splits`` splits are the one repetition.
    shuffled : sequence of sequence of Cell
        The runs of each permutation of the labels.
    n_splits : int

    Returns
    -------
    pandas.DataFrame
        One row per method: ``method``, mean ``score`` with the true labels on ``splits`` splits,
        ``permutations`` and in how many of them the method (``at_least``) or the best method
        (``best_at_least``) has such a score, and the p values (1 + count)/(1 + permutations)
        ``p_value`` and ``p_best``. A method that fails with permuted labels counts as if it reached
        the score.
    """
    means = pd.DataFrame([_means(cells) for cells in shuffled]).round(DIGITS)
    rows = []
    for name in map(str, means):
        scores = [cell.score for cell in observed if cell.method == name][:n_splits]
        score = float(np.round(np.mean(scores), DIGITS))
        reached = ~(means[name] < score), ~(means.max(axis=1, skipna=False) < score)
        counts = [int(each.sum()) for each in reached]
        p_values = [(1 + count) / (1 + len(means)) for count in counts]
        if np.isnan(score):
            p_values = [np.nan, np.nan]
        rows.append((name, score, n_splits, len(means), *counts, *p_values))
    columns = ["method", "score", "splits", "permutations", "at_least", "best_at_least"]
    columns += ["p_value", "p_best"]
    return pd.DataFrame(rows, columns=columns)


def _means(cells: Sequence[Cell]) -> dict[str, float]:
    """Return the mean score of each method, NaN if some run failed."""
    scores: dict[str, list[float]] = {}
    for cell in cells:
        scores.setdefault(cell.method, []).append(cell.score)
    return {name: float(np.mean(values)) for name, values in scores.items()}


def proposal(n_samples: int) -> str:
    """Return that a permutation test suits few samples, and how to ask for it."""
    return (
        f"with {n_samples} samples, a permutation test tells whether the methods predict at all:"
        f" --permutations {USUAL_PERMUTATIONS} (in Python permutations={USUAL_PERMUTATIONS})"
    )


def sentence_on_permutations(
    tests: pd.DataFrame, written: Callable[[float], str], score: str, part: str = ""
) -> str:
    """Return a sentence on the method that is best with the true labels, of one data set.

    ``part`` says of which splits the score is, if it is not of all.
    """
    scored = tests[tests["p_best"].notna()]
    if scored.empty:
        return "no method was fitted on every split, so permuted labels are no comparison"
    best = max(scored.to_dict("records"), key=lambda test: float(test["score"]))
    shown = "predicts" if best["p_best"] < 0.05 else "is not shown to predict"
    several = f", with the choice of the best of {len(tests)}" if len(tests) > 1 else ""
    number = counted(int(best["permutations"]), "permutation")
    return (
        f"{best['method']} {shown} better than from permuted labels: {score}"
        f" {written(best['score'])}{part} is reached in {best['best_at_least']} of {number}"
        f" (p = {best['p_best']:.2g}{several})"
    )
