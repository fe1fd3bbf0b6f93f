"""The evaluation of classifiers: splits, scores, cross-validation, kernel alignment, tests.

``fit``, ``evaluate`` and ``kernels`` read a ``Study`` (``study.py``): a table with its task, and
the pipeline that the settings of a model (``estimators/model_settings.py``) describe for it. What a
command then does is a function of the study in ``study_fits.py``, or, for a table in parts, in
``fit_in_parts.py``; it returns a ``FittedStudy``, whose record is printed and saved. All splits
come from ``make_splits`` (``protocols/splits/making.py``), which makes ``Splits`` of folds, groups,
the order of samples, splitters, lists, random parts, a column or a held-out share;
``Target.folds``, searches and tasks call it too, so that folds are stratified, groups kept together
and every class is trained on in one place. ``fit_and_score`` (``fit_and_score.py``) fits a copy of
an estimator on the training samples of a split and scores it; ``fit``, ``evaluate`` and
``cross_validate`` call it, and ``compare`` and ``explain``, which encode samples and share views
between methods, call its ``fitted_on``. Statements that several commands make are in
``sentences.py``.

Examples
--------
>>> from mklkit import MKLClassifier
>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True)
>>> (split,) = make_splits(y, HoldOut(share=0.2))
>>> model = MKLClassifier().fit(X[split.train], y[split.train])
>>> scores = score(y[split.test], model.predict(X[split.test]), y[split.train])
>>> scores["rows"], scores["accuracy"] > 0.9
(30, True)
"""

from mklkit.evaluation.class_scores import score, score_confusion
from mklkit.evaluation.cross_validation import CrossValidation, cross_validate
from mklkit.evaluation.equivalence import equivalence_margin
from mklkit.evaluation.fit_and_score import Samples, Scores, fit_and_score
from mklkit.evaluation.measures import (
    ball_center,
    effective_rank,
    kernel_measures,
    margin,
    radius,
    spectral_ratio,
)
from mklkit.evaluation.over_data_sets import (
    planned_tests_of_datasets,
    signed_rank_p_value,
    verdict_of_datasets,
)
from mklkit.evaluation.paired_tests import (
    PairedTest,
    corrected_interval,
    corrected_t_test,
    holm,
    least_difference,
    paired_t_test,
)
from mklkit.evaluation.rank_tests import (
    FriedmanTest,
    RopeProbabilities,
    average_ranks,
    bayesian_signed_rank,
    critical_difference,
    friedman_test,
    indistinguishable,
    nemenyi_p_values,
)
from mklkit.evaluation.resolution import Resolution, resolution_of
from mklkit.evaluation.verdict import planned_tests, verdict
from mklkit.protocols.score import Answers, Score
from mklkit.protocols.splits.making import (
    Folds,
    GivenSplits,
    HoldOut,
    MonteCarlo,
    PartsColumn,
    make_splits,
    read_cv,
)
from mklkit.protocols.splits.split import Split, Splits

__all__ = [
    "Answers",
    "CrossValidation",
    "Folds",
    "FriedmanTest",
    "GivenSplits",
    "HoldOut",
    "MonteCarlo",
    "PairedTest",
    "PartsColumn",
    "Resolution",
    "RopeProbabilities",
    "Samples",
    "Score",
    "Scores",
    "Split",
    "Splits",
    "average_ranks",
    "ball_center",
    "bayesian_signed_rank",
    "corrected_interval",
    "corrected_t_test",
    "critical_difference",
    "cross_validate",
    "effective_rank",
    "equivalence_margin",
    "fit_and_score",
    "friedman_test",
    "holm",
    "indistinguishable",
    "kernel_measures",
    "least_difference",
    "make_splits",
    "margin",
    "nemenyi_p_values",
    "paired_t_test",
    "planned_tests",
    "planned_tests_of_datasets",
    "radius",
    "read_cv",
    "resolution_of",
    "score",
    "score_confusion",
    "signed_rank_p_value",
    "spectral_ratio",
    "verdict",
    "verdict_of_datasets",
]
