"""
Is the difference more than chance?
===================================

Three weightings of two kernels on the same five splits, beside each kernel alone and classifiers of
scikit-learn. The data are four groups of two stars, of which some are far apart and some overlap.
The test takes account of splits that share training rows, and so do the bars, which are 95 %
intervals.
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
# The best method is at the top. Intervals that overlap do not mean that two methods are equal: on
# the same splits their accuracies go up and down together, and the test looks at their differences.
# Nor does the picture say what would be found on other data.
comparison.plot()
pyplot.show()
