"""
Kernel weights that depend on the row
=====================================

Four groups of two stars each. The closer the two stars of a group, the narrower the kernel that
tells them apart: cluster gating learns weights for each group of rows instead of one for all.
"""

from matplotlib import pyplot

from mklkit import GatesDisplay, KernelWeightsDisplay, MKLClassifier
from mklkit.datasets.stars import make_four_stars

X, y, groups = make_four_stars(400, random_state=0)
kernels = [f"width {width:g}:rbf(gamma={1 / width})" for width in (0.01, 0.1, 1)]
model = MKLClassifier(kernels, combiner="cluster-gating", random_state=0).fit(X, y)

# %%
# Each kernel's weight over the plane.
GatesDisplay.from_estimator(model, X, y)

# %%
# The same as a table, cluster by kernel.
KernelWeightsDisplay.from_estimator(model)
pyplot.show()
