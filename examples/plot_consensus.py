"""
Several sources, no labels: what do they have in common?
========================================================

Four sources describe the same handwritten digits: three kinds of numbers computed from the image,
and columns that say which of five scanners it is from. ``consensus``, from mklkit-optimize, weights
a source by its agreement with the others, so the scanner, which is unrelated to them, gets little
weight. Kernel PCA and clustering of the combined kernel are one pipeline each.
"""

import numpy as np
from matplotlib import pyplot
from mklkit_optimize.consensus_display import ConsensusDisplay
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from mklkit import MKLTransformer

images, digits = load_digits(n_class=4, return_X_y=True)
images, digits = images[:360] / 16, digits[:360]
draw = np.random.RandomState(0)
square = images.reshape(-1, 8, 8)
sources = {
    "pixels": images,
    "rows and columns": np.hstack([square.sum(axis=1), square.sum(axis=2)]) / 8,
    "frequencies": np.abs(np.fft.rfft2(square)).reshape(len(images), -1) / 8,
    "scanner": draw.randn(5, 6)[draw.randint(5, size=len(images))] + 0.1 * draw.randn(360, 6),
}
X = np.hstack(list(sources.values()))
ends = np.cumsum([source.shape[1] for source in sources.values()])
kernels = [
    (name, "rbf(sigma='mean')", slice(end - source.shape[1], end))
    for (name, source), end in zip(sources.items(), ends, strict=True)
]

# %%
# Rows, weights and agreement
# ---------------------------
#
# Top: the images in the first two kernel principal components. Bottom: the weights, and the cosines
# between kernels from which they follow. Agreement is not value: if three of four sources described
# the scanner, they would get the weight.
transformer = MKLTransformer(kernels, combiner="consensus")
components = make_pipeline(transformer, KernelPCA(2, kernel="precomputed")).fit(X)
ConsensusDisplay.from_estimator(components, X, digits)

# %%
# Clusters
# --------
#
# Spectral clustering of the combined kernel, compared with the digits, which it did not use.
for combiner in ("consensus", "uniform"):
    clusters = make_pipeline(
        MKLTransformer(kernels, combiner=combiner),
        SpectralClustering(4, affinity="precomputed", random_state=0),
    ).fit_predict(X)
    print(f"{combiner}: adjusted Rand index {adjusted_rand_score(digits, clusters):.2f}")
pyplot.show()
