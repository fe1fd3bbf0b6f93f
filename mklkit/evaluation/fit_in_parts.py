"""The fit of a study whose table is read in parts: larger than the memory, or several files."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from time import perf_counter
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.datasets.encoded_rows import encoded_rows
from mklkit.datasets.files import TableInParts
from mklkit.datasets.pipeline import model_pipeline
from mklkit.datasets.scanning import SAMPLE_ROWS, Scan, scan_table
from mklkit.display.progress import Report, reported, reporting_to
from mklkit.errors import IncompatibleError, named, quoted
from mklkit.estimators.base import KernelEstimator
from mklkit.estimators.declaring import declared_sources
from mklkit.estimators.fit import expects_landmarks
from mklkit.estimators.model_settings import ModelSettings
from mklkit.estimators.task_of import task_of
from mklkit.evaluation.study import Roles, study_of, with_kernels_of_sources
from mklkit.evaluation.study_fits import FittedStudy
from mklkit.numerics.sampling import own_stream
from mklkit.protocols import FeatureMapTraits, Task, traits_of
from mklkit.protocols.component import LARGE_DATA_OPTIONS
from mklkit.protocols.splits.holding_out import held_out_mask
from mklkit.registry.composing import choose_components
from mklkit.views.dask import connected, workers_in_use
from mklkit.views.dask.rows import DaskRows
from mklkit.views.memory import memory_limit, refuse_large_gram
from mklkit.views.stored_rows import StoredRows

BLOCK_CELLS = 1 << 21
LEAST_SAMPLE, CELL_BYTES = 1000, 100
"""The fewest samples of the first pass, and the memory of a cell of text while it is read."""
SCORED_ROWS = 100_000
"""The training samples to score, enough for an accuracy to a few tenths of a percent."""

Shows = Callable[[str], AbstractContextManager[Report]]
"""Returns a context that shows the progress of a pass with this title."""


def _quietly(title: str) -> AbstractContextManager[Report]:
    return reported(None, title)


def fit_in_parts(
    pipeline: Any,
    settings: ModelSettings,
    chunked: TableInParts,
    roles: Roles,
    holdout: float,
    distributed: bool = False,
    shows: Shows = _quietly,
) -> FittedStudy:
    """Fit a pipeline on a table in chunks, and score it.

    Its classifier is fitted on a :class:`mklkit.protocols.RowSource`, on the workers of a Dask
    scheduler, or in memory where its map is implicit. The study has some of the samples; the
    record is like that of a fit in memory.
    """
    classifier = pipeline[-1]
    seed = settings.seed
    task = task_of(pipeline)
    _refuse_more_than_numbers(classifier, chunked.ids is not None)
    limit = memory_limit(settings.max_memory)
    most = SAMPLE_ROWS
    if settings.max_memory is not None:
        quarter = (limit or 0) // 4
        most = min(most, max(LEAST_SAMPLE, quarter // (CELL_BYTES * len(chunked.columns))))
    with shows("first pass") as tell:
        scan = scan_table(chunked, roles.target, list(roles.drop), seed, tell, most)
    of_sources = with_kernels_of_sources(settings, scan.table)
    if of_sources is not settings:
        settings, pipeline = of_sources, model_pipeline(of_sources, task)
        classifier = pipeline[-1]
    # The samples become numbers, so no other columns are passed on for kernels that are proposed.
    schema = pipeline[0].schema.of_table(scan.table.schema)
    pipeline.set_params(encode__schema=attrs.evolve(schema, infer=False))
    study = study_of(settings, pipeline, scan.table, task, scan.table.notes)
    held, kind = held_out_mask(scan.codes, holdout, seed)
    known = scan.codes >= 0
    codes = {"train": scan.codes[known & ~held], "held_out": scan.codes[known & held]}
    traits_of_map = _traits_of_map(classifier)
    implicit = traits_of_map is not None and not traits_of_map.explicit
    if isinstance(classifier, KernelEstimator) and expects_landmarks(
        classifier, len(codes["train"])
    ):
        implicit = False
    if implicit:
        # Before any sample is encoded.
        refuse_large_gram(len(codes["train"]), 8, limit, "may be used")
    start = perf_counter()
    with ExitStack() as files:
        with shows("second pass") as tell:
            rows = files.enter_context(encoded_rows(chunked, scan, held, pipeline[0], tell))
        if rows.miss_sources:
            _check_in_memory(rows.train, limit, distributed)
        training_rows: Any = rows.train
        if implicit or rows.miss_sources:
            # A Gram matrix takes more memory than the rows; features are made block by block.
            training_rows = pd.DataFrame(rows.train[:], columns=rows.train.column_names)
        elif distributed:
            with shows("sending samples"):
                training_rows = DaskRows.sent(rows.train)
        with shows("fitting") as tell, reporting_to(tell):
            classifier.fit(training_rows, scan.classes[codes["train"]])
        seconds = perf_counter() - start
        parts = {"train": rows.train, "held_out": rows.held_out}
        scores = _scores(classifier, parts, codes, scan, task, seed, shows)
    study = study.with_notes([*rows.notes, *_on_categories(pipeline[0], schema.infer)])
    scored = {"rows": len(codes["train"]), "seconds": seconds}
    times = {"seconds": seconds, "scored_model": scored}
    record = study.record(pipeline, split=kind, scores=scores, **times)
    ids = None if chunked.ids is None else chunked.ids[known & ~held]
    return FittedStudy(study, pipeline, record, ids)


def _on_categories(encoder: Any, proposed: bool) -> list[str]:
    """Return a note if kernels were ``proposed``, of which categories would have one in memory."""
    if not (proposed and encoder.category_):
        return []
    return [
        f"{named(encoder.category_)} one-hot encoded without a kernel for categories, because the"
        " table is read in parts; a fit in memory may propose one"
    ]


def _check_in_memory(rows: StoredRows, limit: int | None, distributed: bool) -> None:
    """Raise an error if samples that miss sources do not fit into memory, which they must."""

    if distributed or (limit is not None and 2 * rows.nbytes > limit):
        raise IncompatibleError(
            f"Samples miss sources, and only --missing impute works without these {len(rows)} in"
            " the memory of one process: use it, leave out --scheduler, or allow more memory with"
            " --max-memory."
        )


def _refuse_more_than_numbers(classifier: Any, by_ids: bool) -> None:
    """Raise an error for kernels on text, categories or gaps for a table that is read in parts.

    So are kernels that look up the identifiers by which files are joined.
    """

    for kernel in declared_sources(classifier):
        reads = "gaps" if kernel.skips_gaps else kernel.reads
        if reads in ("text", "categories", "gaps", *(["row ids"] if by_ids else [])):
            raise IncompatibleError(
                f"Kernel {quoted(kernel.label)} reads {reads}, and a table that is read in parts"
                " becomes a file of numbers: leave out --stream, allow more memory by --max-memory,"
                " or give fewer samples."
            )


@contextmanager
def on_cluster(address: str | None, pipeline: Any) -> Iterator[None]:
    """Connect to the Dask scheduler at an address; reject a map that needs all samples at once."""
    if address is None:
        yield
        return

    traits = _traits_of_map(pipeline[-1])
    if traits is None or not traits.shared:
        raise IncompatibleError(
            "This model needs all samples in one place, and --scheduler spreads them: use"
            f" {LARGE_DATA_OPTIONS}."
        )
    with connected(address):
        # It logs tracebacks of a lost connection, for which there is an error.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        workers_in_use()
        yield


def _traits_of_map(classifier: Any) -> FeatureMapTraits | None:
    """Return the facts of a classifier's map if it has one."""

    parameters = classifier.get_params()
    while "estimator" in parameters:
        parameters = parameters["estimator"].get_params()
    names = ("combiner", "feature_map", "learner")
    if not {*names} <= parameters.keys():
        return None
    choice = choose_components(*(parameters[name] for name in names))
    return traits_of(choice.feature_map, FeatureMapTraits)


def _scores(
    classifier: Any,
    parts: dict[str, StoredRows],
    codes: dict[str, NDArray[Any]],
    scan: Scan,
    task: Task,
    seed: int,
    shows: Shows,
) -> dict[str, dict[str, Any] | None]:
    """Return the scores of each part of the samples; only some of the training samples count."""
    training = scan.classes[codes["train"]]
    scores: dict[str, dict[str, Any] | None] = {}
    for part, rows in parts.items():
        members = np.arange(len(rows))
        if part == "train" and len(rows) > SCORED_ROWS:
            members = np.sort(own_stream(seed).choice(len(rows), SCORED_ROWS, replace=False))
        scores[part] = None
        if len(members):
            with shows("scoring") as tell:
                answers = _predictions(classifier, rows, members, tell)
            scores[part] = task.score(scan.classes[codes[part][members]], answers, training)
    return scores


def _predictions(
    classifier: Any, rows: StoredRows, members: NDArray[np.intp], tell: Report
) -> NDArray[Any]:
    """Return the predictions for some rows of a file, read in blocks."""
    size = max(1, BLOCK_CELLS // rows.shape[1])
    answers = []
    for start in range(0, len(members), size):
        block = pd.DataFrame(rows[members[start : start + size]], columns=rows.column_names)
        answers.append(classifier.predict(block))
        tell(start + len(block), len(members))
    return np.concatenate(answers)
