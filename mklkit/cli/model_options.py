"""The options of a model, each declared once, and the pipeline that they describe."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Annotated, Any, Literal

import attrs
import typer

from mklkit.cli import options as opt
from mklkit.cli.completion import completers as complete
from mklkit.cli.examples import DEFAULT_KERNELS, KERNELS, LEARNERS, MAPS
from mklkit.errors import MKLKitError

if TYPE_CHECKING:
    from mklkit.evaluation.tasks import Task
    from mklkit.registry.entries import Kind

Command = Callable[..., None]


def _reader(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a parser of an option's value, whose errors name the option."""

    @wraps(read)
    def read_option(text: str) -> Any:
        try:
            return read(text)
        except MKLKitError as error:
            raise typer.BadParameter(str(error)) from error

    return read_option


@_reader
def _memory(text: str) -> str:
    from mklkit.views.memory import memory_limit

    memory_limit(text)  # A bare number counts bytes.
    return text


@_reader
def _effort(text: str) -> str | int:
    from mklkit.estimators.grids import check_effort

    return check_effort(text)


def _spec(text: str) -> str:
    if not text.strip():
        raise typer.BadParameter("expected a name that 'mklkit list' shows.")
    return text


component_option = partial(opt.model_option, metavar="SPEC", parser=_spec)


def _not_zero(jobs: int | None) -> int | None:
    if jobs == 0:
        raise typer.BadParameter("0 would do nothing; give a number from 1, or -1 for all.")
    return jobs


def weights_by_class(text: str) -> str | dict[str, float]:
    """Return ``balanced``, or the weight of each class of ``ill=5,well=1``.

    Examples
    --------
    >>> weights_by_class("ill=5, well=1")
    {'ill': 5.0, 'well': 1.0}
    """
    if text.strip() == "balanced":
        return "balanced"
    weights: dict[str, float] = {}
    for pair in text.split(","):
        label, _, weight = (part.strip() for part in pair.rpartition("="))
        if label in weights:
            raise typer.BadParameter(f"class {label!r:.80} has two weights: give it one.")
        try:
            weights[label] = float(weight)
        except ValueError:
            label = ""
        if not label:
            raise typer.BadParameter(
                f"expected 'balanced', or classes with their weights such as 'ill=5,well=1';"
                f" got {text!r:.80}."
            )
    return weights


@attrs.frozen(kw_only=True)
class ModelOptions:
    """The options of a model; None leaves a choice to the preset, combiner or default."""

    scale: Annotated[
        Literal["standard", "minmax", "none"] | None,
        opt.data_option(
            show_default="the preset's, else standard",
            help="How features are scaled; minmax is to \\[-1, 1].",
        ),
    ] = None
    covariates: Annotated[
        str | None,
        opt.data_option(
            metavar="COLUMNS",
            autocompletion=complete.feature_columns,
            help="Columns such as 'age,sex,batch' to remove from all others by least squares on the"
            " training rows; they are not features.",
        ),
    ] = None
    missing_value: Annotated[
        str | None,
        opt.data_option(
            metavar="VALUE",
            show_default="empty cells, NA and the like",
            help="A value that stands for a missing one in the features, such as -9.",
        ),
    ] = None
    max_memory: Annotated[
        str | None,
        opt.data_option(
            metavar="SIZE",
            parser=_memory,
            show_default="half of the free memory",
            help="The memory to use, such as 4GB or 500MB. Larger tables (CSV, Parquet) are read"
            " in parts.",
        ),
    ] = None
    preset: Annotated[
        str | None,
        opt.model_option(
            "--preset",
            "-p",
            metavar="NAME",
            autocompletion=complete.presets,
            help="A named choice of --kernel, --feature-map, --combiner, --learner and --scale;"
            " each of these options overrides it. See 'mklkit list presets'.",
        ),
    ] = None
    kernels: Annotated[
        list[str] | None,
        opt.model_option(
            "--kernel",
            "--kernels",
            "-k",
            metavar="SPEC",
            autocompletion=complete.kernels,
            show_default=DEFAULT_KERNELS,
            help=f"A kernel, optionally with a name and columns: {KERNELS}. May be repeated."
            " auto: kernels proposed from the training rows.",
        ),
    ] = None
    feature_map: Annotated[
        str | None,
        component_option(
            "--feature-map",
            "--map",
            "-m",
            autocompletion=complete.feature_maps,
            show_default="the combiner's own",
            help=f"The map from kernels to columns: {MAPS}.",
        ),
    ] = None
    combiner: Annotated[
        str | None,
        component_option(
            "--combiner",
            "-c",
            autocompletion=complete.combiners,
            show_default="the even sum",
            help="How kernels are combined; see 'mklkit list combiners'.",
        ),
    ] = None
    learner: Annotated[
        str | None,
        component_option(
            "--learner",
            "-l",
            autocompletion=complete.learners,
            show_default="the combiner's own",
            help=f"The learner: {LEARNERS}.",
        ),
    ] = None
    missing: Annotated[
        str | None,
        component_option(
            "--missing",
            autocompletion=complete.missing,
            show_default="present",
            help="How to treat rows that lack all columns of a kernel: present, drop, ... (mklkit"
            " list missing); 'compare' takes several, such as present,impute.",
        ),
    ] = None
    multiclass: Annotated[
        Literal["ovo", "ovr", "native"],
        opt.model_option(
            help="For several classes: one-vs-one, one-vs-rest, or all at once (native), if"
            " combiner and learner support it.",
        ),
    ] = "ovo"
    bandwidths: Annotated[
        Literal["per-problem", "all-rows"],
        opt.model_option(
            help="For several classes, one-vs-one: compute bandwidths such as sigma='mean' from"
            " each pair of classes, or from all training rows.",
        ),
    ] = "per-problem"
    tune: Annotated[
        Any,
        opt.model_option(
            metavar="fast|thorough|N",
            autocompletion=complete.efforts,
            parser=_effort,
            show_default="not tuned",
            help="Choose parameters by cross-validation on the training rows, from the components'"
            " own search spaces: a few values of each, all of them, or N combinations at random.",
        ),
    ] = None
    class_weight: Annotated[
        Any,
        opt.model_option(
            metavar="balanced|CLASS=WEIGHT,...",
            autocompletion=complete.balanced,
            parser=weights_by_class,
            show_default="weight 1 for every class",
            help="How much the rows of each class count in the fit: balanced, so that rare classes"
            ' count as much as frequent ones, or "ill=5,well=1".',
        ),
    ] = None
    probability: Annotated[
        bool,
        opt.model_option(
            "--probability",
            help="Calibrate class probabilities by cross-validation on the training rows, with five"
            " more fits; 'mklkit predict' then writes a column per class.",
        ),
    ] = False
    seed: opt.Seed = 0
    n_jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            callback=_not_zero,
            help="Binary problems fitted in parallel; -1: one per processor.",
        ),
    ] = None

    def pipeline(self, task: Task) -> Any:
        """Return the unfitted pipeline for a task: encode, scale, predict."""
        from mklkit.estimators.from_preset import default_preset, find_preset
        from mklkit.protocols.component import MISSING_STRATEGY
        from mklkit.registry.columns import are_proposed, bind_kernels
        from mklkit.registry.registry import get_registry

        preset = default_preset() if self.preset is None else find_preset(self.preset)
        if not are_proposed(self.kernels):
            bind_kernels(self.kernels or None)
        settings = attrs.asdict(self)
        kinds: tuple[Kind, ...] = ("combiner", "feature_map", "learner", "missing")
        for kind in kinds:
            if settings[kind] is not None:
                get_registry().create(kind, settings[kind])
        del settings["preset"]
        settings["missing"] = self.missing or MISSING_STRATEGY
        settings["random_state"] = settings.pop("seed")
        settings["kernels"] = self.kernels or None
        return task.pipeline(preset, **settings)

    def choices(self) -> list[str]:
        """Return a line for each choice that was made before the estimator got the options."""
        from mklkit.protocols.component import COMBINER, KERNELS

        if self.preset is not None:
            return [f"preset {self.preset}"]
        lines = []
        if not self.kernels:
            specs = ", ".join(kernel.partition(":")[2] for kernel in KERNELS)
            lines.append(f"kernels {specs}: the default")
        if self.combiner is None:
            lines.append(f"combiner {COMBINER}: the default")
        return lines
