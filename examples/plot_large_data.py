"""
More samples or more landmarks?
===============================

A Gram matrix of 30,000 samples has 900 million entries. With the map ``empirical(subset=p)`` only
the similarities to p landmarks are computed, so that time grows with N rather than with N². Here
two kernels on generated samples are combined by their centred alignment, first on more and more
samples, then with more and more landmarks.
"""

from time import perf_counter

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import make_classification

from mklkit import MKLClassifier

X, y = make_classification(
    35_000, 12, n_informative=8, n_redundant=0, n_clusters_per_class=6, random_state=0
)
X, new_X, y, new_y = X[:30_000], X[30_000:], y[:30_000], y[30_000:]


def run(n_rows, n_landmarks):
    """Return accuracy on new samples and seconds of a fit."""
    model = MKLClassifier(
        ["rbf(sigma='mean/2')", "cosine(linear)"],
        combiner="centered-alignment",
        feature_map=f"empirical(subset={n_landmarks})",
        learner="ridge",
        random_state=0,
    )
    start = perf_counter()
    model.fit(X[:n_rows], y[:n_rows])
    return 100 * model.score(new_X, new_y), perf_counter() - start


run(1000, 50)  # compiles, or loads what has been compiled before
samples = [(n, 300, *run(n, 300)) for n in (1000, 3000, 10_000, 30_000)]
landmarks = [(10_000, p, *run(10_000, p)) for p in (30, 100, 300, 900)]
print("samples  landmarks  accuracy  seconds")
for n, p, accuracy, seconds in samples + landmarks:
    print(f"{n:6} {p:10} {accuracy:9.1f} {seconds:8.2f}")

# %%
# Accuracy and time
# -----------------
#
# Left: more samples, with 300 landmarks. Right: more landmarks, with 10,000 samples. On these data,
# three times the landmarks gain more accuracy than three times the samples, and cost more time.
# Times depend on the machine and its load, and the accuracies are from one draw, so look only at
# the slopes; they differ on other data.
figure, axes = pyplot.subplots(
    2, 2, figsize=(6.4, 5), sharex="col", sharey="row", layout="constrained"
)
for column, (values, place, name) in enumerate(
    ((samples, 0, "samples"), (landmarks, 1, "landmarks"))
):
    columns = np.transpose(values)
    axes[0, column].plot(columns[place], columns[2], "o-", color="#0072B2")
    axes[1, column].plot(columns[place], columns[3], "s--", color="#D55E00")
    axes[1, column].set(xlabel=name, xscale="log", yscale="log")
    axes[1, column].set_xticks(columns[place], [f"{number:,.0f}" for number in columns[place]])
    axes[1, column].set_yticks([0.1, 0.3, 1, 3, 10], [0.1, 0.3, 1, 3, 10])
    axes[1, column].minorticks_off()
axes[0, 0].set(ylabel="accuracy on new samples, %")
axes[1, 0].set(ylabel="time of a fit, seconds")
for panel in axes.flat:
    panel.grid(alpha=0.3)
pyplot.show()
