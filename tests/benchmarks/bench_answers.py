"""How often ``compare`` and ``explain`` say what is not so, on studies whose truth is known.

``python bench_answers.py [--settings plain rare] [--sizes 80 250] [--studies 200] [--further 600]
[--commands 2] [--always] [--answers FILE]`` prints a table in Markdown. The settings are in
``simulated_studies.py``. What is true of a difference is its mean over further studies with five
folds each. A sentence is false if it says that something is better, worse, lost or gained which is
not, or that a difference is no larger than it is.

The models are ridge regressions on one linear kernel for each source, and are fitted by their
formula; tests, intervals and sentences are the library's. ``--commands`` runs the first studies of
each setting through ``compare`` and ``explain`` too, and stops if an interval or a sentence is
another; ``best-single`` alone has inner folds of its own.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from simulated_studies import (
    ALPHA,
    LARGEST_GAUSSIAN,
    SETTINGS,
    FoldFits,
    Setting,
    Study,
    folds,
    method_scores,
    scores_without,
)

from mklkit import MKLClassifier, MKLRegressor, compare
from mklkit.comparison.withholding import sentences, without_verdicts
from mklkit.evaluation import planned_tests, resolution_of, verdict
from mklkit.evaluation.equivalence import MARGIN
from mklkit.evaluation.intervals import Interval
from mklkit.evaluation.no_verdict import why_no_verdict
from mklkit.evaluation.paired_tests import corrected_t_test, holm_levels
from mklkit.explanation import explain
from mklkit.explanation.explaining import as_changes
from mklkit.explanation.meaning import judged
from mklkit.protocols import Task
from mklkit.registry.tasks import task_named

QUESTIONS = (
    ("centered-alignment", "uniform"),
    ("uniform", "best-single"),
    ("uniform", "rbf on all columns"),
)
"""What ``compare`` asks of the methods."""
FEWEST = 20
"""The fewest studies with a verdict of which the coverage is told."""
SAID = ["study", "command", "subject", "difference", "low", "high", "outcome"]
BETTER, WORSE, LIMITED, NONE, OPEN = "better", "worse", "limited", "no verdict", "inconclusive"
OUTCOMES = {"lost": BETTER, "gained": WORSE, "not lost": LIMITED}
"""What the outcomes of ``explain`` say of the model with a source against that without it."""
SENTENCES = {
    " is better than ": BETTER,
    " is worse than ": WORSE,
    "no difference larger than": LIMITED,
    "no verdict on": NONE,
}
"""What a sentence of ``compare`` says."""

Answer = tuple[str, str, float, float, float, str]
"""Command, subject, difference, both ends of its interval, and what is said."""


def draw(setting: Setting, n_samples: int, *seed: int) -> Study:
    """Return a study of a setting."""
    return setting(n_samples, np.random.default_rng([n_samples, *seed]))


def answers(study: Study, seed: int, always: bool = False) -> Iterator[Answer]:
    """Yield what the commands say of a study, of models fitted by their formula.

    ``always`` gives a verdict where the commands give none.
    """
    fits = FoldFits.of(study, folds(study, 10, seed))
    score = task_of(study).score_named(study.score)
    units = resolution_of(score, study.target, study.groups)
    why = "" if always else why_no_verdict(score, study.target, study.groups)
    sizes = np.array([[len(split.train), len(split.test)] for split in fits.splits]).T
    whole, without = scores_without(fits)
    losses = {source: whole - part for source, part in without.items()}
    units = None if units is None else units.with_scores(float(whole.mean()))
    tests = [corrected_t_test(loss, *sizes).p_value for loss in losses.values()]
    rows = []
    for (source, loss), level in zip(losses.items(), holm_levels(tests)[1], strict=True):
        interval = Interval.over_splits(loss, *sizes, units, level)
        rows.append((source, loss.mean(), *interval.limits(), [], interval))
    ends = [f"left_out{end}" for end in ("", "_low", "_high")]
    heads = ["kernel", *ends, "unadjusted", "left_out_interval"]
    yield from of_sources(judged(pd.DataFrame(rows, columns=heads), len(whole), MARGIN, why))
    scores = method_scores(fits, seed)
    asked = [("", *pair) for pair in QUESTIONS if scores.keys() >= {*pair}]
    units = resolution_of(score, study.target, study.groups)
    tests = planned_tests(scores, asked, *sizes, resolution=units)
    yield from of_questions(without_verdicts(tests, {}, why), study)


def task_of(study: Study) -> Task:
    """Return the task of a study."""
    return task_named("regression" if study.is_regression else "classification")


def of_sources(kernels: pd.DataFrame) -> Iterator[Answer]:
    """Yield what is said of each source in the judged table of kernels."""
    for row in kernels.to_dict("records"):
        limits = row["left_out"], row["left_out_low"], row["left_out_high"]
        yield "explain", row["kernel"], *limits, OUTCOMES.get(row["outcome"], row["outcome"])


def of_questions(tests: pd.DataFrame, study: Study) -> Iterator[Answer]:
    """Yield what is said of each planned question, in sentences or as withheld."""
    score = task_of(study).score_named(study.score)
    withheld = bool(tests["withheld"].any())
    lines = sentences(tests) if withheld else verdict(tests, score).splitlines()
    for row, line in zip(tests.to_dict("records"), lines, strict=True):
        said = next((what for words, what in SENTENCES.items() if words in line), OPEN)
        subject = f"{row['method']} / {row['reference']}"
        yield "compare", subject, row["difference"], row["low"], row["high"], said


def differences(study: Study, seed: int) -> dict[tuple[str, str], float]:
    """Return the mean differences of a study in five folds, by command and subject."""
    fits = FoldFits.of(study, folds(study, 1, seed))
    whole, without = scores_without(fits)
    scores = method_scores(fits, seed)
    losses = {("explain", name): float(np.mean(whole - part)) for name, part in without.items()}
    asked = {
        ("compare", f"{method} / {reference}"): float(np.mean(scores[method] - scores[reference]))
        for method, reference in QUESTIONS
        if reference in scores
    }
    return losses | asked


def by_commands(study: Study, seed: int) -> Iterator[Answer]:
    """Yield what the commands say of a study."""
    frame, grouped = study.frame, {"groups": study.groups}
    target = study.target if study.is_regression else study.target.astype(int)
    kernels = [f"{source}:linear@{source}_*" for source in study.sources]
    learner = f"ridge(alpha={ALPHA})"
    estimator = (MKLRegressor if study.is_regression else MKLClassifier)(kernels, learner=learner)
    model = estimator.fit(frame, target)
    explained = explain(
        model, frame, target, repeats=1, columns="sources", random_state=seed, **grouped
    )
    yield from of_sources(as_changes(explained.kernels))  # losses again
    asked = {"methods": ["centered-alignment"], "learners": [learner], "baselines": "none"}
    compared = compare(frame, target, kernels=kernels, seed=seed, **asked, **grouped)
    yield from of_questions(compared.questions, study)


def check(said: pd.DataFrame, setting: Setting, n_samples: int, n_studies: int) -> None:
    """Stop if the commands say something else; ``best-single``, with other folds, is left out."""
    rows = [
        (seed, *answer)
        for seed in range(n_studies)
        for answer in by_commands(draw(setting, n_samples, seed), seed)
    ]
    both = pd.DataFrame(rows, columns=SAID).merge(said, on=SAID[:3], suffixes=("", " here"))
    both = both[~both["subject"].str.contains("best-single")]
    assert len(both) == 6 * n_studies
    np.testing.assert_allclose(both["difference here"], both["difference"], atol=1e-9)
    # Holm's levels of compare depend on the question about best-single too.
    sources = both[both["command"] == "explain"]
    for name in SAID[4:6]:
        np.testing.assert_allclose(sources[f"{name} here"], sources[name], atol=1e-9)
    assert (sources["outcome here"] == sources["outcome"]).all()


def simulated(
    setting: Setting, n_samples: int, n_studies: int, n_further: int, always: bool
) -> pd.DataFrame:
    """Return what is said of each study, with the ``true`` difference and whether it is false."""
    rows = [
        (seed, *answer)
        for seed in range(n_studies)
        for answer in answers(draw(setting, n_samples, seed), seed, always)
    ]
    further = (differences(draw(setting, n_samples, seed, 1), seed) for seed in range(n_further))
    true = pd.DataFrame(further).mean().rename("true")
    true.index = pd.MultiIndex.from_tuples(true.index, names=SAID[1:3])
    said = pd.DataFrame(rows, columns=SAID).join(true, on=SAID[1:3])
    signs = said["outcome"].map({BETTER: 1, WORSE: -1})
    limit, largest = said["high"], said["true"]
    # explain limits what is lost, compare a difference either way.
    of_pairs = said["command"] == "compare"
    limit = limit.where(~of_pairs, said[["low", "high"]].abs().max(axis=1))
    largest = largest.where(~of_pairs, largest.abs())
    false = (signs * said["true"] <= 0) | ((said["outcome"] == LIMITED) & (largest > limit))
    return said.assign(false=false)


def share(events: pd.Series) -> str:
    """Return a share in percent with its exact 95 % limits."""
    low, high = 100 * np.array(stats.binomtest(int(events.sum()), len(events)).proportion_ci())
    return f"{100 * events.mean():.1f} ({low:.0f}–{high:.0f})"


def cells(said: pd.DataFrame) -> list[str]:
    """Return the cells of one command: false, coverage, the largest difference, power, none."""
    judged_rows = said[said["outcome"] != NONE]
    covered = (judged_rows["low"] <= judged_rows["true"]) & (
        judged_rows["true"] <= judged_rows["high"]
    )
    by_subject = covered.groupby(judged_rows["subject"])
    coverage = "–"
    if len(judged_rows) and by_subject.size().min() >= FEWEST:
        coverage = share(covered[judged_rows["subject"] == by_subject.mean().idxmin()])
    largest = said.loc[said["true"].abs().idxmax()]
    of_largest = said[said["subject"] == largest["subject"]]
    detected = of_largest["outcome"] == (BETTER if largest["true"] > 0 else WORSE)
    return [
        share(said.groupby("study")["false"].any()),
        coverage,
        f"{100 * abs(largest['true']):.1f}",
        share(detected),
        f"{100 * (said['outcome'] == NONE).mean():.0f}",
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    names = {setting.__name__: setting for setting in SETTINGS}
    parser.add_argument("--settings", nargs="*", choices=names, default=list(names))
    parser.add_argument("--sizes", type=int, nargs="*", default=None)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--further", type=int, default=600)
    parser.add_argument("--commands", type=int, default=0)
    parser.add_argument("--always", action="store_true", help="give a verdict in all studies")
    parser.add_argument("--answers", type=Path, help="a CSV file to add all answers to")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    heads = ["setting", "samples", "command", "false", "coverage", "largest", "power", "no verdict"]
    print("|", " | ".join(heads), "|")
    print("|---|--:|---|--:|--:|--:|--:|--:|")
    for name in options.settings:
        for n_samples in options.sizes or SETTINGS[names[name]]:
            numbers = n_samples, options.studies, options.further
            said = simulated(names[name], *numbers, options.always)
            if options.answers:
                first = not options.answers.exists()
                named = said.assign(setting=name, samples=n_samples)
                named.to_csv(options.answers, mode="a", header=first, index=False)
            if options.commands and n_samples <= LARGEST_GAUSSIAN and not options.always:
                check(said, names[name], n_samples, options.commands)
            for command, group in said.groupby("command"):
                row = [name.replace("_", " "), str(n_samples), str(command), *cells(group)]
                print("|", " | ".join(row), "|", flush=True)


if __name__ == "__main__":
    main()
