"""``kernels="auto"``: how each source is represented, chosen from the training samples.

A representation is what is done to a source's columns, and the kernel on them. The candidates are
those that registered kernels propose for what the columns hold. Each is judged by the leave-one-out
error of kernel ridge regression, of all classes or numbers at once. A source keeps the usual
representation unless another one is clearly better; then sources are dropped if the others predict
better without them. A lone source gets a sum of representations instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

from mklkit.display.html import notes, shown
from mklkit.display.numbers import number, percentage
from mklkit.errors import DataError, MKLKitError, counted, plain_message, quoted
from mklkit.estimators.binding import bind, header
from mklkit.estimators.joining import joined_and_places
from mklkit.estimators.reading import as_source, read_rows
from mklkit.estimators.showing import KernelSummary
from mklkit.estimators.sources import LONE_SOURCE, sources_to_choose, with_columns_of_labels
from mklkit.estimators.training_data import TrainingData, check_training
from mklkit.numerics.least_squares import Spectrum
from mklkit.numerics.ridge import (
    GramRidge,
    LeftOut,
    WeightedRows,
    left_out,
    one_hot,
    spectrum_of_features,
    squared_errors,
)
from mklkit.numerics.sampling import drawn_by_class
from mklkit.protocols import (
    TWO_CLASSES,
    Array,
    FittedKernel,
    Mask,
    Rows,
    Target,
    TargetKind,
    members_with,
)
from mklkit.protocols.splits.making import make_splits
from mklkit.registry.columns import AUTO_KERNELS, bind_kernels, proposed_kernels
from mklkit.registry.specs import kernel_spec
from mklkit.views.bound_kernels import BoundKernel, fit_kernels
from mklkit.views.kernel_rows import KernelRows, is_scalar
from mklkit.views.scaling import SCALINGS, fits_dense, is_fitted_to_all, with_scaling
from mklkit.views.sides import GramSide

MOST_EXACT = 2000
"""With more samples, errors are those of features of landmarks: exact ones take the cube."""

MOST_ROWS = 10_000
"""The most samples for which errors are computed."""

LANDMARKS = 500
"""The landmarks of more than 2,000 samples."""

ROWS_OF_A_LONE_SOURCE = 500
"""The most samples of a lone source for which errors of fifty sums of kernels are computed."""

RIDGES = tuple(10.0**power for power in range(-5, 2))
"""The ridges to try, times the mean k(x, x) of the samples about their mean."""

CLEAR = 2.0
"""By how many standard errors of the difference a representation must be better than the usual."""

GAIN = 0.005
"""By which share the error must fall for each further kernel of a sum."""

WORTH = 0.01
"""By which share the error must fall for sources to be dropped."""

MOST_COMPARED = 10_000
"""With more rows, a lone source of a classifier has landmarks: a Gram matrix takes 8N² bytes."""

MOST_SOLVED = 5000
"""With more samples, that of a regressor has landmarks: ridge regression takes N³."""

MUCH = 0.8
"""The share of a named kernel's error below which another representation is worth a warning."""

MUCH_OF_ALL = 0.05
"""And by how much of the error of the mean it must be lower."""

ROWS_OF_WARNINGS = 300
"""Samples on which named kernels are compared with other representations, in tenths of a second."""

MOST_TAKEN = 8
"""The most representations of a lone source."""

FEW_COLUMNS = 100
"""Kernels that no matrix product gives are candidates for a lone source of so few columns."""

ROWS_OF_LEARNERS = 400
"""Samples on which learners are compared."""

AUTO = "kernels auto: "
"""The beginning of notes on chosen kernels."""

LEFT_OUT = "dropped"
"""The beginning of notes on what was dropped."""


@attrs.frozen
class KernelBank:
    """The kernels of an estimator, bound to columns of its training data.

    ``learner`` is the one that was chosen with them; None if none was. ``needs_landmarks``: whether
    the training samples are so many that they should be compared with landmarks, and not with each
    other. ``notes`` tell what was chosen and why.
    """

    kernels: list[BoundKernel]
    notes: tuple[str, ...] = ()
    learner: Any = None
    needs_landmarks: bool = False

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a table of the kernels, and the notes."""
        table = KernelSummary(self.kernels).html()
        return shown(table, notes("What was chosen, and why", self.notes))


def propose_kernels(
    X: Any,
    y: Any,
    kernels: Any = "auto",
    kind: TargetKind = TWO_CLASSES,
    *,
    max_exact: int = MOST_EXACT,
    landmarks: int = LANDMARKS,
) -> KernelBank:
    """Return the kernels that ``MKLClassifier(kernels="auto")`` takes on these training samples.

    Parameters
    ----------
    X : DataFrame, array-like, mapping of these, StoredRows or Dask collection of shape (N, d)
        The training samples; a mapping has the columns of each source. The columns of a DataFrame
        are grouped by their names.
    y : array-like of shape (N,)
        Their class labels, or what the ``kind`` reads.
    kernels : str or list, default="auto"
        As for :class:`MKLClassifier`: ``"auto"``, or ``"mrna:auto@mrna_*"`` for each source, beside
        kernels that are named.
    kind : TargetKind, default=TWO_CLASSES
        The kind of the target; several classes are two classes too.
    max_exact : int, default=2000
        The most samples of which errors are exact, in time that grows with their cube. With more,
        errors are those of features of landmarks.
    landmarks : int, default=500
        The landmarks of more samples, in time that grows with their square.

    Returns
    -------
    KernelBank
        With ``kernels``, bound to columns, and ``notes``, which tell what was chosen and why; a
        table in a notebook.

    Raises
    ------
    ValueError
        For data that a classifier does not accept.
    DataError
        If no candidate can be fitted to a source.

    See Also
    --------
    MKLClassifier : The estimator with ``kernels="auto"``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> bank = propose_kernels({"acids": X[:, :6], "color": X[:, 6:]}, y)
    >>> [bound.label for bound in bank.kernels]
    ['acids', 'color']
    """
    X, sources = joined_and_places(X, y)
    X = as_source(X)
    estimator = BaseEstimator()
    bank = with_columns_of_labels(bind_kernels(kernels), header(X)[1], sources)
    bank = sources_to_choose(bank, X, sources)
    schema, (bound,) = bind(X, bank)
    rows = read_rows(estimator, schema, X, first=True)
    data = check_training(estimator, kind, rows, y)
    return chosen_bank(bound, data, kind, max_exact=max_exact, landmarks=landmarks)


def chosen_bank(
    kernels: Sequence[BoundKernel],
    data: TrainingData,
    kind: TargetKind,
    learners: Sequence[Any] = (),
    scale: str | None = None,
    names: Sequence[str] = (),
    keep_all: bool = False,
    max_exact: int = MOST_EXACT,
    landmarks: int = LANDMARKS,
) -> KernelBank:
    """Return kernels with those to be chosen replaced by the representations of their sources.

    Kernels that the user names are kept. ``scale`` is done to columns for kernels that do not say.
    Of the ``learners``, several sources get the first, which is ridge regression, and a lone one
    that which predicts more samples in three folds. ``names`` are those of the kernels that the
    feature map takes, empty for all; with ``keep_all`` no source is dropped.

    For N rows, M sources with d columns and about eight candidates each, O(8MN²(N + d)) time, and
    memory for a Gram matrix per source and candidate of one source. With more than ``max_exact``
    samples N² is N times the ``landmarks``.
    """
    sources = [bound for bound in kernels if bound.auto]
    alone = len(sources) == len(kernels) == 1
    n_rows = len(data.rows)
    most = ROWS_OF_A_LONE_SOURCE if alone else MOST_ROWS
    judge = Judge.of(data, kind, most, max_exact, landmarks)
    judge = attrs.evolve(judge, names=tuple(names))
    exact = n_rows <= max_exact
    chosen: list[Candidate] = []
    notes: list[str] = []
    if alone:
        chosen, notes = _sum_of_representations(sources[0], judge, exact)
    else:
        for source in sources:
            candidate, note = _representation(source, judge)
            chosen.append(candidate)
            notes.append(note)
        droppable = len(sources) == len(kernels) and not keep_all
        if droppable and judge.complete(sources):
            chosen, further = _sources_together(chosen, judge)
            notes += further
    learner = None
    many = not exact
    if alone:
        many = n_rows > (MOST_COMPARED if kind.of_classes else MOST_SOLVED)
    if learners and (many or not alone):
        learner = learners[0]
        if alone:
            notes.append(f"learner {learner.name}: there are {n_rows} samples")
    elif learners and kind.of_classes and exact and judge.splits_in_folds:
        learner, note = _better_learner(learners, chosen, judge)
        notes.append(note)
    bank: list[BoundKernel] = []
    for bound in kernels:
        of_source = [candidate.bound for candidate in chosen if candidate.source is bound]
        bank += of_source if bound.auto else [bound]
    if len(judge.rows) < n_rows:  # Scalings were fitted to some samples.
        bank = [
            attrs.evolve(bound, scaling=None) if is_fitted_to_all(bound, data.rows) else bound
            for bound in bank
        ]
    bank = with_scaling(bank, data.rows, scale)
    return KernelBank(bank, tuple(f"{AUTO}{note}" for note in notes), learner, many)


def better_representations(estimator: Any, X: Any, y: Any) -> list[dict[str, Any]]:
    """Return where another representation is much better than the kernels that the user named.

    For each source of numbers, on 300 training samples at most, drawn by class: the label of a
    kernel, its columns, its representation and that of the best one as spec strings, and their
    leave-one-out errors in relation to that of the mean.
    """
    plan = estimator.fitted_.plan
    labels = {bound.label for bound in plan.sources or plan.kernels if not bound.auto}
    sources: dict[bytes, list[BoundKernel]] = {}
    for bound in plan.kernels:
        if bound.reads == "numbers" and bound.label in labels:
            key = b"" if bound.columns is None else bound.columns.tobytes()
            sources.setdefault(key, []).append(bound)
    if not sources or estimator.kind.is_empty:
        return []
    rows = read_rows(estimator, plan.schema, as_source(joined_and_places(X)[0]))
    if not rows.in_memory:
        return []
    data = check_training(BaseEstimator(), estimator.kind, rows, y)
    judge = Judge.of(data, estimator.kind, ROWS_OF_WARNINGS)
    better = []
    for kernels in sources.values():
        source = attrs.evolve(kernels[0], scaling=None, scale=None)
        missing = judge.missing(source)
        used = KernelRows.reading(fit_kernels(kernels, judge.rows), kernels, judge.rows)
        grams = [gram for _, gram in sorted(used.similarities(used), key=lambda pair: pair[0])]
        results = [judge.left_out(gram, missing) for gram in [*grams, np.sum(grams, axis=0)]]
        named = min(results, key=lambda result: float(result.errors.sum()))
        best = min(_candidates(source, judge), key=lambda candidate: candidate.error)
        present = Candidate(source, source, grams[0], named)
        gain = judge.ratio(named.errors, missing) - judge.ratio(best.result.errors, missing)
        much = best.error < MUCH * present.error and gain > MUCH_OF_ALL
        if much and is_clear(present, best, judge):
            better.append(
                {
                    "kernel": source.label,
                    "columns": None if source.columns is None else source.columns.tolist(),
                    "spec": kernel_spec(kernels[0]),
                    "error": judge.ratio(named.errors, missing),
                    "better": kernel_spec(best.bound),
                    "better_error": judge.ratio(best.result.errors, missing),
                }
            )
    return better


@attrs.frozen(eq=False)
class Candidate:
    """A representation of a source, and the leave-one-out errors of the samples that have it.

    ``similarities`` (n, m) are those of samples with all samples, or with landmarks; zero where one
    misses the source.
    """

    source: BoundKernel
    bound: BoundKernel
    similarities: Array
    result: LeftOut

    @property
    def error(self) -> float:
        """The sum of its squared errors."""
        return float(self.result.errors.sum())


@attrs.frozen(eq=False, slots=False)
class Judge:
    """The samples on which representations are compared, and what ridge regression predicts.

    ``targets`` (n, T) have a column per class with 1 for its samples, or numbers of standard
    deviation 1. ``landmarks`` are places of samples; None if errors are exact. ``whole`` are the
    training samples, of which these may be some. ``names`` are those of the kernels that may be
    chosen; empty for all.
    """

    rows: Rows
    targets: Array
    codes: NDArray[np.intp]
    weights: Array | None
    groups: NDArray[np.intp] | None
    landmarks: NDArray[np.intp] | None
    whole: Rows
    names: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        data: TrainingData,
        kind: TargetKind,
        most: int = MOST_ROWS,
        max_exact: int = MOST_EXACT,
        n_landmarks: int = LANDMARKS,
    ) -> Self:
        """Return the training samples, or some drawn by class, and their targets.

        Of more than ``max_exact`` samples, ``n_landmarks`` are landmarks.
        """
        codes = data.values if kind.of_classes else np.zeros(len(data.values), np.intp)
        drawn = drawn_by_class(codes, most)
        values = data.values[drawn]
        if kind.of_classes:
            targets = one_hot(values)
        else:
            response = kind.response(values)
            targets = StandardScaler().fit_transform(response.reshape(len(values), -1))
        landmarks = None
        if len(drawn) > max_exact:
            landmarks = drawn_by_class(codes[drawn], n_landmarks)
        rows = (
            data.rows if len(drawn) == len(data.rows) and data.rows.in_memory else data.rows[drawn]
        )
        return cls(rows, targets, codes[drawn], *data.beside(drawn), landmarks, data.rows)

    @property
    def splits_in_folds(self) -> bool:
        """Whether some class has two samples, or groups, one of which can be held out."""
        codes = self.codes
        if self.groups is not None:
            codes = np.unique(np.column_stack([codes, self.groups]), axis=0)[:, 0]
        return bool(np.bincount(codes).max() > 1)

    def complete(self, sources: Sequence[BoundKernel]) -> bool:
        """Return whether every sample has every source."""
        return self.rows.missing_of(sources) is None

    def missing(self, source: BoundKernel) -> Mask:
        """Return which samples miss a source, (n,); None if all have it, or fewer than two."""
        missing = self.rows.missing_of([source])
        return None if missing is None or members_with(missing[:, 0]) is None else missing[:, 0]

    def units(self, errors: Array, missing: Mask) -> Array:
        """Return sums of errors (n,) over what is dropped at once: a sample, or a group."""
        if self.groups is None:
            return errors
        groups = self.groups if missing is None else self.groups[~missing]
        numbered = np.unique(groups, return_inverse=True)[1]
        return np.asarray(np.bincount(numbered, errors), np.float64)

    def _present(self, missing: Mask) -> tuple[WeightedRows, Array]:
        """Return the weights and groups, and the targets, of the samples that have a source."""
        members = members_with(missing)
        places = slice(None) if members is None else members
        weights = None if self.weights is None else self.weights[places]
        groups = None if self.groups is None else self.groups[places]
        targets = self.targets[places]
        return WeightedRows.of(len(targets), weights, True, groups), targets

    def left_out(self, similarities: Array, missing: Mask = None) -> LeftOut:
        """Return the errors of the samples that have a source, from its similarities (n, m)."""
        members = members_with(missing)
        rows, targets = self._present(missing)
        if _is_one_group(rows):
            # Nothing is left to learn from without it: no candidate is better than another.
            return LeftOut(np.zeros(len(targets)), RIDGES[0])
        if self.landmarks is None:
            gram = similarities if members is None else similarities[np.ix_(members, members)]
            spectrum = GramRidge(gram, rows).spectrum
        else:
            features = _features(similarities, self.landmarks)
            features = features if members is None else features[members]
            spectrum = spectrum_of_features(features, rows)
        spread = float(spectrum.values.sum()) / len(targets) or 1.0
        return left_out(spectrum, rows, targets, [ridge * spread for ridge in RIDGES])

    def ratio(self, errors: Array, missing: Mask = None) -> float:
        """Return errors (n,) in relation to those of the mean: 1 if nothing is learned.

        Both are of the samples that have a source.
        """
        rows, targets = self._present(missing)
        if _is_one_group(rows):
            return 1.0
        nothing = Spectrum(np.empty(0), np.empty((len(targets), 0)))
        (of_mean,) = squared_errors(nothing, rows, targets, np.ones(1))
        total = float(of_mean.sum())
        return float(errors.sum()) / total if total else 1.0

    def share(self, errors: Array, missing: Mask = None, digits: int = 2) -> str:
        """Return :meth:`ratio` as text."""
        return number(self.ratio(errors, missing), digits)


def _is_one_group(rows: WeightedRows) -> bool:
    """Return whether all samples belong to one group, without which there is none."""
    return rows.groups is not None and len(rows.groups) < 2


def _features(similarities: Array, landmarks: NDArray[np.intp]) -> Array:
    """Return features (n, r) whose inner products approximate a kernel, from (n, m) similarities.

    The Nyström approximation K C⁻¹ Kᵀ, for the similarities C of the landmarks.
    """
    spectrum = Spectrum.of(np.asarray(similarities[landmarks], np.float64), 1e-8)
    return similarities @ (spectrum.vectors / np.sqrt(spectrum.values))


def _candidates(source: BoundKernel, judge: Judge, slow: bool = False) -> Iterator[Candidate]:
    """Yield the representations of a source that suit its columns, the usual one first.

    Kernels that take long have their turn if ``slow`` ones may be chosen, from few columns.

    A kernel that can't be fitted to them is no candidate; a ``DataError`` tells why if none can.
    """
    faults = []
    missing = judge.missing(source)
    columns = None
    if source.reads == "numbers":
        # Of all samples, since the scaling will be fitted to them.
        columns = (judge.whole if judge.whole.in_memory else judge.rows).unfilled(source)
    n_rows = len(judge.whole)
    # What all candidates read is not kept with the samples.
    rows = attrs.evolve(judge.rows)
    banks = [
        attrs.evolve(
            proposed,
            label=source.label,
            columns=source.columns,
            scale=proposed.scale or usual,
        )
        for usual in ("standard" if source.reads == "numbers" else None,)
        for proposed in proposed_kernels(source.reads)
        if not judge.names or proposed.kernel.name in judge.names
        if columns is None
        or (
            SCALINGS[proposed.scale or "standard"].suits(columns, n_rows)
            and (proposed.sparse or not issparse(columns) or fits_dense(columns, n_rows))
        )
    ]
    able: list[BoundKernel] = []
    fitted: list[FittedKernel] = []
    for bound in banks:
        try:
            scaling = next((b.scaling for b in able if b.scale == bound.scale), None)
            (scaled,) = with_scaling([attrs.evolve(bound, scaling=scaling)], rows)
            (kernel,) = fit_kernels([scaled], rows, judge.weights)
        except MKLKitError as error:
            faults.append(f"{kernel_spec(bound)}: {plain_message(error)}")
            continue
        few = slow and (columns is None or columns.shape[1] <= FEW_COLUMNS)
        if few or not is_slow(kernel):
            able.append(scaled)
            fitted.append(kernel)
    if not able:
        raise DataError(
            f"No kernel can be chosen for source {quoted(source.label)}: {'; '.join(faults)}."
        )
    every = KernelRows.reading(fitted, able, rows)
    others = every if judge.landmarks is None else every.take(judge.landmarks)
    order = dict(every.similarities(others))
    for place, bound in enumerate(able):
        similarities = order.pop(place)
        with np.errstate(over="ignore", invalid="ignore"):
            finite = bool(np.isfinite(similarities).all())
        if finite:
            yield Candidate(source, bound, similarities, judge.left_out(similarities, missing))


def no_finite_kernel(source: BoundKernel) -> DataError:
    """Return the error for a source on which the values of all candidates overflow."""
    return DataError(
        f"No kernel has finite values on source {quoted(source.label)}, whose numbers are too"
        " large: divide them by a constant."
    )


def is_slow(kernel: FittedKernel) -> bool:
    """Return whether a fitted kernel depends on a quantity that no matrix product gives."""
    return is_scalar(kernel) and kernel.base not in ("inner_product", "squared_distance")


def _representation(source: BoundKernel, judge: Judge) -> tuple[Candidate, str]:
    """Return the usual representation of a source, or one that is clearly better, and a note."""
    usual = best = None
    for candidate in _candidates(source, judge):
        usual = usual or candidate
        if best is None or candidate.error < best.error:
            best = candidate
    if usual is None or best is None:
        raise no_finite_kernel(source)
    chosen = best if is_clear(usual, best, judge) else usual
    missing = judge.missing(source)
    note = (
        f"{source.label}: {kernel_spec(chosen.bound)}, leave-one-out error"
        f" {judge.share(chosen.result.errors, missing)}"
    )
    rest = usual if chosen is best else best
    if rest is not chosen:
        note += f"; {kernel_spec(rest.bound)} {judge.share(rest.result.errors, missing)}"
        note += "" if chosen is best else ", which is not clearly better"
    return chosen, note


def is_clear(usual: Candidate, best: Candidate, judge: Judge) -> bool:
    """Return whether the errors of a representation are clearly below those of the usual one.

    By two standard errors of the paired differences of what is dropped at once.
    """
    missing = judge.missing(usual.source)
    gains = judge.units(usual.result.errors - best.result.errors, missing)
    return bool(gains.sum() > CLEAR * gains.std() * np.sqrt(len(gains)))


def _forward(candidates: Sequence[Candidate], judge: Judge, most: int) -> tuple[list[int], LeftOut]:
    """Return the places of candidates whose sum has a low error, and the errors.

    First the best one, then repeatedly the one that lowers the error most, while it falls.
    """
    order = np.argsort([candidate.error for candidate in candidates], kind="stable").tolist()
    taken = order[:1]
    total = candidates[taken[0]].similarities
    best = candidates[taken[0]].result
    while len(taken) < min(most, len(candidates)):
        rest = [place for place in order if place not in taken]
        results = [judge.left_out(total + candidates[place].similarities) for place in rest]
        sums = [float(result.errors.sum()) for result in results]
        least = int(np.argmin(sums))
        if sums[least] >= (1 - GAIN) * best.errors.sum():
            break
        best = results[least]
        taken.append(rest[least])
        total = total + candidates[rest[least]].similarities
    return taken, best


def _sources_together(chosen: list[Candidate], judge: Judge) -> tuple[list[Candidate], list[str]]:
    """Return all sources, or some whose sum has a lower error, and notes on it."""
    if len(chosen) < 2:
        return chosen, []
    every = judge.left_out(np.sum([candidate.similarities for candidate in chosen], axis=0))
    taken, some = _forward(chosen, judge, len(chosen))
    together = "both sources" if len(chosen) == 2 else f"all {len(chosen)} sources"
    told = f"leave-one-out error of {together} together"
    if some.errors.sum() >= (1 - WORTH) * every.errors.sum():
        return chosen, [f"{told} {judge.share(every.errors)} (1 if nothing is learned)"]
    rest = [c.source.label for place, c in enumerate(chosen) if place not in taken]
    # With two decimals, the errors of a source that is dropped may look the same.
    with_rest, without = (judge.share(result.errors, digits=3) for result in (every, some))
    note = f"{LEFT_OUT} {', '.join(rest)}: without {without}, {told} {with_rest}"
    return [chosen[place] for place in sorted(taken)], [note]


def _sum_of_representations(
    source: BoundKernel, judge: Judge, slow: bool
) -> tuple[list[Candidate], list[str]]:
    """Return representations of a lone source whose sum has a low error, and notes on it."""
    candidates = list(_candidates(source, judge, slow))
    if not candidates:
        raise no_finite_kernel(source)
    if judge.missing(source) is not None:
        candidates = [min(candidates, key=lambda candidate: candidate.error)]
    taken, result = _forward(candidates, judge, MOST_TAKEN)
    is_named = source.label not in (LONE_SOURCE[0], AUTO_KERNELS)
    chosen = []
    for candidate in (candidates[place] for place in taken):
        label = kernel_spec(candidate.bound)
        if is_named:
            label = source.label if len(taken) == 1 else f"{source.label} {label}"
        bound = attrs.evolve(candidate.bound, label=label)
        chosen.append(attrs.evolve(candidate, bound=bound))
    missing = judge.missing(source)
    alone = ", ".join(
        f"{kernel_spec(candidate.bound)} {judge.share(candidate.result.errors, missing)}"
        for candidate in candidates
    )
    note = (
        f"{counted(len(chosen), 'kernel')} of {len(candidates)} candidates, whose sum has a"
        f" leave-one-out error of {judge.share(result.errors)} (1 if nothing is learned): "
        + ", ".join(kernel_spec(candidate.bound) for candidate in chosen)
    )
    return chosen, [note, f"errors of each alone: {alone}"]


def _better_learner(
    learners: Sequence[Any], chosen: Sequence[Candidate], judge: Judge
) -> tuple[Any, str]:
    """Return the learner with more right in three folds on the average kernel, and a note.

    Ties go to the first. Several classes are predicted one against the rest. Samples of weight w
    are w samples.
    """
    drawn = drawn_by_class(judge.codes, ROWS_OF_LEARNERS)
    codes = judge.codes[drawn]
    groups = None if judge.groups is None else judge.groups[drawn]
    weights = None if judge.weights is None else judge.weights[drawn]
    worth = np.ones(len(drawn)) if weights is None else weights
    gram = np.sum([c.similarities[np.ix_(drawn, drawn)] for c in chosen], axis=0)
    classes = np.unique(codes)
    sides = classes[1:] if len(classes) == 2 else classes
    splits = make_splits(codes, 3, groups=groups)
    shares = np.zeros(len(learners))
    total = sum(float(worth[test].sum()) for test in splits.tests)
    for train, test in splits:
        side = GramSide(gram[np.ix_(train, train)])
        between = gram[np.ix_(test, train)]
        for place, learner in enumerate(learners):
            signs = (np.where(codes[train] == code, 1.0, -1.0) for code in sides)
            of_rows = None if weights is None else weights[train]
            fits = (learner.fit(side, Target.two_classes(labels, of_rows)) for labels in signs)
            values = [fitted_learner.decide(between) for fitted_learner in fits]
            answers = np.argmax([-values[0], *values] if len(sides) == 1 else values, axis=0)
            shares[place] += worth[test][classes[answers] == codes[test]].sum() / total
    told = zip(learners, shares.tolist(), strict=True)
    said = ", ".join(f"{learner.name} {percentage(share)}" for learner, share in told)
    best = learners[int(np.argmax(shares.round(9)))]
    return best, f"learner {best.name}: right in three folds of {len(codes)} samples: {said}"
