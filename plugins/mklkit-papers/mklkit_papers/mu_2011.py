"""Mu and Zhou 2011: kernel weights per soft cluster, learned with a graph embedding.

Section 7.2: four Gaussian kernels, discriminant analysis with γ = 1e-3, ten random divisions into
30 % training and 70 % test samples. Section 7.1, the four stars, is in mu_2011_stars.
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
from mklkit_papers.mu_2011_stars import STARS_ENTRIES
from mklkit_papers.protocol import SEED, DataUse, Division, Experiment, System
from mklkit_papers.scores import accuracy_lines

GAMMA = 1e-3
"""Section 7: of scatters that are averages over samples; see the page of the paper."""
TRAIN = 0.3
EVEN, CONVERGED, TWO_TURNS = "average kernel", "C=4, converged", "C=4, two turns"
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

TABLE_3 = published("mu-2011-table3")

TABLE_4 = published("mu-2011-table4")


def systems(use: DataUse) -> list[System]:
    """Return LDA on each kernel, both peers, one to four clusters, and systems not in the paper."""
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
    "mu-2011",
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


ENTRIES: tuple[Entry, ...] = (
    Entry.told("mu-2011-table3", accuracy_lines(EXPERIMENT, TABLE_3, against="C=4", extra=EXTRAS)),
    Entry.told("mu-2011-table4", accuracy_lines(EXPERIMENT, TABLE_4)),
    *STARS_ENTRIES,
)
