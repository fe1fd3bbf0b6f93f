"""
Calibrated probabilities
========================

A decision value is not a probability. With ``probability=True`` the classifier is also fitted to
parts of the samples, and sigmoids are fitted to the decision values of the held-out samples. The
curves show how many samples with a given probability belong to the class. On the diagonal, seven of
ten samples with 0.7 do.
"""

from matplotlib import pyplot
from scipy.special import expit
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss, log_loss

from mklkit import MKLClassifier

X, y = make_classification(
    4000, 10, n_informative=5, n_redundant=0, n_clusters_per_class=3, flip_y=0.15, random_state=0
)
X, new_X, y, new_y = X[:1000], X[1000:], y[:1000], y[1000:]
model = MKLClassifier(
    ["rbf(sigma='mean/2')", "rbf(sigma='mean/4')", "cosine(linear)"],
    combiner="centered-alignment",
    learner="svm(C=1)",
    probability=True,
    random_state=0,
).fit(X, y)
settings = {
    "decision values, squashed": expit(model.decision_function(new_X)),
    "probability=True": model.predict_proba(new_X)[:, 1],
}
for name, values in settings.items():
    losses = brier_score_loss(new_y, values), log_loss(new_y, values)
    print(f"{name:26} Brier score {losses[0]:.3f}, logarithmic loss {losses[1]:.3f}")

# %%
# Calibration curves
# ------------------
#
# A fixed sigmoid only squashes decision values into numbers between 0 and 1: of the samples with
# about 0.65, four in five belong to the class. The histogram shows how many samples have which
# probability. Calibration does not improve the classifier, because the order of the samples stays
# the same. Nor does a curve near the diagonal mean that probabilities are informative. Predicting
# the share of the class for every sample is calibrated, too.
figure, (above, below) = pyplot.subplots(
    2, 1, figsize=(5.4, 6.2), height_ratios=(3, 1), sharex=True, layout="constrained"
)
styles = (("#E69F00", "s--"), ("#0072B2", "o-"))
for (name, values), (color, style) in zip(settings.items(), styles, strict=True):
    CalibrationDisplay.from_predictions(
        new_y, values, n_bins=10, name=name, ax=above, color=color, marker=style[0],
        linestyle=style[1:], ref_line=False,
    )  # fmt: skip
    below.hist(values, bins=20, range=(0, 1), histtype="step", lw=2, ls=style[1:], color=color)
above.plot([0, 1], [0, 1], ":", color=pyplot.rcParams["text.color"], label="right probabilities")
above.set(xlabel="", ylabel="share of samples in the class")
above.legend(loc="upper left", frameon=False)
below.set(xlabel="probability given", ylabel="samples")
pyplot.show()
