"""
Which kernels are alike?
========================

Nine kernels on three sources that describe the same handwritten digits. The alignment of two
kernels is the cosine of the angle between their centred Gram matrices: 1 if they say the same about
every pair of images. A combination can gain only from kernels that differ.
"""

from matplotlib import pyplot
from mklkit_optimize.alignment_display import AlignmentDisplay

from mklkit import alignment_matrix
from mklkit.datasets import load_table

digits = load_table("multiple_features").features
digits = (digits - digits.mean()) / digits.std()
kernels = [
    f"{source} {width}:{kernel}@{source}_*"
    for source in ("fourier", "pixel", "zernike")
    for width, kernel in (
        ("linear", "cosine(linear)"),
        ("wide", "rbf(sigma='mean')"),
        ("narrow", "rbf(sigma='mean/2')"),
    )
]
alignments = alignment_matrix(kernels, digits, centered=True)
source = {name: name.split()[0] for name in alignments}
by_source = alignments.rename(index=source, columns=source).groupby(level=0).mean()
print(by_source.T.groupby(level=0).mean().round(2))

# %%
# Three blocks, one for each source
# ---------------------------------
#
# A linear and a Gaussian kernel on the same columns are nearly the same, whatever the width;
# kernels on different sources are not. Here, another source is worth more than another width. The
# picture does not say which source is good: it does not use the classes, and useless kernels may be
# similar, too.
AlignmentDisplay(alignments).plot()
pyplot.show()
