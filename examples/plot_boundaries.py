"""
Decision boundaries of single kernels and of combinations
=========================================================

Two classes in the plane: a large disc on the left, a fine chequerboard on the right. A wide kernel
cannot follow the fine pattern, and a narrow one is ragged where the pattern is coarse. Their sum
can do some of both, and so may weights that depend on the sample, which ``cluster-gating``
learns.
"""

import numpy as np
from matplotlib import pyplot
from matplotlib.colors import ListedColormap
from sklearn.inspection import DecisionBoundaryDisplay

from mklkit import MKLClassifier

rng = np.random.RandomState(0)


def make(n_rows):
    """Return samples and classes, with one class in ten wrong."""
    X = rng.uniform([0, 0], [2, 1], (n_rows, 2))
    coarse = np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) < 0.33
    fine = (np.floor(X[:, 0] * 5) + np.floor(X[:, 1] * 5)) % 2 == 1
    y = np.where(X[:, 0] < 1, coarse, fine)
    return X, (y ^ (rng.rand(n_rows) < 0.1)).astype(int)


X, y = make(800)
new_X, new_y = make(4000)
wide, narrow = "wide:rbf(sigma=0.3)", "narrow:rbf(sigma=0.06)"
models = {
    "wide kernel": MKLClassifier([wide], learner="svm(C=10)"),
    "narrow kernel": MKLClassifier([narrow], learner="svm(C=10)"),
    "average kernel": MKLClassifier([wide, narrow], learner="svm(C=10)"),
    "cluster-gating": MKLClassifier(
        [wide, narrow], combiner="cluster-gating(n_clusters=2)", learner="svm(C=10)", random_state=0
    ),
}
right = new_X[:, 0] >= 1
print("accuracy on new samples   left  right")
for name, model in models.items():
    correct = model.fit(X, y).predict(new_X) == new_y
    print(f"{name:25} {correct[~right].mean():.3f}  {correct[right].mean():.3f}")

print(models["cluster-gating"].weights_frame()[["cluster", "kernel", "weight"]].round(3))

# %%
# Four boundaries
# ---------------
#
# The sum is nearly as good as the better kernel on either side. Gating is not: it gives all the
# weight to the narrow kernel in both clusters. One label in ten is wrong, so no model can exceed
# 0.9 except by chance. The picture shows every third sample; on other data, a sum may not be
# enough.
figure, axes = pyplot.subplots(
    2, 2, figsize=(6.6, 3.9), sharex=True, sharey=True, layout="constrained"
)
ink = pyplot.rcParams["text.color"]
for panel, (name, model) in zip(axes.flat, models.items(), strict=True):
    DecisionBoundaryDisplay.from_estimator(
        model,
        X,
        response_method="predict",
        grid_resolution=200,
        cmap=ListedColormap(["#56B4E9", "#E69F00"]),
        alpha=0.5,
        ax=panel,
    )
    for label, marker, face in ((0, "o", "none"), (1, "^", ink)):
        panel.scatter(
            *X[y == label][::3].T, 9, fc=face, ec=ink, marker=marker, lw=0.4, label=f"class {label}"
        )
    panel.set(title=name, xlabel="", ylabel="", xlim=(0, 2), ylim=(0, 1), aspect="equal")
figure.supxlabel("first column", fontsize="medium")
figure.supylabel("second column", fontsize="medium")
figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
pyplot.show()
