"""
How long should the pieces of a text be?
========================================

Half of these simulated sequences contain a certain site of eight letters. The ``spectrum`` kernel
compares two texts by the pieces of k letters that they share. All texts share short pieces, and
hardly any share long ones. You need not know the right length if you combine the kernels of all
lengths.
"""

import pandas as pd
from matplotlib import pyplot
from sklearn.model_selection import StratifiedKFold, cross_val_score

from mklkit import MKLClassifier
from mklkit.datasets import load_table

table = load_table("mixed_sources", as_written=["sequence"])
X, y = table.features[["sequence"]], table.target
lengths = range(1, 9)
kernels = [f"spectrum(k={k})" for k in lengths]
folds = StratifiedKFold(5, shuffle=True, random_state=0)


def accuracy(bank, combiner="uniform"):
    """Return the mean accuracy of five folds, in percent."""
    model = MKLClassifier(bank, combiner=combiner, learner="svm(C=1)", random_state=0)
    return 100 * cross_val_score(model, X, y, cv=folds).mean()


single = [accuracy([kernel]) for kernel in kernels]
combined = accuracy(kernels, "centered-alignment")
weights = MKLClassifier(kernels, combiner="centered-alignment").fit(X, y).weights_[0]
by_length = pd.DataFrame({"k": lengths, "accuracy": single, "weight": weights})
print(by_length.round(3).to_string(index=False))
print(f"all lengths: {combined:.1f}")

# %%
# Each length alone, and all together
# -----------------------------------
#
# Top: the accuracy of single kernels; the line is that of all eight. Bottom: their weights by
# alignment. The combination is as good as the best length. The best length is known only
# afterwards: choosing it on the same folds makes its accuracy slightly optimistic.
figure, (above, below) = pyplot.subplots(
    2, 1, figsize=(5.8, 5.4), height_ratios=(2, 1), sharex=True, layout="constrained"
)
above.plot(lengths, single, "o-", color="#0072B2", ms=7, label="one length")
above.axhline(combined, color="#D55E00", ls="--", label="all lengths, centered-alignment")
above.set(ylabel="accuracy, %")
above.legend(frameon=False, loc="lower right")
below.bar(lengths, weights, color="#D55E00")
below.set(xlabel="letters in a piece, k", ylabel="weight (sum 1)")
pyplot.show()
