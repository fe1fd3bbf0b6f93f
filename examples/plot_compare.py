"""
Comparing methods, with confidence intervals
============================================

Three combiners of two kernels are compared on the same five splits with each kernel alone and with
scikit-learn's classifiers. The data are four groups of two stars, some far apart and some
overlapping. The test and the bars, which are 95 % intervals, allow for splits that share training
samples.
"""

from matplotlib import pyplot
from mklkit_papers.stars import make_four_stars

from mklkit import compare

X, y, _ = make_four_stars(240, random_state=0)
comparison = compare(
    X,
    y,
    methods=["centered-alignment", "dimkl3", "cluster-gating"],
    kernels=["narrow:rbf(sigma=0.05)", "wide:rbf(sigma=1)"],
    cv="5x1",
)
columns = ["method", "accuracy", "deviation", "difference", "p_corrected"]
print(comparison.table()[columns].round(3).to_string(index=False))
print(comparison.verdict)

# %%
# Accuracies with their intervals
# -------------------------------
#
# The best method is at the top. Overlapping intervals do not mean that two methods are equal: their
# accuracies vary together over the splits, and the test uses the differences. Nor does the picture
# say anything about other data.
comparison.plot()
pyplot.show()
