"""
Gates over the plane: kernel weights that depend on the sample
==============================================================

Four groups of two stars, one star per class. The closer the two stars of a group, the narrower the
kernel that separates them. ``cluster-gating`` learns kernel weights for each cluster of samples,
and a sample has the weights of its clusters.
"""

from matplotlib import pyplot
from mklkit_papers.gates import GatesDisplay
from mklkit_papers.stars import make_four_stars

from mklkit import MKLClassifier
from mklkit.plotting import KernelWeightsDisplay

X, y, groups = make_four_stars(600, random_state=0)
widths = (0.05, 0.2, 0.8, 3.2)
kernels = [f"width {width:g}:rbf(sigma={width})" for width in widths]
gated = MKLClassifier(kernels, combiner="cluster-gating", random_state=0).fit(X, y)
new_X, new_y, new_groups = make_four_stars(600, random_state=1)
print("accuracy on new samples, by the distance of the stars of a group")
models = {"cluster-gating": gated}
models["uniform"] = MKLClassifier(kernels, combiner="uniform", learner="kda").fit(X, y)
for name, model in models.items():
    right = model.predict(new_X) == new_y
    print(f"{name:14}", *(f"{right[new_groups == group].mean():.2f}" for group in range(4)))

# %%
# The gates
# ---------
#
# The weight of each kernel at every point of the plane, with the samples on top. Where the stars
# are close, below, the narrowest kernel has all the weight; above, wider ones share it. The gates
# show which kernels a region uses, not that the model is better: by the table above, uniform
# weights are as accurate on these data.
GatesDisplay.from_estimator(gated, X, y)

# %%
# Cluster by kernel
# -----------------
#
# The learned weights. The gates of a sample are their mean, weighted by its membership in the
# clusters.
KernelWeightsDisplay.from_estimator(gated)
pyplot.show()
