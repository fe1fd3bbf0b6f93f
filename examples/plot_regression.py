"""
Trend and seasonality
=====================

A simulated series of monthly values has a slow trend and a yearly season. A kernel on time models
the trend, one on the month the season, and ``loo-ridge`` learns how much of each is needed. The
model learns from six years and predicts two. ``loo-ridge`` is in the package mklkit-optimize,
``periodic`` in mklkit-kernels.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot
from sklearn.metrics import r2_score

from mklkit import MKLRegressor

rng = np.random.RandomState(0)
months = np.arange(96)
trend = 0.4 * months / 12 + 0.06 * (months / 12) ** 2
season = np.sin(2 * np.pi * months / 12) + 0.4 * np.cos(4 * np.pi * months / 12)
values = trend + season + 0.25 * rng.randn(96)
table = pd.DataFrame({"years": months / 12, "month": months % 12})
known = months < 72
kernels = {
    "trend": "trend:polynomial(degree=2, gamma=0.1)@years",
    "season": "season:periodic(period=12, length=0.8)@month",
}
combinations = {name: [kernel] for name, kernel in kernels.items()}
combinations["both"] = list(kernels.values())
curves = {}
for name, members in combinations.items():
    model = MKLRegressor(members, combiner="loo-ridge", random_state=0)
    model.fit(table[known], values[known])
    curves[name] = model.predict(table)
    score = r2_score(values[~known], curves[name][~known])
    print(f"{name:7} R² of the two years asked for: {score:.2f}")
print(model.weights_frame()[["kernel", "weight"]].round(3).to_string(index=False))

# %%
# Training period and forecast
# ----------------------------
#
# The dotted line marks the end of the training period. Weights of kernels of different size cannot
# be compared: a polynomial grows with time, a periodic kernel is at most one. And nothing in the
# training period shows that the trend will continue: the model assumes it.
figure, axes = pyplot.subplots(figsize=(6.6, 4.2), layout="constrained")
ink = pyplot.rcParams["text.color"]
axes.plot(table["years"], values, "o", ms=4, mfc="none", color=ink, alpha=0.7, label="observed")
styles = {"trend": ("#E69F00", "--"), "season": ("#009E73", "-."), "both": ("#0072B2", "-")}
for name, (color, style) in styles.items():
    axes.plot(table["years"], curves[name], style, color=color, label=name)
axes.axvline(6, ls=":", color=ink)
axes.set(xlabel="time, years", ylabel="value")
axes.legend(frameon=False, ncols=2)
pyplot.show()
