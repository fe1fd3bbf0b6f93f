"""The settings of a model, declared once, for Python and for the options of the command line.

Nothing heavy is imported here, because the command line's help shows the settings.

Each setting (kernels, scaling, ``tune``, class weights …) has its type, default, check and help
here. The options of all commands are made from it (``cli/model_options.py`` adds short names and
completions), ``compare`` takes the settings by their names, and ``model_pipeline``
(``datasets/pipeline.py``) makes the steps that they describe.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, Self, get_args, get_type_hints

import attrs

from mklkit.errors import IncompatibleError, SpecError, listed, quoted, suggest

if TYPE_CHECKING:
    from mklkit.registry.entries import Kind

Scale = Literal["standard", "minmax", "none", "unit", "roots", "tf-idf", "log-tf-idf"]
"""The names of ``mklkit.views.scaling.SCALINGS``, which takes long to import."""
Multiclass = Literal["auto", "ovo", "ovr", "native"]
Bandwidths = Literal["per-problem", "all-rows"]
Effort = Literal["fast", "thorough"] | int
Part = Literal["steps", "components", "estimator", "search", "run"]
"""What a setting belongs to: the steps before an estimator, its components or other parameters, the
search for these, or the run of a fit, which does not change what is learned."""

OF_METHODS = {"preset": "presets", "combiner": "methods", "learner": "learners"}
"""The settings that each method of a comparison has of its own, and the arguments for them."""
EFFORTS: tuple[str, ...] = ("fast", "thorough")
DEFAULT_KERNELS = "cosine(linear), rbf, cosine(polynomial)"
KERNELS = '"rbf(sigma=\'mean\')", "shape:rbf[none]@fou_*"'
LEARNERS = '"svm(C=10)", mhks, kmhks'
MAPS = 'implicit, "empirical(subset=0.1)", fourier'
"""Names for the help; the registry, which has all names, takes seconds to import."""


@attrs.frozen(kw_only=True)
class Setting:
    """The declaration of a setting.

    ``usual`` tells in words what happens by default, if the default value does not; ``takes`` what
    values there are, if the type does not; ``check`` returns a value, which may be text, or raises
    an error; ``for_classes``: other targets have no such setting.
    """

    name: str
    type: Any
    default: Any
    check: Any
    part: Part | None
    help: str
    usual: str
    takes: str
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


def _about(
    part: Part | None, text: str, usual: str = "", takes: str = "", for_classes: bool = False
) -> Any:
    """Return the metadata of a setting."""
    return {"part": part, "help": text, "usual": usual, "takes": takes, "for_classes": for_classes}


@attrs.frozen(kw_only=True, eq=False)
class ModelSettings:
    """The settings of a model; None leaves a choice to the preset, combiner or default.

    They are the options of ``mklkit fit``, and what :func:`mklkit.compare` takes for all methods.

    A new setting is a field here, with the part of a model that it belongs to. One of the
    ``components``, ``estimator`` or ``run`` is also a parameter of the same name of
    ``KernelEstimator`` and of :class:`~mklkit.MKLClassifier`, or only of the latter if it is
    declared ``for_classes``. One of the ``steps`` is a parameter of :func:`mklkit.build_pipeline`.

    Parameters
    ----------
    {parameters}

    See Also
    --------
    MKLClassifier : The estimator that most settings are of.

    Examples
    --------
    >>> settings = ModelSettings(kernels=["linear", "rbf"], combiner="dimkl3", tune="fast")
    >>> settings.changed("estimator"), settings.changed("search")
    ({{}}, {{'tune': 'fast'}})
    """

    scale: Scale | None = attrs.field(
        default=None,
        metadata=_about(
            "steps",
            "The scaling of kernels on numbers that have none of their own, as 'rbf[roots]@a_*'"
            " has: minmax maps columns to [-1, 1], unit divides each by its length, and the last"
            " three are for amounts.",
            usual="the preset's, else standard",
        ),
    )
    covariates: Any = attrs.field(
        default=None,
        metadata=_about(
            "steps",
            "Columns such as 'age,sex,batch' to remove from all others by least squares on the"
            " training samples; they are not features.",
            takes="str or sequence of str",
        ),
    )
    missing_value: Any = attrs.field(
        default=None,
        metadata=_about(
            "steps",
            "A value that stands for a missing one in the features, such as -9.",
            usual="empty cells, NA and the like",
            takes="str or float",
        ),
    )
    max_memory: int | str | None = attrs.field(
        default=None,
        converter=attrs.converters.optional(_check_memory),
        metadata=_about(
            "run",
            "The memory to use, such as 4GB or 500MB. Larger tables are read in parts.",
            usual="half of the free memory",
            takes="int or str",
        ),
    )
    preset: Any = attrs.field(
        default=None,
        metadata=_about(
            None,
            "A named choice of kernels, feature map, combiner, learner and scale; each of these"
            " settings overrides it. See 'mklkit list presets'.",
            takes="str or Preset",
        ),
    )
    kernels: Any = attrs.field(
        default=None,
        metadata=_about(
            "components",
            f"A kernel, optionally with a name, scale and columns: {KERNELS}. May be repeated."
            " auto: kernel and scale of each source are chosen from the training samples;"
            " 'text:auto@text_*': those of one source.",
            usual="auto; for a lone source beside a combiner, map or learner of yours"
            f" {DEFAULT_KERNELS}",
            takes="str, Kernel, or list of these",
        ),
    )
    feature_map: Any = attrs.field(
        default=None,
        metadata=_about(
            "components",
            f"The map from kernels to columns: {MAPS}.",
            usual="the combiner's own",
            takes="str or FeatureMap",
        ),
    )
    combiner: Any = attrs.field(
        default=None,
        metadata=_about(
            "components",
            "How kernels are combined; see 'mklkit list combiners'.",
            usual="the average kernel",
            takes="str or Combiner",
        ),
    )
    learner: Any = attrs.field(
        default=None,
        metadata=_about(
            "components",
            f"The learner: {LEARNERS}.",
            usual="the combiner's own",
            takes="str or Learner",
        ),
    )
    missing: Any = attrs.field(
        default=None,
        metadata=_about(
            "estimator",
            "How to treat samples with a missing source: present, drop, ... (mklkit list"
            " missing); 'compare' takes several, such as present,impute.",
            usual="present",
            takes="str or Missing",
        ),
    )
    multiclass: Multiclass = attrs.field(
        default="auto",
        metadata=_about(
            "estimator",
            "For several classes: one-vs-one (ovo), one-vs-rest (ovr), or all at once (native), if"
            " combiner and learner support it. Auto is native if the learner learns one-hot targets"
            " (ridge), else ovo.",
            for_classes=True,
        ),
    )
    bandwidths: Bandwidths = attrs.field(
        default="per-problem",
        metadata=_about(
            "estimator",
            "For several classes, one-vs-one: compute bandwidths such as sigma='mean' from each"
            " pair of classes, or from all training samples.",
            for_classes=True,
        ),
    )
    tune: Any = attrs.field(
        default=None,
        converter=attrs.converters.optional(check_effort),
        metadata=_about(
            "search",
            "Choose parameters by cross-validation on training samples, from the components' own"
            " search spaces: a few values of each, all of them, or N combinations at random.",
            usual="not tuned",
            takes="{'fast', 'thorough'} or int",
        ),
    )
    class_weight: Any = attrs.field(
        default=None,
        metadata=_about(
            "estimator",
            "How much the samples of each class count in the fit: balanced, so that rare classes"
            ' count as much as frequent ones, or "ill=5,well=1".',
            usual="weight 1 for every class",
            for_classes=True,
            takes="'balanced', or dict of class label to number",
        ),
    )
    probability: bool = attrs.field(
        default=False,
        metadata=_about(
            "estimator",
            "Calibrate class probabilities by cross-validation on the training samples, with five"
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
    def named(cls, values: Mapping[str, Any], instead: Mapping[str, str] | None = None) -> Self:
        """Return settings by their names.

        Parameters
        ----------
        values : mapping of str to object
            Their values.
        instead : mapping of str to str, optional
            Settings that may not be among them, each with the argument to use instead.

        Returns
        -------
        ModelSettings
            The settings.

        Raises
        ------
        SpecError
            If there is no setting of a name.
        """
        arguments = instead or {}
        known = [name for name in declared_settings() if name not in arguments]
        for name in values:
            if name not in known:
                argument = arguments.get(name) or arguments.get(name.removesuffix("s"))
                advice = (
                    f" Use the argument {quoted(argument)}."
                    if argument
                    else f"{suggest(name, known)} Choose from {listed(known)}."
                )
                raise SpecError(f"There is no setting {quoted(name)}.{advice}")
        return cls(**values)

    def of(self, *parts: Part) -> dict[str, Any]:
        """Return the settings of some parts of a model.

        Parameters
        ----------
        *parts : {'steps', 'components', 'estimator', 'search', 'run'}
            The parts.

        Returns
        -------
        dict of str to object
            The settings by their names.
        """
        names = [name for name, setting in declared_settings().items() if setting.part in parts]
        return {name: getattr(self, name) for name in names}

    def changed(self, *parts: Part) -> dict[str, Any]:
        """Return the settings of some parts that differ from their defaults.

        Parameters
        ----------
        *parts : {'steps', 'components', 'estimator', 'search', 'run'}
            The parts.

        Returns
        -------
        dict of str to object
            The settings by their names.
        """
        usual = {name: setting.default for name, setting in declared_settings().items()}
        return {name: value for name, value in self.of(*parts).items() if value != usual[name]}

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that an estimator gets.

        Returns
        -------
        dict of str to object
            The parameters by their names, without those that are left to the estimator.
        """
        values = self.of("components", "estimator", "run")
        values["random_state"] = values.pop("seed")
        return {name: value for name, value in values.items() if value is not None}

    def check_names(self) -> None:
        """Check that every component has a known name and parameters.

        Raises
        ------
        MKLKitError
            If one has not.
        """
        from mklkit.registry.columns import are_proposed, bind_kernels
        from mklkit.registry.registry import get_registry

        if not are_proposed(self.kernels):
            bind_kernels(self.kernels)
        kinds: tuple[Kind, ...] = ("combiner", "feature_map", "learner", "missing")
        for kind in kinds:
            if (component := getattr(self, kind)) is not None:
                get_registry().create(kind, component)

    def without_classes(self, reason: str) -> dict[str, Any]:
        """Return the parameters that an estimator gets if its targets are no classes.

        Parameters
        ----------
        reason : str
            Why they are none, for the error.

        Returns
        -------
        dict of str to object
            The parameters by their names.

        Raises
        ------
        IncompatibleError
            If a setting for classes has another value than its default.
        """
        of_classes = [setting for setting in declared_settings().values() if setting.for_classes]
        for setting in of_classes:
            if getattr(self, setting.name) != setting.default:
                option = setting.name.replace("_", "-")
                raise IncompatibleError(f"--{option} is for classes, and {reason}: leave it out.")
        names = {setting.name for setting in of_classes}
        return {name: value for name, value in self.parameters().items() if name not in names}

    def choices(self, model: Any) -> list[str]:
        """Return what these settings choose by a preset or by default.

        Parameters
        ----------
        model : estimator
            The fitted estimator, which may have chosen its kernels.

        Returns
        -------
        list of str
            A sentence for each choice.
        """
        from mklkit.protocols.component import COMBINER, KERNELS
        from mklkit.registry.columns import bind_kernels

        if self.preset is not None:
            return [f"preset {self.preset}"]
        lines = []
        usual = [bound.label for bound in bind_kernels(KERNELS)]
        if not self.kernels and [bound.label for bound in model.bound_kernels_] == usual:
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


def _described() -> str:
    """Return the parameters of :class:`ModelSettings` in numpydoc's format."""
    lines: list[str] = []
    for setting in declared_settings().values():
        options = get_args(setting.type)
        words = [repr(word) for kind in (setting.type, *options) for word in get_args(kind)]
        choices = [word for word in words if word.startswith("'")]
        kind = setting.takes or (f"{{{', '.join(choices)}}}" if choices else "")
        kind = kind or ("bool" if setting.type is bool else "int")
        default = "optional" if setting.default is None else f"default={setting.default!r}"
        usual = f" Default: {setting.usual}." if setting.usual else ""
        lines.append(f"{setting.name} : {kind}, {default}")
        lines += [f"    {line}" for line in wrap(setting.help + usual, 88)]
    return "\n    ".join(lines)


ModelSettings.__doc__ = (ModelSettings.__doc__ or "").format(parameters=_described())
