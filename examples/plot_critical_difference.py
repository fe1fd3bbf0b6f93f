"""
Which method ranks better on several data sets?
===============================================

Six methods on ten small data sets: three single kernels and three combiners of all of them. Each
data set ranks the methods by their accuracy in cross-validation, and the ranks are averaged. A bar
joins methods whose average ranks are closer than Nemenyi's critical difference, so that ten data
sets do not show a difference.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot
from mklkit_papers.stars import make_four_stars
from sklearn import datasets
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklkit import MKLClassifier
from mklkit.evaluation import planned_tests_of_datasets, verdict_of_datasets
from mklkit.plotting import CriticalDifferenceDisplay

X, y = datasets.load_diabetes(return_X_y=True)
generated = {"n_samples": 300, "random_state": 0}
data = {
    "breast cancer": datasets.load_breast_cancer(return_X_y=True),
    "iris": datasets.load_iris(return_X_y=True),
    "wine": datasets.load_wine(return_X_y=True),
    "diabetes": (X, y > np.median(y)),
    "moons": datasets.make_moons(noise=0.3, **generated),
    "circles": datasets.make_circles(noise=0.2, factor=0.5, **generated),
    "stars": make_four_stars(**generated)[:2],
    "hypercube": datasets.make_classification(n_informative=6, **generated),
    "shells": datasets.make_gaussian_quantiles(n_features=5, n_classes=2, **generated),
    "xor": (np.random.RandomState(0).randn(300, 4), None),
}
rows = data["xor"][0]
data["xor"] = rows, rows[:, 0] * rows[:, 1] > 0
kernels = {
    "linear": "cosine(linear)",
    "wide rbf": "rbf(sigma='mean')",
    "narrow rbf": "rbf(sigma='mean/4')",
}
methods = {name: MKLClassifier([kernel], learner="svm(C=1)") for name, kernel in kernels.items()}
for rule in ("uniform", "centered-alignment", "dimkl5"):
    methods[rule] = MKLClassifier([*kernels.values()], combiner=rule, learner="svm(C=1)")

# %%
# Accuracies
# ----------
folds = StratifiedKFold(5, shuffle=True, random_state=0)
scores = pd.DataFrame(
    {
        method: {
            name: cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=folds).mean()
            for name, (X, y) in data.items()
        }
        for method, model in methods.items()
    }
)
print((100 * scores).round(1).to_string())

# %%
# Ranks
# -----
#
# The diagram compares all pairs, and so has little power for each of them. Two planned questions
# have more power. The diagram does not show by how much methods differ, and a rank depends on the
# other methods. Six of these data sets are generated, with different shapes; ranks on them say
# nothing about other kinds of data.
questions = [
    ("Learned weights", "centered-alignment", "uniform"),
    ("All kernels or one", "uniform", ["linear", "wide rbf", "narrow rbf"]),
]
print(verdict_of_datasets(planned_tests_of_datasets(dict(scores.items()), questions)))
CriticalDifferenceDisplay.from_scores(scores)
pyplot.show()
