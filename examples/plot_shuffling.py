"""
What shuffling a source costs
=============================

A weight says that a kernel is used, not what it is worth. ``explain`` measures that in two ways:
what is lost when the model is fitted without the kernel, and what is lost when its columns are
shuffled in rows that the model has not seen. The table has text, numbers and categories, with a
kernel for each, and all kernels have the same weight.
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
# Three equal weights, but three sources of very different value. Shuffling loses more than leaving
# out: a model fitted without a source makes better use of the others, while one that relies on it
# is misled by shuffled values.
explanation.plot()

# %%
# Columns
# -------
#
# Each column is shuffled separately; the bars have 95 % intervals. ``level_3`` and ``level_4`` are
# noise by construction, and nothing is lost. The picture does not say that all columns with short
# bars can be dropped together: if two columns say the same, either can be shuffled without harm.
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
axes.set(xlabel="change in accuracy when shuffled, points", ylabel="column")
axes.spines[["top", "right"]].set_visible(False)
pyplot.show()
