"""
How strong should views agree?
==============================

``ifsl`` couples one learner per kernel so that their outputs agree. A search fits all pairs of the
ridge and the strength of agreement together: the grid costs little more than one fit.
"""

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from mklkit import MKLClassifier, MKLSearchCV

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
strengths = [2.0**k for k in range(-4, 5)]
search = MKLSearchCV(
    MKLClassifier(["linear", "rbf"], combiner="ifsl", learner="mhks"),
    {"learner__alpha": strengths, "combiner__lam": strengths},
    cv=3,
    random_state=0,
).fit(X, y)
print(search.best_params_, f"accuracy {search.best_score_:.3f}")

# %%
# Accuracy over ridge and agreement; the cross marks the best pair.
scores = 100 * search.cv_results_["mean_test_score"]
ridges = np.array([point["learner__alpha"] for point in search.cv_results_["params"]])
agreements = np.array([point["combiner__lam"] for point in search.cv_results_["params"]])
surface = np.array(
    [[scores[(ridges == c) & (agreements == lam)][0] for lam in strengths] for c in strengths]
)
figure, axes = pyplot.subplots(figsize=(6, 4.5), layout="constrained")
colours = axes.pcolormesh(strengths, strengths, surface, cmap="cividis", shading="nearest")
best = search.best_params_
axes.plot(best["combiner__lam"], best["learner__alpha"], "x", color="white", markersize=12, mew=2)
axes.set_xscale("log", base=2)
axes.set_yscale("log", base=2)
axes.set(xlabel="agreement, lam", ylabel="ridge, alpha", title="Cross-validated accuracy, %")
figure.colorbar(colours)
pyplot.show()
