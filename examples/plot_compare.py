"""
Is the difference more than chance?
===================================

Several weightings on the same splits, beside each kernel alone and classifiers of scikit-learn. The
corrected test takes account of splits that share training rows; the bars are 95 % intervals by its
variance.
"""

from matplotlib import pyplot

from mklkit import compare

found = compare(
    "wine",
    methods=["centered-alignment", "dimkl3"],
    kernels=["linear", "rbf(sigma='mean')", "rbf(sigma='mean/4')"],
    cv="3x2",
)
columns = ["method", "accuracy", "deviation", "difference", "p_corrected"]
print(found.table()[columns].round(3).to_string(index=False))
print(found.verdict)

# %%
# The best method is at the top.
found.plot()
pyplot.show()
