"""Price et al. 2022: kernel weights from the kernel matrix alone (DiMKL).

Section 5.2: features scaled to [−1, 1] on the training part, five Gaussian kernels, libsvm with
C = 1, a hundred random divisions into 80 % training and 20 % test samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import attrs

from mklkit.estimators.from_preset import find_preset, preset_classifier
from mklkit.plotting.parts import new_figure
from mklkit_papers.curves import CurvesDisplay
from mklkit_papers.entries import Entry
from mklkit_papers.lines import Line, PrintedTable, published
from mklkit_papers.price_2022_times import TIMES
from mklkit_papers.protocol import DataUse, Division, Experiment, System
from mklkit_papers.scores import WEIGHT, accuracy_lines, weight_lines
from mklkit_papers.session import Session, SetLines

PRESET = "paper-dimkl1"
"""The presets share kernels and learner; they differ in the combiner."""
UNIFORM = "Uniform weights"
TRUE_DISTANCE = "DiMKL5, true distance"
SAME_PRICE, TWO_NORM = "MKLGL, C = 1", "MKLGL, p = 2"
HEURISTICS = tuple(f"DiMKL{number}" for number in range(1, 7))

TABLE_6 = published("price-2022-table6")

WEIGHTS = {
    "price-2022-table7": ("Sonar", published("price-2022-table7")),
    "price-2022-table8": ("Ionosphere", published("price-2022-table8")),
    "price-2022-table9": ("Breast Cancer", published("price-2022-table9")),
}


def systems(use: DataUse) -> list[System]:
    """Return the single kernels, DiMKL 1 to 6 and the systems they are compared with."""
    classifier = partial(preset_classifier, PRESET, random_state=0)
    kernels = find_preset(PRESET).kernels or ()
    every = [
        System(f"K{number}", classifier(kernels=kernel, combiner="uniform"))
        for number, kernel in enumerate(kernels, start=1)
    ]
    combiners = {name: name.lower() for name in HEURISTICS}
    combiners |= {"DiMKL5": "dimkl5(distance='printed')", TRUE_DISTANCE: "dimkl5"}
    combiners[UNIFORM] = "uniform"
    every += [System(name, classifier(combiner=spec)) for name, spec in combiners.items()]
    peers = {
        "DeFIMKL": ("defimkl", "mklkit-fusion"),
        "GAMKL": ("gamkl", "mklkit-optimize"),
        "MKLGL": ("mklgl(C=0.1)", "mklkit-optimize"),
        SAME_PRICE: ("mklgl", "mklkit-optimize"),
        TWO_NORM: ("mklgl(p=2)", "mklkit-optimize"),
    }
    return every + [
        System(name, classifier(combiner=combiner), package)
        for name, (combiner, package) in peers.items()
    ]


EXPERIMENT = Experiment(
    "price-2022",
    (
        DataUse("Sonar", "sonar", repeats=100, quick=5),
        DataUse("Ionosphere", "ionosphere", repeats=100, quick=5),
        DataUse("Breast Cancer", "breast_w", repeats=100, quick=5),
    ),
    Division(train=0.8, stratified=False),
    systems,
    scale="minmax",
)


KERNELS: PrintedTable = {f"κ{number}": {} for number in range(1, 6)}


def mean_weight_lines(session: Session, use: DataUse) -> Iterator[Line]:
    """Yield the mean weight of each kernel and standard deviation over the divisions (Figure 4)."""
    weights = weight_lines(EXPERIMENT, use.label, KERNELS, [(name, name) for name in HEURISTICS])
    for line in weights.of_set(session, use):
        row = f"{use.label}, {line.column}"
        column = line.row.removeprefix("κ")
        yield line if line.reason else attrs.evolve(line, row=row, column=column)


def draw_mean_weights(lines: Sequence[Line]) -> Any:
    """Return the picture of mean weights, a panel per data set."""
    panels: dict[str, dict[str, list[tuple[float, float, float]]]] = {}
    for line in sorted(
        (each for each in lines if each.repeats), key=lambda each: float(each.column)
    ):
        label, name = line.row.split(", ")
        points = panels.setdefault(label, {}).setdefault(name, [])
        points.append((float(line.column), line.ours, line.spread))
    axes = new_figure(4 * len(panels) + 1, 3.5).subplots(1, len(panels), squeeze=False)[0]
    for ax, (label, curves) in zip(axes, panels.items(), strict=True):
        drawn = CurvesDisplay(dict(sorted(curves.items())), "kernel", "weight").plot(ax)
        ax.set_title(label)
        if ax is not axes[-1]:
            ax.get_legend().remove()
    return drawn


NOTHING = accuracy_lines(EXPERIMENT, {})

ENTRIES = (
    Entry.told("price-2022-table3", NOTHING),
    Entry.told("price-2022-table4", NOTHING),
    Entry.told(
        "price-2022-table6",
        accuracy_lines(
            EXPERIMENT,
            TABLE_6,
            against="DiMKL1",
            extra=[UNIFORM, TRUE_DISTANCE, SAME_PRICE, TWO_NORM],
        ),
    ),
    *(
        Entry.told(
            name,
            weight_lines(
                EXPERIMENT, label, table, [(TRUE_DISTANCE, ""), (SAME_PRICE, ""), (TWO_NORM, "")]
            ),
        )
        for name, (label, table) in WEIGHTS.items()
    ),
    Entry.told(
        "price-2022-fig4",
        SetLines(EXPERIMENT.sets, WEIGHT, mean_weight_lines),
        draw=draw_mean_weights,
    ),
    TIMES,
)
