"""A paper of one experiment on built-in data, whose fits are counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

import attrs
from mklkit_papers.curves import CurvesDisplay
from mklkit_papers.entries import Entry
from mklkit_papers.lines import ACCURACY, Line, printed
from mklkit_papers.protocol import DataUse, Division, Experiment, System
from mklkit_papers.scores import accuracy_lines, second_lines, weight_lines
from mklkit_papers.session import Session, SetLines
from sklearn.naive_bayes import GaussianNB

from mklkit import MKLClassifier


class Counted(GaussianNB):
    """A classifier that counts its fits by smoothing."""

    fits: ClassVar[list[float]] = []

    def fit(self, X: Any, y: Any) -> Counted:
        """Fit and count."""
        self.fits.append(self.var_smoothing)
        fitted: Counted = super().fit(X, y)
        return fitted


USES = (
    DataUse("Iris", "iris", repeats=3, quick=2),
    DataUse("Two of Wine", "wine", columns=2, repeats=3, quick=0),
    DataUse("Nowhere", "nowhere"),
)
SYSTEMS = ("sharp", "smooth", "flat")


def systems(use: DataUse) -> list[System]:
    """Return three classifiers, one that needs a package, and two with kernel weights."""
    smoothings = zip(SYSTEMS, (1e-9, 0.5, 10.0), strict=True)
    known = [System(name, Counted(var_smoothing=smoothing)) for name, smoothing in smoothings]
    kernels = {"kernels": ["linear", "rbf"], "random_state": 0}
    return [
        *known,
        System("absent", Counted(var_smoothing=0.1), package="mklkit-absent"),
        System("even", MKLClassifier(**kernels, combiner="uniform")),
        System("aligned", MKLClassifier(**kernels, combiner="alignment")),
    ]


EXPERIMENT = Experiment("small", USES, Division(train=0.5), systems)

TABLE = printed("""
    set         | sharp      | absent | smooth | someone's
    Iris        | 95.0 ± 1.0 | 99     | 200    | 12
    Two of Wine | 10.0       | 99     | 10     | 12
    Nowhere     | 90.0       | 90     | 90     | 12
""")
MORE = printed("""
    set  | flat
    Iris | 10.0
""")
WEIGHTS = printed("""
    kernel | even | aligned | someone's
    κ1     | 0.5  |         | 0.1
    κ2     | 0.5  | 0.5     | 0.1
""")


def points(session: Session, use: DataUse) -> Iterator[Line]:
    """Yield a curve of two points."""
    rows = len(session.data(use).target)
    for place in (1, 10):
        values = {"ours": rows / place, "spread": 1.0, "repeats": session.number(use)}
        yield Line(row=use.label, column=str(place), measure=ACCURACY, **values)


curve = SetLines(USES, ACCURACY, points)


def known(lines: Sequence[Line]) -> SetLines:
    """Return lines that need no run."""
    return SetLines([DataUse("known", "known")], ACCURACY, lambda *_: iter(lines))


def entry(name: str, lines: SetLines, **more: Any) -> Entry:
    """Return an entry of the paper."""
    title = f"Title of {name}"
    return Entry(
        name=name, title=title, lines=lines, protocol=("As here.",), minutes=(0, 1), **more
    )


def table(extra: Sequence[str] = (), **more: Any) -> Entry:
    """Return the table of accuracies."""
    lines = accuracy_lines(EXPERIMENT, TABLE, against="sharp", extra=extra)
    return entry("wang-2008-table1", lines, **more)


ENTRIES = (
    table(
        missing={"Water": "nobody has it."},
        explained={"Iris, smooth": "it is too smooth", "smooth": "never shown"},
    ),
    entry("wang-2008-table2", accuracy_lines(EXPERIMENT, MORE)),
    entry("wang-2008-table3", weight_lines(EXPERIMENT, "Iris", WEIGHTS, [("aligned", "even")])),
    entry("wang-2008-table4", second_lines(EXPERIMENT, MORE)),
    entry(
        "wang-2008-figure1", curve, draw=partial(CurvesDisplay.of_lines, x="λ", y="rows", base=10)
    ),
)


def with_columns(number: int) -> Experiment:
    """Return the experiment on the first columns of Iris."""
    uses = tuple(attrs.evolve(use, columns=number) for use in USES[:1])
    return attrs.evolve(EXPERIMENT, sets=uses)
