"""
Kernel weights and how much they vary
=====================================

Weights are learned from the training samples, and other samples would give other weights. Here,
three combiners weight five kernels on ten random halves of the breast-cancer data. Bars are means
over the halves, and whiskers show the range.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import scale

from mklkit import MKLClassifier

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
# Ten properties of cell nuclei: their means, the errors of these, and the worst values.
kernels = [
    "mean:rbf@0:10",
    "error:rbf@10:20",
    "worst:rbf@20:30",
    "all:rbf",
    "linear:cosine(linear)",
]
halves = StratifiedShuffleSplit(10, train_size=0.5, random_state=0)
results = []
for rule in ("centered-alignment", "dimkl5", "loo-ridge"):
    for train, test in halves.split(X, y):
        model = MKLClassifier(kernels, combiner=rule, random_state=0).fit(X[train], y[train])
        weights = dict(zip(model.kernel_names_, model.weights_[0], strict=True))
        results.append({"rule": rule, "accuracy": model.score(X[test], y[test]), **weights})
by_rule = pd.DataFrame(results).groupby("rule", sort=False)
print(by_rule.mean().round(3))

# %%
# Three combiners on ten halves
# -----------------------------
#
# The weights of the two combiners based on statistics of the kernels hardly vary; ``loo-ridge``,
# from mklkit-optimize, minimises an error, and may give a kernel nearly all the weight on one half
# and little on another. Yet all three are about equally accurate: similar kernels can replace each
# other. The picture shows which kernels are used, not which are needed.
figure, axes = pyplot.subplots(figsize=(6.4, 4.6), layout="constrained")
styles = [("#0072B2", ""), ("#E69F00", "///"), ("#009E73", "...")]
names = [name.partition(":")[0] for name in kernels]
for place, ((rule, rows), (color, hatch)) in enumerate(zip(by_rule, styles, strict=True)):
    mean = rows[names].mean()
    axes.barh(
        np.arange(len(names)) + 0.27 * (place - 1),
        mean,
        height=0.24,
        xerr=[mean - rows[names].min(), rows[names].max() - mean],
        color=color,
        hatch=hatch,
        edgecolor=axes.get_facecolor(),
        ecolor=pyplot.rcParams["text.color"],
        capsize=2,
        label=rule,
    )
axes.set_yticks(range(len(names)), names)
axes.invert_yaxis()
axes.set(xlabel="kernel weight (sum 1)", ylabel="kernel")
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False)
pyplot.show()
