"""
Ablation and permutation importance of sources
==============================================

A weight shows that a kernel is used, not what it is worth. ``explain`` measures its worth in two
ways. Ablation is what is lost when the model is refitted without the kernel, and permutation
importance is what is lost when its columns are permuted in samples that the model has not seen. The
table has text, numbers and categories, with a kernel for each, and all kernels have the same
weight.
"""

from matplotlib import pyplot

from mklkit import MKLClassifier, build_pipeline, explain
from mklkit.datasets import load_table

table = load_table("mixed_sources", as_written=["sequence"])
kernels = ["sequence:spectrum(k=4)@sequence", "level:rbf@level_*", "kind:overlap@tissue,stage"]
model = build_pipeline(MKLClassifier(kernels, combiner="uniform", learner="svm(C=1)"))
model.fit(table.features, table.target)
explanation = explain(model, table.features, table.target, columns="each", random_state=0)
print(
    explanation.kernels[["kernel", "weight", "left_out", "shuffled"]]
    .round(3)
    .to_string(index=False)
)

# %%
# Kernels
# -------
#
# The three weights are equal, but the sources have very different value. Permutation loses more
# than ablation, because a model that is refitted without a source makes better use of the others,
# while a model that relies on the source is misled by permuted values. ``plot`` draws a
# :class:`~mklkit.plotting.KernelWorthDisplay`.
explanation.plot()

# %%
# Columns
# -------
#
# Each column is permuted separately, and the bars have 95 % confidence intervals. ``level_3`` and
# ``level_4`` are noise by construction, and nothing is lost. Columns with short bars cannot always
# be dropped together: if two columns are redundant, permuting either costs little.
columns = explanation.columns.iloc[::-1]
change = 100 * columns["shuffled"]
figure, axes = pyplot.subplots(figsize=(6, 3.4), layout="constrained")
axes.barh(
    columns["group"],
    change,
    xerr=[change - 100 * columns["shuffled_low"], 100 * columns["shuffled_high"] - change],
    color="#CC79A7",
    ecolor=pyplot.rcParams["text.color"],
    capsize=3,
)
axes.axvline(0, color=pyplot.rcParams["text.color"], lw=0.8)
axes.set(xlabel="change in accuracy when permuted, points", ylabel="column")
axes.spines[["top", "right"]].set_visible(False)
pyplot.show()
