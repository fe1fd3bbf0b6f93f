"""The settings of a model, declared once, for Python and for the options of the command line.

Nothing heavy is imported here, because the command line's help shows the settings.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Self, get_type_hints

import attrs

from mklkit.errors import IncompatibleError, SpecError, listed, quoted, suggest

if TYPE_CHECKING:
    from mklkit.registry.entries import Kind

Scale = Literal["standard", "minmax", "none"]
Multiclass = Literal["ovo", "ovr", "native"]
Bandwidths = Literal["per-problem", "all-rows"]
Effort = Literal["fast", "thorough"] | int
Part = Literal["steps", "components", "estimator", "search", "run"]
"""What a setting belongs to: the steps before an estimator, its components or other parameters, the
search for these, or the run of a fit, which does not change what is learned."""

OF_METHODS = ("preset", "combiner", "learner")
"""The settings that each method of a comparison has of its own."""
EFFORTS: tuple[str, ...] = ("fast", "thorough")
DEFAULT_KERNELS = "cosine(linear), rbf, cosine(polynomial)"
KERNELS = '"rbf(sigma=\'mean\')", "shape:linear@fou_*"'
LEARNERS = '"svm(C=10)", mhks, kmhks'
MAPS = 'implicit, "empirical(subset=0.1)", fourier'
"""Names for the help; the registry, which has all names, takes seconds to import."""


@attrs.frozen(kw_only=True)
class Setting:
    """The declaration of a setting.

    ``usual`` tells in words what happens by default, if the default value does not; ``check``
    returns a value, which may be text, or raises an error; ``for_classes``: other targets have no
    such setting.
    """

    name: str
    type: Any
    default: Any
    check: Any
    part: Part | None
    help: str
    usual: str
    for_classes: bool


def check_effort(effort: Any) -> Effort:
    """Return the effort of a search, with a number converted from text."""
    from mklkit.protocols.component import is_whole

    if isinstance(effort, str) and effort.isdecimal():
        effort = int(effort)
    if (isinstance(effort, str) and effort in EFFORTS) or (is_whole(effort) and effort >= 1):
        checked: Effort = effort
        return checked
    raise SpecError(
        "The effort of a search is 'fast', 'thorough' or a number of points from 1 up;"
        f" got {quoted(effort)}."
    )


def _check_memory(memory: Any) -> Any:
    """Return an amount of memory as it is written; a bare number counts bytes."""
    from mklkit.views.memory import memory_limit

    memory_limit(memory)
    return memory


def _about(part: Part | None, text: str, usual: str = "", for_classes: bool = False) -> Any:
    """Return the metadata of a setting."""
    return {"part": part, "help": text, "usual": usual, "for_classes": for_classes}


@attrs.frozen(kw_only=True, eq=False)
class ModelSettings:
    """The settings of a model; None leaves a choice to the preset, combiner or default."""

    scale: Scale | None = attrs.field(
        default=None,
        metadata=_about(
            "steps",
            "How features are scaled; minmax is to [-1, 1].",
            usual="the preset's, else standard",
        ),
    )
    covariates: Any = attrs.field(
        default=None,
        metadata=_about(
            "steps",
            "Columns such as 'age,sex,batch' to remove from all others by least squares on the"
            " training rows; they are not features.",
        ),
    )
    missing_value: Any = attrs.field(
        default=None,
        metadata=_about(
            "steps",
            "A value that stands for a missing one in the features, such as -9.",
            usual="empty cells, NA and the like",
        ),
    )
    max_memory: int | str | None = attrs.field(
        default=None,
        converter=attrs.converters.optional(_check_memory),
        metadata=_about(
            "run",
            "The memory to use, such as 4GB or 500MB. Larger tables (CSV, Parquet) are read in"
            " parts.",
            usual="half of the free memory",
        ),
    )
    preset: Any = attrs.field(
        default=None,
        metadata=_about(
            None,
            "A named choice of kernels, feature map, combiner, learner and scale; each of these"
            " settings overrides it. See 'mklkit list presets'.",
        ),
    )
    kernels: Any = attrs.field(
        default=None,
        metadata=_about(
            "components",
            f"A kernel, optionally with a name and columns: {KERNELS}. May be repeated. auto:"
            " kernels proposed from the training rows.",
            usual=DEFAULT_KERNELS,
        ),
    )
    feature_map: Any = attrs.field(
        default=None,
        metadata=_about(
            "components",
            f"The map from kernels to columns: {MAPS}.",
            usual="the combiner's own",
        ),
    )
    combiner: Any = attrs.field(
        default=None,
        metadata=_about(
            "components",
            "How kernels are combined; see 'mklkit list combiners'.",
            usual="the even sum",
        ),
    )
    learner: Any = attrs.field(
        default=None,
        metadata=_about("components", f"The learner: {LEARNERS}.", usual="the combiner's own"),
    )
    missing: Any = attrs.field(
        default=None,
        metadata=_about(
            "estimator",
            "How to treat rows that lack all columns of a kernel: present, drop, ... (mklkit list"
            " missing); 'compare' takes several, such as present,impute.",
            usual="present",
        ),
    )
    multiclass: Multiclass = attrs.field(
        default="ovo",
        metadata=_about(
            "estimator",
            "For several classes: one-vs-one, one-vs-rest, or all at once (native), if combiner and"
            " learner support it.",
            for_classes=True,
        ),
    )
    bandwidths: Bandwidths = attrs.field(
        default="per-problem",
        metadata=_about(
            "estimator",
            "For several classes, one-vs-one: compute bandwidths such as sigma='mean' from each"
            " pair of classes, or from all training rows.",
            for_classes=True,
        ),
    )
    tune: Any = attrs.field(
        default=None,
        converter=attrs.converters.optional(check_effort),
        metadata=_about(
            "search",
            "Choose parameters by cross-validation on the training rows, from the components' own"
            " search spaces: a few values of each, all of them, or N combinations at random.",
            usual="not tuned",
        ),
    )
    class_weight: Any = attrs.field(
        default=None,
        metadata=_about(
            "estimator",
            "How much the rows of each class count in the fit: balanced, so that rare classes"
            ' count as much as frequent ones, or "ill=5,well=1".',
            usual="weight 1 for every class",
            for_classes=True,
        ),
    )
    probability: bool = attrs.field(
        default=False,
        metadata=_about(
            "estimator",
            "Calibrate class probabilities by cross-validation on the training rows, with five"
            " more fits; 'mklkit predict' then writes a column per class.",
            for_classes=True,
        ),
    )
    seed: int = attrs.field(default=0, metadata=_about("run", "Seed of all random numbers."))
    n_jobs: int | None = attrs.field(
        default=None,
        metadata=_about("run", "Binary problems fitted in parallel; -1: one per processor."),
    )

    @classmethod
    def named(cls, values: Mapping[str, Any], but: Collection[str] = ()) -> Self:
        """Return settings by their names, all ``but`` some; a SpecError if there is no such one."""
        known = [name for name in declared_settings() if name not in but]
        for name in values:
            if name not in known:
                raise SpecError(
                    f"There is no setting {quoted(name)}.{suggest(name, known)} Choose from"
                    f" {listed(known)}."
                )
        return cls(**values)

    def of(self, *parts: Part) -> dict[str, Any]:
        """Return the settings of some parts by their names."""
        names = [name for name, setting in declared_settings().items() if setting.part in parts]
        return {name: getattr(self, name) for name in names}

    def changed(self, *parts: Part) -> dict[str, Any]:
        """Return the settings of some parts that differ from their defaults."""
        usual = declared_settings()
        return {
            name: value for name, value in self.of(*parts).items() if value != usual[name].default
        }

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that an estimator gets, without those that are left to it."""
        values = self.of("components", "estimator", "run")
        values["random_state"] = values.pop("seed")
        return {name: value for name, value in values.items() if value is not None}

    def check_names(self) -> None:
        """Raise an error if a kernel or another component has an unknown name or parameter."""
        from mklkit.registry.columns import are_proposed, bind_kernels
        from mklkit.registry.registry import get_registry

        if not are_proposed(self.kernels):
            bind_kernels(self.kernels)
        kinds: tuple[Kind, ...] = ("combiner", "feature_map", "learner", "missing")
        for kind in kinds:
            if (component := getattr(self, kind)) is not None:
                get_registry().create(kind, component)

    def without_classes(self, reason: str) -> dict[str, Any]:
        """Return the parameters of an estimator for targets that are no classes.

        An IncompatibleError, with the reason, if a setting for classes has another value than its
        default.
        """
        of_classes = [setting for setting in declared_settings().values() if setting.for_classes]
        for setting in of_classes:
            if getattr(self, setting.name) != setting.default:
                option = setting.name.replace("_", "-")
                raise IncompatibleError(f"--{option} is for classes, and {reason}: leave it out.")
        names = {setting.name for setting in of_classes}
        return {name: value for name, value in self.parameters().items() if name not in names}

    def choices(self) -> list[str]:
        """Return a sentence for each default that these settings take."""
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


@cache
def declared_settings() -> dict[str, Setting]:
    """Return the declarations of all settings by their names."""
    types = get_type_hints(ModelSettings)
    return {
        field.name: Setting(
            name=field.name,
            type=types[field.name],
            default=field.default,
            check=field.converter,
            **field.metadata,
        )
        for field in attrs.fields(ModelSettings)
    }
