"""The files that ``mklkit compare`` writes: checks before it starts, and the model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mklkit.cli.console import say, working

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison

__all__ = ["check_outputs", "save_best"]


def check_outputs(
    sources: list[str], results: Path | None, reports: list[Path], output: Path | None
) -> None:
    """Refuse files that can't be written before anything is computed."""
    from itertools import combinations

    from mklkit.comparison.writing import check_report

    for report in reports:
        check_report(report)
    # The rest takes seconds to import.
    from mklkit.datasets.paths import same_file, user_path
    from mklkit.errors import DataError
    from mklkit.persistence.atomic import check_writable

    files = [path for path in (results, *reports, output) if path is not None]
    for path in files:
        check_writable(path)
        for source in sources:
            if same_file(path, user_path(source)):
                raise DataError(f"{path} holds the data; choose another name for the file.")
    for first, second in combinations(files, 2):
        if same_file(first, second):
            raise DataError(f"{first} and {second} are the same file.")
    if output is not None and len(sources) > 1:
        raise DataError("With several data sets there is no single model to save by --output.")


def save_best(output: Path, comparison: Comparison) -> None:
    """Save the best method with the facts that 'fit' saves, and those of the comparison."""
    from time import perf_counter

    from mklkit.datasets.pipeline import describe
    from mklkit.estimators.introspection import ChoosingModel
    from mklkit.evaluation import score
    from mklkit.persistence import save_model

    (data,) = comparison.data
    best = comparison.best_method.name
    with working("fitting the best method on all rows"):
        start = perf_counter()
        pipeline = comparison.best_estimator_
        seconds = perf_counter() - start
        choices = pipeline[-1].choices_ if isinstance(pipeline[-1], ChoosingModel) else []
        scores = score(data.target, pipeline.predict(data.features), data.target)
        facts: dict[str, Any] = {
            "preset": None,
            "seed": comparison.plan["seed"],
            "preprocessing": describe(pipeline),
            "choices": [
                f"{best}: the best of {len(comparison.methods)} compared methods",
                *choices,
            ],
            "split": "none",
            "scores": {"train": scores, "held_out": None},
            "seconds": seconds,
            "comparison": {"method": best, "verdict": comparison.verdict},
        }
        if data.table is not None:
            facts["data"] = data.table.facts()
        save_model(pipeline, output, facts)
    say(f"{best} was fitted on all {len(data.target)} rows")
