"""
Kernels computed elsewhere
==========================

Pass a Gram matrix computed by any program as a kernel, with row numbers as ``X``.
Cross-validation slices it for you, and you can combine it with kernels on columns.
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.model_selection import cross_val_score

from mklkit import MKLClassifier
from mklkit.kernels import Precomputed

X, y = load_wine(return_X_y=True)
elsewhere = cosine_similarity(np.log(X + 1))
rows = np.column_stack([np.arange(len(X)), X])  # the first column numbers the rows

model = MKLClassifier(
    [("cosine", Precomputed(elsewhere), [0]), ("measured", "rbf(sigma='mean')", slice(1, 14))],
    combiner="alignment",
)
print(f"accuracy {cross_val_score(model, rows, y, cv=5).mean():.3f}")
print(model.fit(rows, y).weights_frame().groupby("kernel")["weight"].mean().round(3).to_dict())
