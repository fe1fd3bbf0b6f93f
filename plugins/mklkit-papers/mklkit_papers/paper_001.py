"""Paper 001, Mu and Zhou: kernel weights per soft cluster, learned with a graph embedding.

Section 7.2: four Gaussian kernels, discriminant analysis with γ = 1e-3, ten random divisions into
30 % training and 70 % test rows. Section 7.1, the four stars, is in paper_001_stars.
"""

from __future__ import annotations

from typing import Any

from mklkit.combiners.cluster_gating.combiner import ClusterGating
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.search import MKLSearchCV
from mklkit.presets.papers import FOUR_WIDTHS
from mklkit_papers.entries import Entry
from mklkit_papers.estimators import ShareThreshold
from mklkit_papers.lines import published
from mklkit_papers.paper_001_stars import STARS_ENTRIES
from mklkit_papers.protocol import SEED, DataUse, Division, Experiment, System
from mklkit_papers.scores import accuracy_lines

GAMMA = 1e-3
"""Section 7: of scatters that are averages over rows; see the page of the paper."""
TRAIN = 0.3
EVEN, CONVERGED, TWO_TURNS = "even sum", "C=4, converged", "C=4, two turns"
EXTRAS = (EVEN, CONVERGED, TWO_TURNS)
PEERS = "mklkit-discriminant"

ROWS = {
    "German": 1000,
    "Heart": 303,
    "Ionosphere": 351,
    "Liver": 345,
    "Sonar": 208,
    "Spambase": 4601,
    "Madelon": 2600,
    "Aus-credit": 690,
}
"""Table 2."""

TABLE_3 = published("001-table3")

TABLE_4 = published("001-table4")


def systems(use: DataUse) -> list[System]:
    """Return LDA on each kernel, both peers, one to four clusters, and what the paper has not."""
    gamma = GAMMA * round(TRAIN * ROWS[use.label])
    learner = f"kda(alpha={gamma:g})"

    def discriminant(kernels: Any, combiner: Any) -> MKLClassifier:
        return MKLClassifier(kernels, combiner=combiner, learner=learner, random_state=SEED)

    def gated(n_clusters: int, **settings: Any) -> MKLClassifier:
        combiner = ClusterGating(n_clusters=n_clusters, alpha=gamma, **settings)
        return discriminant(list(FOUR_WIDTHS), combiner)

    discriminants = {
        f"K{name[1:]}σ".replace("K1σ", "Kσ"): discriminant(kernel, "uniform")
        for name, _, kernel in (spec.partition(":") for spec in FOUR_WIDTHS)
    }
    discriminants[EVEN] = discriminant(list(FOUR_WIDTHS), "uniform")
    for n_clusters in range(1, 5):
        discriminants[f"C={n_clusters}"] = gated(n_clusters, pairs="random", steps="plain")
    discriminants |= {CONVERGED: gated(4, max_iter=500, tol=1e-6), TWO_TURNS: gated(4, max_iter=2)}
    localized = MKLClassifier(list(FOUR_WIDTHS), combiner="localized", random_state=SEED)
    gates = {"combiner__gating": ["softmax", "sigmoid"]}
    uniform = discriminant(list(FOUR_WIDTHS), f"mkda(alpha={GAMMA:g})")
    return [
        *(System(name, ShareThreshold(model)) for name, model in discriminants.items()),
        System("MKL", ShareThreshold(uniform), PEERS),
        System("LocalizedMKL", MKLSearchCV(localized, gates, cv=5), PEERS),
    ]


EXPERIMENT = Experiment(
    "001",
    (
        DataUse("German", "german"),
        DataUse("Heart", "heart_c"),
        DataUse("Ionosphere", "ionosphere"),
        DataUse("Liver", "liver"),
        DataUse("Sonar", "sonar"),
        DataUse("Spambase", "spambase", repeats=2, quick=0),
        DataUse("Madelon", "madelon", repeats=3, quick=0),
        DataUse("Aus-credit", "australian"),
    ),
    Division(train=TRAIN),
    systems,
    scale="standard",
)

PROTOCOL = (
    "Features standardised, text as one column per value, both on the training part.",
    "Kernels exp(−‖x − z‖²/w²), w = 0.01, 0.1, 1 and 10 times σ, σ² the mean squared distance of"
    " five nearest neighbours.",
    "γ = 1e-3 of scatters that are averages over the training rows; an embedded row gets its class"
    " by linear discriminant analysis.",
    "C = 1 to 4: algorithms 1 and 2 as printed, cluster-gating(pairs='random', steps='plain'), until"
    " an alternation raises the ratio by no more than its 1e-4th part; at most 50.",
    "Ten random divisions, 30 % of the rows for training, stratified by class (Madelon: 3,"
    " Spambase: 2; quick: 2 and none of these).",
)

OVERFIT = (
    "learned weights overfit the training rows: they leave the widest kernel, which alone is better;"
    " the even sum of Table 3 comes closer"
)
ONE_CLASS = (
    "every test row is predicted to be of one class, of which half of the rows are, as divisions are"
    " stratified"
)
EXPLAINED = {
    **{f"German, C={n_clusters}": OVERFIT for n_clusters in range(1, 5)},
    "Heart, C=3": OVERFIT,
    "Aus-credit, C=4": OVERFIT,
    "Aus-credit, Kσ": "a larger γ would be nearer: with five times as much it has 84.8 over six"
    " divisions",
    "Heart, LocalizedMKL": "its gates are learned from 91 rows; neither softmax gates alone (80.0)"
    " nor C = 0.01 to 100 by cross-validation as well (79.3) reach it",
    "Liver, K10σ": "B is the total scatter, as in the paper's reference [11]; with the scatter of"
    " the class means instead it has 65.7 over six divisions",
    "Spambase, K0.1σ": "the number of neighbours in σ is not published; with 100 instead of 5 it has"
    " 71.4",
    "Madelon, K0.01σ": ONE_CLASS,
    "Madelon, K0.1σ": ONE_CLASS,
}

ENTRIES: tuple[Entry, ...] = (
    Entry(
        name="001-table3",
        title="Test accuracies on eight UCI data sets",
        lines=accuracy_lines(EXPERIMENT, TABLE_3, against="C=4", extra=EXTRAS),
        protocol=(
            *PROTOCOL,
            "MKL: mkda (the QCQP of [6]) with its regularisation 1e-3. LocalizedMKL: softmax or"
            " sigmoid gates by five-fold cross-validation on the training rows, C = 1.",
            "The even sum is not in the paper; neither are accelerated steps, which C = 4 has"
            " until convergence and for two alternations; its number for C = 4 on Liver is missing from the text we have.",
        ),
        explained=EXPLAINED,
        minutes=(1, 30),
    ),
    Entry(
        name="001-table4",
        title="Test accuracies with one to four clusters",
        lines=accuracy_lines(EXPERIMENT, TABLE_4),
        protocol=PROTOCOL,
        explained=EXPLAINED,
        minutes=(1, 1),
    ),
    *STARS_ENTRIES,
)
