"""
Missing sources (block-wise missing data)
=========================================

Three sources describe handwritten digits (1, 3, 8 and 9), and some samples miss a source at random.
The figure shows the accuracy of each strategy against the share of samples that miss a source.
Every sample keeps at least one. A source is missing if all of its columns are.
"""

import numpy as np
from matplotlib import pyplot
from sklearn.model_selection import StratifiedShuffleSplit

from mklkit import MKLClassifier
from mklkit.datasets import load_table

table = load_table("digits_sources")
X, y = table.features, table.target.to_numpy()
sources = {name: [c for c in X if c.startswith(name)] for name in ("profile", "fourier", "pattern")}
kernels = [f"{name}:rbf[standard]@{name}_*" for name in sources]


def without_sources(share, seed):
    """Return the samples; a share of them misses each source, but none misses all."""
    rng, rows = np.random.default_rng(seed), X.copy()
    misses = rng.random((len(X), len(sources))) < share
    misses[np.arange(len(X)), rng.integers(len(sources), size=len(X))] = False
    for absent, columns in zip(misses.T, sources.values(), strict=True):
        rows.loc[absent, columns] = np.nan
    return rows


# %%
# Columns are standardised by the samples that have the source. Training uses a tenth of the
# samples, because with more all strategies come close to the accuracy with complete samples.
shares = (0.0, 0.2, 0.4, 0.6)
strategies = ("present", "present-centered", "impute")
accuracies = {strategy: [] for strategy in strategies}
for share in shares:
    scores = {strategy: [] for strategy in strategies}
    splits = StratifiedShuffleSplit(6, train_size=0.1, random_state=0).split(X, y)
    for seed, (train, test) in enumerate(splits):
        rows = without_sources(share, seed)
        for strategy in strategies:
            model = MKLClassifier(kernels, learner="svm(C=10)", missing=strategy)
            model.fit(rows.iloc[train], y[train])
            scores[strategy].append(model.score(rows.iloc[test], y[test]))
    for strategy in strategies:
        accuracies[strategy].append(np.mean(scores[strategy]))
        print(f"{share:.0%} miss a source, {strategy}: {100 * accuracies[strategy][-1]:.1f} %")

# %%
# The more samples miss a source, the more it helps to compare two samples by the sources that both
# have. Medians make samples that miss the same source look alike, whatever their class.
figure, axes = pyplot.subplots(layout="constrained")
for strategy, values in accuracies.items():
    axes.plot(shares, np.multiply(100, values), marker="o", label=strategy)
axes.set(xlabel="share of samples that miss a source", ylabel="accuracy in %")
axes.legend()
pyplot.show()
