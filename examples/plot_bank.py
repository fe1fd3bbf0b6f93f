"""
Many candidate kernels, and the few that are needed
===================================================

Which kernel, on which columns, how wide? One answer is to start with many candidate kernels and
keep those with large weights. Here are 24 candidates for the breast-cancer data, six on each of
four groups of columns. ``loo-ridge``, from mklkit-optimize, learns weights that minimise the
leave-one-out error of a ridge regression, and gives most kernels almost no weight.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import scale

from mklkit import MKLClassifier

X, y = load_breast_cancer(return_X_y=True)
columns = [f"{group}_{number}" for group in ("mean", "error", "worst") for number in range(1, 11)]
X = pd.DataFrame(scale(X), columns=columns)
groups = {"mean": "@mean_*", "error": "@error_*", "worst": "@worst_*", "all": ""}
kinds = {
    "linear": "cosine(linear)",
    "square": "cosine(polynomial)",
    "rbf ×2": "rbf(sigma='2*mean')",
    "rbf ×1": "rbf(sigma='mean')",
    "rbf ×½": "rbf(sigma='mean/2')",
    "rbf ×¼": "rbf(sigma='mean/4')",
}
candidates = [kernel + glob for glob in groups.values() for kernel in kinds.values()]

# %%
# What is kept
# ------------
#
# The weights are learned on three random halves of the samples, and the kernels with the largest
# weights make a new model. ``kernels="auto"`` chooses a kernel for each group of columns by
# leave-one-out errors before weights are learned, and drops groups that the others replace.
kept = (1, 2, 3, 6, 12, 24)
halves = StratifiedShuffleSplit(3, train_size=0.5, random_state=0)
accuracies, weights, chosen = [], [], []
for train, test in halves.split(X, y):

    def fitted(kernels, train=train):
        model = MKLClassifier(kernels, combiner="loo-ridge", random_state=0)
        return model.fit(X.iloc[train], y[train])

    weights.append(fitted(candidates).weights_[0])
    order = np.argsort(-weights[-1])
    largest = [fitted([candidates[place] for place in order[:number]]) for number in kept]
    accuracies.append([100 * model.score(X.iloc[test], y[test]) for model in largest])
    automatic = fitted("auto")
    chosen.append([len(automatic.kernels_), 100 * automatic.score(X.iloc[test], y[test])])
table = pd.DataFrame(
    {
        "kernels": kept,
        "weight": [np.sort(weights, axis=1)[:, -number:].sum(axis=1).mean() for number in kept],
        "accuracy": np.mean(accuracies, axis=0),
    }
)
print(table.round(3).to_string(index=False))
print("auto: {:.1f} kernels, accuracy {:.1f}".format(*np.mean(chosen, axis=0)))

# %%
# Top: the weights on the first half; each cell is a kernel, on the columns named on the left and of
# the kind named below. Bottom: the accuracy with the largest kernels only, with its range over the
# halves. A few kernels do as well as all. A dropped kernel is not useless. Others have the same
# information, and another half of the samples would keep other kernels.
figure, (above, below) = pyplot.subplots(2, 1, figsize=(5.8, 6.4), layout="constrained")
image = above.imshow(
    weights[0].reshape(len(groups), len(kinds)), cmap="viridis", vmin=0, aspect="auto"
)
above.set_yticks(range(len(groups)), groups)
above.set_xticks(range(len(kinds)), kinds)
above.set(xlabel="kernel (rbf: width in mean distances)", ylabel="columns")
figure.colorbar(image, ax=above, label="weight, first half")

mean = np.mean(accuracies, axis=0)
below.fill_between(
    kept, np.min(accuracies, axis=0), np.max(accuracies, axis=0), color="#0072B2", alpha=0.3, lw=0
)
below.plot(kept, mean, "o-", color="#0072B2", label="the largest of 24")
below.plot(*np.mean(chosen, axis=0), "D", color="#E69F00", markersize=9, label='"auto"')
below.set_xscale("log")
below.set_xticks(kept, kept)
below.minorticks_off()
below.set(xlabel="kernels in the model", ylabel="accuracy on the other half, %")
below.legend(frameon=False, loc="lower right")
pyplot.show()
