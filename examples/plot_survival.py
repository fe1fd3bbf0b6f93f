"""
Who relapses, and when?
=======================

A simulated study of 600 patients has two sources, clinical columns and proteins. The hazard depends
on one clinical column in a straight line and on two proteins in a curve. Some patients leave the
study before a relapse, so that their times are censored. ``MKLSurvival`` of the package
mklkit-survival learns from half of the patients, and the pictures show the other half.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot
from mklkit_survival import KaplanMeierDisplay, MKLSurvival, SurvivalCalibrationDisplay

rng = np.random.default_rng(0)
clinical = pd.DataFrame(rng.normal(size=(600, 4))).add_prefix("clinical_")
proteins = pd.DataFrame(rng.normal(size=(600, 8))).add_prefix("protein_")
log_hazards = clinical["clinical_0"] + np.abs(proteins["protein_0"]) - proteins["protein_1"] ** 2
relapses = 30 * rng.exponential(np.exp(-log_hazards))
visits = rng.uniform(6, 120, size=600)
study = pd.concat([clinical, proteins], axis=1)
y = pd.DataFrame({"months": np.minimum(relapses, visits), "relapse": relapses <= visits})
train, test = slice(0, 300), slice(300, 600)

model = MKLSurvival(["clinical:linear@clinical_*", "proteins:rbf@protein_*"], scale="standard")
model.fit(study[train], y[train])
print(f"concordance {model.score(study[test], y[test]):.2f}")

# %%
# Three groups of risk
# --------------------
#
# Patients are divided into thirds by the predicted risk. The bands are 95 % confidence intervals,
# and the small lines mark censored patients.
KaplanMeierDisplay.from_estimator(model, study[test], y[test], unit="months").plot()

# %%
# Are the probabilities right?
# ----------------------------
#
# Each point is a fifth of the patients: the mean predicted probability to be free of a relapse
# after two years, beside the share that was.
SurvivalCalibrationDisplay.from_estimator(model, study[test], y[test], 24, unit="months").plot()
pyplot.show()
