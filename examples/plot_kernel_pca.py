"""
Kernel PCA of each source and of their consensus
================================================

Five digits in the first two kernel principal components: of Fourier coefficients, of pixels, of
Zernike moments, and of all three kernels with the weights that ``consensus``, from mklkit-optimize,
finds without labels. The labels are only used to colour the points. The nearest neighbours in the
plane measure how well the groups are separated.
"""

from matplotlib import pyplot
from sklearn.decomposition import KernelPCA
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from mklkit import MKLTransformer
from mklkit.datasets import load_table

table = load_table("multiple_features")
chosen = table.target.isin([0, 4, 6, 7, 9])
X, digits = table.features[chosen], table.target[chosen].to_numpy()
X = (X - X.mean()) / (X.std() + 1e-12)
kernels = {name: f"{name}:rbf@{name}_*" for name in ("fourier", "pixel", "zernike")}
combinations = {name: [kernel] for name, kernel in kernels.items()}
combinations["consensus"] = list(kernels.values())
points = {}
for name, members in combinations.items():
    transformer = MKLTransformer(members, combiner="consensus")
    points[name] = make_pipeline(
        transformer, KernelPCA(2, kernel="precomputed", eigen_solver="dense")
    ).fit_transform(X)
    near = cross_val_score(KNeighborsClassifier(5), points[name], digits).mean()
    print(f"{name:10} five neighbours in the plane: accuracy {near:.2f}")
print(transformer.fit(X).weights_frame()[["kernel", "weight"]].round(3).to_string(index=False))

# %%
# Six and nine
# ------------
#
# Fourier coefficients and Zernike moments put 6 and 9 in the same place, because neither changes
# when an image is rotated. Pixels separate them. The consensus is in between. Two components show
# only a small part of a kernel: groups that overlap here may be separated in others.
figure, axes = pyplot.subplots(2, 2, figsize=(6.4, 6), layout="constrained")
styles = zip("o^sDv", ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00"), strict=True)
styles = dict(zip((0, 4, 6, 7, 9), styles, strict=True))
for panel, (name, plane) in zip(axes.flat, points.items(), strict=True):
    for digit, (marker, color) in styles.items():
        members = plane[digits == digit]
        panel.scatter(*members.T, 22, color=color, marker=marker, alpha=0.8, label=str(digit), lw=0)
    panel.set(title=name, xticks=[], yticks=[])
figure.supxlabel("first kernel principal component", fontsize="medium")
figure.supylabel("second kernel principal component", fontsize="medium")
figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=5)
pyplot.show()
